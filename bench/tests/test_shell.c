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

/* The words of the URLs are those of the struct; what was typed may have a password. */
TEST(test_a_url_can_be_typed_again) {
    static const struct lb_backend redis = {.name = "redis"}, etcd = {.name = "etcd"},
                                   nats = {.name = "nats"};
    const struct place_url urls[] = {
        {.backend = &redis,
         .url = "redis://me:secret@host:1",
         .word = "redis=@redis.url",
         .hidden = true},
        {.backend = &etcd, .url = "etcd://me:secret@host:2", .word = "etcd=env:LOCKBENCH_URL_ETCD"},
        {.backend = &nats,
         .url = "nats://secret@host:3",
         .word = "nats=@nats.url",
         .hidden = true}};
    char *argv[] = {"run", "--url", "redis=redis://me:secret@host:1", "x",
                    "--url=nats=nats://secret@host:3"};
    char *text = shell_command("lockbench", 5, argv, urls, 3);
    assert_string_equal(text,
                        "lockbench run x --url redis=@redis.url --url etcd=env:LOCKBENCH_URL_ETCD "
                        "--url nats=@nats.url # with the password in a file, redis.url: "
                        "redis://me:***@host:1, nats.url: nats://***@host:3");
    free(text);
    text = shell_options(NULL, 0, urls + 1, 1);
    assert_string_equal(text, " --url etcd=env:LOCKBENCH_URL_ETCD");
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
