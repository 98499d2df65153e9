/* test_guest: the command that cleans a server of the user's own works as it stands, in a shell. No server. */
#include "bench/run/guest.h"

#include "bench/tests/unit.h"

TEST(the_command_that_cleans_is_quoted) {
    static const struct lb_backend postgres = {.name = "postgres"};
    static const char *const key = "it's mine", *const names[] = {"orders/7"};
    static char line[GUEST_LINE_MAX];
    struct plan plan = {.key_prefix = "app-", .key_names = {.item = &key, .count = 1}};
    struct place_url at = {.backend = &postgres, .url = "postgres://db/app?sslmode=require&x=1"};
    guest_foretell(&at, &plan, true, line);
    assert_non_null(strstr(line, "--url 'postgres=postgres://db/app?sslmode=require&x=1'"));
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
