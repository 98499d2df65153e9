/* test_shell: command lines that are shown can be repeated, and show no password: of a result, and of what cleans a
 * server of the user's own. bench/cli is not linked with tests, so its file is included. */
#include "bench/cli/shell.c"
#include "bench/place/guest.h"
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

TEST(the_command_that_cleans_is_quoted) {
    static const struct lb_backend postgres = {.name = "postgres"};
    static const char *const key = "it's mine", *const names[] = {"orders/7"};
    static char line[GUEST_LINE_MAX];
    struct plan plan = {.key_prefix = "app-", .key_names = {.item = &key, .count = 1}};
    struct place_url at = {.backend = &postgres,
                           .url = "postgres://db.example/app?sslmode=require&port=1"};
    guest_foretell(&at, &plan, true, line);
    assert_non_null(
        strstr(line, "--url 'postgres=postgres://db.example/app?sslmode=require&port=1'"));
    assert_non_null(strstr(line, "--key-prefix app-"));
    assert_non_null(strstr(line, "--key 'it'\\''s mine'`"));
    /* What a shell takes as it is needs no quotes. */
    plan.key_names.item = names;
    at.word = "postgres=env:PG_URL";
    guest_foretell(&at, &plan, true, line);
    assert_non_null(strstr(
        line, "`lockbench clean --url postgres=env:PG_URL --key-prefix app- --key orders/7`"));
}

TEST_MAIN(NULL, NULL)
