/* What is missing, wrong in a file, or not reached: one line on standard error and the right exit code. (Mistakes on the
 * command line: commands.txt.) */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"
#include "drivers/registry.h"

/* A named lock that can't run here is an error that says what to install; "all" leaves it out and
 * says so. */
TEST(a_missing_server_is_named_with_its_package) {
    char *home = cli_path("bare"), *compose = cli_path("bare/compose"),
         *local = cli_path("bare/compose/local");
    char from[PATH_MAX + 20], env[400];
    snprintf(from, sizeof from, "%s/workloads", cli_root);
    snprintf(env, sizeof env, "LOCKBENCH_HOME=%s", home);
    assert_int_equal(mkdir(home, 0755) | mkdir(compose, 0755) | mkdir(local, 0755), 0);
    assert_int_equal(symlink(from, cli_path("bare/workloads")), 0);
    for (int i = 0; registry_backends()[i]; i++) {
        const char *const *topologies = registry_backends()[i]->topologies;
        const char *topology = topologies ? topologies[0] : NULL;
        if (!topology) continue;
        char *path = cli_path("bare/compose/local/%s", topology);
        cli_write(
            path,
            "echo 'summary=a server\nmissing=frobnicated\ninstall=frobnicator-server\nnodes=1\nports=1\n"
            "url=tcp://127.0.0.1:%PORT%\ndurability_default=none\ndurability_none=none\n"
            "durability_class_default=memory\ndurability_class_none=memory'\n");
    }
    struct cli_how how = {.env = {env, "CI="}};
    if (!lb_unavailable(registry_backend("redis"))) {
        struct cli cli = cli_ends_with(2, &how, ARGS("run", "smoke", "--lock", "redis-setnx"));
        assert_has(cli.err, "redis-setnx");
        assert_has(cli.err, "frobnicator-server");
        assert_int_equal(cli_lines(cli.err), 1);
    }
    char *out = cli_path("bare-run");
    struct cli cli = cli_ends_with(
        0, &how, ARGS("run", "smoke", "--out", out, "-c", "2", "-d", "50ms", "--hold", "1ms"));
    json_t *run = cli_result(out);
    bool found = false;
    json_t *skip;
    size_t index;
    json_array_foreach(cli_get(run, "skipped"), index, skip) {
        if (strcmp(cli_text_at(skip, "lock"), "redis-setnx") != 0) continue;
        found = true;
        if (lb_unavailable(registry_backend("redis"))) continue;
        assert_has(cli_text_at(skip, "reason"), "frobnicated");
        assert_string_equal(cli_text_at(skip, "install"), "frobnicator-server");
    }
    assert_true(found);
    /* The control, not chosen, was caught: no violation. */
    assert_string_equal(cli_text_at(run, "verdict"), "clean");
    assert_has(cli.out, "caught: unsafe-none");
    assert_true(json_is_false(cli_get(run, "partial")));
    /* In CI whatever is left out is a failure. */
    how.env[1] = "CI=1";
    cli = cli_ends_with(2, &how,
                        ARGS("run", "smoke", "--lock", "sim,nats", "-c", "2", "-d", "50ms",
                             "--hold", "1ms", "--out", cli_path("bare-ci")));
    assert_has(cli.err, "was left out");
    assert_int_equal(cli_problems(&cli), 1);
}

/* A terminal would obey it. */
TEST(a_value_has_no_control_characters) {
    char *file = cli_path("control.ini");
    struct cli cli =
        cli_ends(LB_EXIT_USAGE, ARGS("run", "smoke", "--set", "workload.summary=a \033[31m b"));
    assert_has(cli.err, "--set workload.summary: a control character in the value");
    cli_write(file, "[workload]\nsummary = a \xc2\x9b"
                    "31m b\n");
    cli = cli_ends(LB_EXIT_USAGE, ARGS("run", file));
    assert_has(cli.err, "control.ini:2: workload.summary: a control character in the value");
    cli_write(file, "[workload]\nsummary = \xff\xfe\n");
    cli = cli_ends(LB_EXIT_USAGE, ARGS("run", file));
    assert_has(cli.err, "UTF-8");
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    while ((text = strstr(text, part))) {
        count++;
        text += strlen(part);
    }
    return count;
}

/* Each server's trouble is told once, and the command that was put right may use the same folder. */
TEST(a_run_that_reached_no_server_leaves_its_folder_free) {
    char *out = cli_path("no-stage");
    struct cli cli =
        cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-setnx,memcached-add,redis-fenced",
                           "--url", "redis=redis://127.0.0.1:1", "--url",
                           "memcached=memcached://127.0.0.1:1", "--out", out));
    assert_true(cli.code != 0);
    assert_int_equal(count_of(cli.err, "lockbench: redis: 127.0.0.1:1"), 1);
    assert_int_equal(count_of(cli.err, "lockbench: memcached"), 1);
    assert_int_equal(cli_problems(&cli), 2);
    cli = cli_run(NULL, ARGS("report", out));
    assert_has(cli.err, "nothing was measured: redis: 127.0.0.1:1");
    const char *const *again = ARGS("run", "smoke", "--lock", "sim", "--no-page", "--out", out);
    cli_ends(0, again);
    cli = cli_ends(LB_EXIT_USAGE, again);
    assert_has(cli.err, "there is a run.json already");
}

/* In the words of the system, not in those of what a client library did next, and with the port. */
TEST(a_port_at_which_nobody_listens_is_told_as_that) {
    for (const struct lb_backend *const *backend = registry_backends(); *backend; backend++) {
        if (!(*backend)->schemes || !(*backend)->topologies || (*backend)->program_speaks ||
            lb_unavailable(*backend))
            continue;
        char url[120];
        snprintf(url, sizeof url, "%s=%s://u:p@127.0.0.1:1", (*backend)->name,
                 (*backend)->schemes[0]);
        struct cli cli = cli_ends(2, ARGS("doctor", "--json", "--url", url));
        if (!strstr(cli.out, "refused") && !strstr(cli.out, "(111)"))
            fail_msg("%s: %s", url, cli.out);
        if (strstr(cli.out, "in time")) fail_msg("%s waited for nobody: %s", url, cli.out);
    }
}

TEST_MAIN(cli_setup, cli_teardown)
