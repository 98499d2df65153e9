/* test_compare_pairs: which runs and stages can be compared, and what is said of those that can't. */
#define _GNU_SOURCE
#include "report/tests/compare_help.h"

#define FAILED STAGE("a", "failed", "unchecked", "null", "")
#define CUT_OFF STAGE("a", "partial", "clean", "5", "")

/* They are compared, as each side has them at one place only, and the output says it first. */
TEST(what_answers_other_questions_is_said) {
    const struct made base = {.lock = "a", .repeats = 5, .noise = 0.01};
    struct made topology = base, threads = base, encrypted = base, far = base, hosts = base;
    topology.topology = "redis-cluster";
    encrypted.more = ",\"encryption\":\"TLSv1.3, host name and authority verified\"";
    far.more = ",\"rtt_ns\":5000000";
    hosts.more = ",\"hosts\":[{\"name\":\"a\",\"clients\":1},{\"name\":\"b\",\"clients\":1}]";
    threads.threads = 4;
    const struct {
        const struct made *new;
        const char *says;
    } cases[] = {{&topology, "a: topology: redis, now redis-cluster"},
                 {&threads, "a: processes and threads: 1 x 1, now 1 x 4"},
                 {&encrypted, "a: encryption: none, now TLSv1.3, host name and authority verified"},
                 {&far, "a: round trip added by the wire: none, now 5.00 ms"},
                 {&hosts, "a: load hosts: one machine, now 2"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct compare *compare = compare_of(&base, cases[i].new, 1);
        assert_int_equal(compare->row_count, 1);
        assert_int_equal(compare->difference_count, 1);
        assert_string_equal(compare->differences[0], cases[i].says);
        compare_free(compare);
    }
}

/* As the machine of a run on one host; two hosts that changed in the same way are one line. */
TEST(other_machines_of_load_hosts_are_a_difference) {
    struct made base = {.lock = "a", .repeats = 5, .noise = 0.01}, new = base;
    base.root =
        "\"hosts\":[{\"name\":\"x\",\"environment\":{\"cpu_model\":\"Old\",\"load_before\":1}},"
        "{\"name\":\"y\",\"environment\":{\"cpu_model\":\"Old\"}}],";
    new.root =
        "\"hosts\":[{\"name\":\"z\",\"environment\":{\"cpu_model\":\"New\",\"load_before\":2}},"
        "{\"name\":\"y\",\"environment\":{\"cpu_model\":\"New\"}}],";
    struct compare *compare = compare_of(&base, &new, 1);
    assert_int_equal(compare->difference_count, 1);
    assert_string_equal(compare->differences[0], "hosts.cpu_model: \"Old\", now \"New\"");
    compare_free(compare);
}

#define SERVER(by, url)                                                                            \
    "\"servers\":[{\"backend\":\"redis\",\"started_by\":\"" by "\",\"url\":\"redis://" url "\"}],"

/* Two servers of the user may be on different machines. Those of lockbench are elsewhere in each run. */
TEST(another_server_of_the_users_is_a_difference) {
    struct made base = {.lock = "a", .repeats = 2, .noise = 0.01}, new = base;
    for (int yours = 0; yours < 2; yours++) {
        base.root = yours ? SERVER("url", "one:6379") : SERVER("lockbench", "127.0.0.1:4001");
        new.root = yours ? SERVER("url", "two:6379") : SERVER("lockbench", "127.0.0.1:4002");
        struct compare *compare = compare_of(&base, &new, 1);
        assert_int_equal(compare->difference_count, yours);
        if (yours)
            assert_string_equal(compare->differences[0],
                                "URL of redis: redis://one:6379, now redis://two:6379");
        compare_free(compare);
    }
}

/* Two locks may have other servers and durabilities: only another executor is a difference. */
TEST(two_locks_are_compared) {
    const struct made base = {.lock = "a", .repeats = 5, .noise = 0.01};
    struct made other = base;
    other.lock = "b";
    other.topology = "etcd";
    for (int threads = 1; threads <= 4; threads += 3) {
        other.threads = threads;
        struct compare *compare = compare_with(
            &base, &other, 1, &(struct compare_ask){.base_lock = "a", .new_lock = "b"});
        assert_string_equal(compare->rows[0].lock, "a");
        assert_string_equal(compare->rows[0].new_lock, "b");
        assert_int_equal(compare->difference_count, threads > 1);
        compare_free(compare);
    }
    char *a = make_run(&base, 1), *b = make_run(&other, 1);
    struct lb_err err = {0};
    assert_null(try_compare(a, b, NULL, &err));
    assert_int_equal(err.code, LB_EXIT_USAGE);
    has(err.text, "no stage in common");
    free(a);
    free(b);
}

/* A lock that the new runs lack is named, and the exit code is 5. If a lock grants nothing any more
 * in the new runs, the exit code is 4. What only the new runs have is judged by itself. */
TEST(what_is_missing_or_idle_is_no_success) {
    static const struct {
        const char *others; /* of the new runs; the base has b */
        int code;
    } cases[] = {{NULL, 5},
                 {OTHER("b", "violated", 5) "," OTHER("c", "clean", 5), 3},
                 {OTHER("b", "clean", 0), 4},
                 {OTHER("b", "stuck", 5), 4},
                 {OTHER("b", "clean", 5) "," OTHER("c", "stuck", 5), 4}};
    const struct made base = {
        .lock = "a", .repeats = 10, .noise = 0.01, .others = OTHER("b", "clean", 5)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made new = base;
        new.others = cases[i].others;
        struct compare *compare = compare_of(&base, &new, 1);
        char *text = text_of(compare, COMPARE_TABLE);
        if (compare_exit(compare) != cases[i].code)
            fail_msg("case %zu: exit code %d", i, compare_exit(compare));
        if (i == 0) has(text, "only in the base runs: b, 4 clients");
        free(text);
        compare_free(compare);
    }
}

/* Stages that failed or were cut off are no samples; a gate that had none on a side has looked at nothing. */
TEST(a_side_without_a_sample_is_no_success) {
    static const struct {
        const char *base, *new, *says;
    } cases[] = {
        {FAILED, OTHER("a", "clean", 5), "no sample in the base"},
        {OTHER("a", "clean", 5), FAILED, "no sample in the new runs"},
        {OTHER("a", "clean", 0), FAILED, "no sample in the new runs"},
        {FAILED, FAILED, "no sample in the base"},
        {CUT_OFF, CUT_OFF, "no sample in the base"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct made base = {.others = cases[i].base}, new = {.others = cases[i].new};
        struct compare *compare = compare_of(&base, &new, 1);
        char *text = text_of(compare, COMPARE_MD);
        assert_int_equal(compare_exit(compare), LB_EXIT_INCONCLUSIVE);
        assert_int_equal(compare->counts[COMPARE_INCONCLUSIVE], 1);
        has(text, cases[i].says);
        free(text);
        compare_free(compare);
    }
}

TEST_MAIN(make_folder, remove_folder)
