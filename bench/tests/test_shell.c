/* test_shell: command lines that a result has can be repeated, and show no password. bench/cli is not linked with
 * tests, so its file is included. */
#include "bench/cli/shell.c"
#include "bench/tests/unit.h"

TEST(test_a_command_can_be_repeated) {
    char *argv[] = {"check",       "redis-setnx", "--out",        "here",
                    "--out=there", "--set",       "x=it's $HOME", ""};
    char *text = shell_command("lockbench", sizeof argv / sizeof *argv, argv, NULL, 0);
    assert_string_equal(text, "lockbench check redis-setnx --set 'x=it'\\''s $HOME' ''");
    free(text);
}

TEST(test_passwords_are_hidden) {
    char *argv[] = {"run", "redis=redis://me:a'secret@host:1"};
    const char *const sets[] = {"redis.url=redis://:p@host", "a.b=1s"};
    char *text = shell_command("lockbench", 2, argv, NULL, 0);
    assert_string_equal(text, "lockbench run 'redis=redis://me:***@host:1'");
    free(text);
    text = shell_options(sets, 2, NULL, 0);
    assert_string_equal(text, " --set 'redis.url=redis://:***@host' --set a.b=1s");
    free(text);
    text = shell_options(NULL, 0, NULL, 0);
    assert_string_equal(text, "");
    free(text);
}

TEST(test_nothing_is_cut) {
    enum { LONG = 5000, WORDS = 20 };
    static char word[LONG + 1];
    const char *sets[WORDS];
    memset(word, 'a', LONG);
    for (int i = 0; i < WORDS; i++) sets[i] = word;
    char *text = shell_options(sets, WORDS, NULL, 0);
    assert_int_equal(strlen(text), WORDS * (LONG + strlen(" --set ")));
    free(text);
    memset(word, '\'', LONG);
    char *argv[] = {word};
    text = shell_command("lockbench", 1, argv, NULL, 0);
    assert_int_equal(strlen(text), strlen("lockbench ''") + 4 * LONG);
    free(text);
}

TEST_MAIN(NULL, NULL)
