/* test_compare_pairs: which runs and stages can be compared, and what is said of those that can't. */
#define _GNU_SOURCE
#include "report/tests/compare_help.h"

#define FAILED STAGE("a", "failed", "unchecked", "null", "")
#define CUT_OFF STAGE("a", "partial", "clean", "5", "")

TEST(what_answers_other_questions_is_refused) {
    const struct made base = {.lock = "a", .repeats = 5, .noise = 0.01};
    struct made topology = base, threads = base, other = base, encrypted = base, far = base,
                hosts = base;
    topology.topology = "redis-cluster";
    encrypted.more = ",\"encryption\":\"TLSv1.3, host name and authority verified\"";
    far.more = ",\"rtt_ns\":5000000";
    hosts.more = ",\"hosts\":[{\"name\":\"a\",\"clients\":1},{\"name\":\"b\",\"clients\":1}]";
    threads.threads = 4;
    other.lock = "b";
    char *a = make_run(&base, 1),
         *files_of[] = {make_run(&topology, 1),  make_run(&threads, 1), make_run(&other, 1),
                        make_run(&encrypted, 1), make_run(&far, 1),     make_run(&hosts, 1)};
    const char *const says[] = {
        "topology is 'redis'",
        "processes and threads is '1 x 1' in the base and '1 x 4'",
        "no stage in common",
        "encryption is 'none' in the base and 'TLSv1.3, host name",
        "the round trip added by the wire is 'none' in the base and '5.00 ms'",
        "the number of load hosts is 'one machine' in the base and '2'"};
    for (int i = 0; i < 6; i++) {
        struct lb_err err = {0};
        assert_null(try_compare(a, files_of[i], NULL, &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
        has(err.text, says[i]);
        assert_null(strchr(err.text, '\n'));
        if (i == 2) continue;
        struct compare *compare =
            try_compare(a, files_of[i], &(struct compare_ask){.anyway = true}, &err);
        assert_non_null(compare);
        compare_free(compare);
    }
    struct lb_err err = {0};
    struct compare_ask pair = {.base_lock = "a", .new_lock = "b"};
    struct compare *compare = try_compare(a, files_of[2], &pair, &err);
    assert_non_null(compare);
    assert_string_equal(compare->rows[0].lock, "a");
    assert_string_equal(compare->rows[0].new_lock, "b");
    compare_free(compare);
    free(a);
    for (int i = 0; i < 6; i++) free(files_of[i]);
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

/* Two locks may have other servers and durabilities, but not other executors. */
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

TEST(two_locks_are_compared_on_one_executor) {
    const struct made base = {.lock = "a", .repeats = 5, .noise = 0.01};
    struct made other = base, threads;
    other.lock = "b";
    other.topology = "etcd";
    threads = other;
    threads.threads = 4;
    char *a = make_run(&base, 1), *b = make_run(&other, 1), *c = make_run(&threads, 1);
    struct compare_ask pair = {.base_lock = "a", .new_lock = "b"};
    struct lb_err err = {0};
    struct compare *compare = try_compare(a, b, &pair, &err);
    assert_string_equal(err.text, "");
    compare_free(compare);
    assert_null(try_compare(a, c, &pair, &err));
    assert_int_equal(err.code, LB_EXIT_USAGE);
    has(err.text, "processes and threads");
    pair.anyway = true;
    compare = try_compare(a, c, &pair, &err);
    assert_non_null(compare);
    compare_free(compare);
    free(a);
    free(b);
    free(c);
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
        const char *base, *new, *needs;
    } cases[] = {
        {FAILED, OTHER("a", "clean", 5), "no stage of the base came to its end"},
        {OTHER("a", "clean", 5), FAILED, "no stage of the new runs came to its end"},
        {OTHER("a", "clean", 0), FAILED, "no stage of the new runs came to its end"},
        {FAILED, FAILED, "no stage of the base came to its end"},
        {CUT_OFF, CUT_OFF, "no stage of the base came to its end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct made base = {.others = cases[i].base}, new = {.others = cases[i].new};
        struct compare *compare = compare_of(&base, &new, 1);
        char *text = text_of(compare, COMPARE_MD);
        assert_int_equal(compare_exit(compare), LB_EXIT_INCONCLUSIVE);
        assert_int_equal(compare->counts[COMPARE_INCONCLUSIVE], 1);
        has(text, cases[i].needs);
        free(text);
        compare_free(compare);
    }
}

TEST_MAIN(make_folder, remove_folder)
