/* test_nearest: which name a slip of the fingers meant, and when to say nothing. */
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

static void slips_are_understood(void **state) {
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
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(meant(cases[i].typed), cases[i].meant) != 0) {
            fail_msg("%s: %s, not %s", cases[i].typed, meant(cases[i].typed), cases[i].meant);
        }
    }
}

static void far_names_are_not_offered(void **state) {
    static const char *const far[] = {
        "",       "x",
        "zz",     "consul",
        "kafka",  "abcdefghijkl",
        "warmup", "a name that is far longer than any name that a program would ever have"};
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        if (strcmp(meant(far[i]), "(nothing)") != 0) fail_msg("'%s': %s", far[i], meant(far[i]));
    }
}

static void the_nearer_one_wins_whatever_the_order(void **state) {
    struct nearest nearest;
    (void)state;
    nearest_init(&nearest, "mutexx");
    nearest_offer(&nearest, "mutex");
    nearest_offer(&nearest, "mutexes");
    assert_string_equal(nearest.best, "mutex");
    nearest_init(&nearest, "mutexx");
    nearest_offer(&nearest, "mutexes");
    nearest_offer(&nearest, "mutex");
    assert_string_equal(nearest.best, "mutex");
}

static void a_swap_is_one_slip(void **state) {
    struct nearest nearest;
    (void)state;
    nearest_init(&nearest, "abdc");
    nearest_offer(&nearest, "abcd");
    assert_int_equal(nearest.distance, 1);
}

static void the_hint_is_a_phrase_or_nothing(void **state) {
    struct nearest nearest;
    char text[40];
    (void)state;
    nearest_init(&nearest, "rum");
    assert_string_equal(nearest_hint(&nearest, text, sizeof text), "");
    nearest_offer(&nearest, "run");
    assert_string_equal(nearest_hint(&nearest, text, sizeof text), ", did you mean 'run'?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips_are_understood),
        cmocka_unit_test(far_names_are_not_offered),
        cmocka_unit_test(the_nearer_one_wins_whatever_the_order),
        cmocka_unit_test(a_swap_is_one_slip),
        cmocka_unit_test(the_hint_is_a_phrase_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
