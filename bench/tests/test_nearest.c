/* test_nearest: the name that is suggested for a mistyped one, and words that get no suggestion. */
#include "bench/base/nearest.h"
#include "bench/tests/unit.h"

static const char *const names[] = {"redis-setnx", "zk-lock", "etcd-mutex", "pg-advisory",
                                    "mem-mutex",   "null",    "duration",   "drain",
                                    "lease",       "run",     "all",        NULL};

static const char *meant(const char *typed) {
    struct nearest nearest;
    nearest_init(&nearest, typed);
    for (int i = 0; names[i]; i++) nearest_offer(&nearest, names[i]);
    return nearest.best ? nearest.best : "(nothing)";
}

TEST(slips_are_understood) {
    static const struct {
        const char *typed, *meant;
    } cases[] = {
        {"redis-setx", "redis-setnx"},
        {"redis_setnx", "redis-setnx"},
        {"REDIS-SETNX", "redis-setnx"},
        {"zk-lcok", "zk-lock"},
        {"setnx", "redis-setnx"},
        {"durations", "duration"},
        {"durtaion", "duration"},
        {"rnu", "run"},
        {"etcd-mutx", "etcd-mutex"},
        {"pgadvisory", "pg-advisory"},
        {"nul", "null"},
        {"leese", "lease"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(meant(cases[i].typed), cases[i].meant) != 0) {
            fail_msg("%s: %s, not %s", cases[i].typed, meant(cases[i].typed), cases[i].meant);
        }
    }
}

TEST(far_names_are_not_offered) {
    static const char *const far[] = {
        "",       "x",
        "zz",     "consul",
        "kafka",  "abcdefghijkl",
        "warmup", "a name that is far longer than any name that a program would ever have"};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        if (strcmp(meant(far[i]), "(nothing)") != 0) fail_msg("'%s': %s", far[i], meant(far[i]));
    }
}

TEST(a_removed_name_says_what_to_use_instead) {
    struct nearest nearest;
    char text[40];
    nearest_init(&nearest, "verify");
    nearest_offer(&nearest, "verity");
    assert_string_equal(nearest_hint(&nearest, text, sizeof text),
                        ", removed in 0.2.0: `lockbench check LOCK --url BACKEND=URL` does it");
    assert_non_null(nearest_removed("compare --junit")); /* an option, of its command alone */
    assert_null(nearest_removed("run --junit"));
}

TEST_MAIN(NULL, NULL)
