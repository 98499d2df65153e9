/* test_fault_wires: faults on the bytes between clients and a real server act on the right clients,
 * and show in the clients' figures.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/fault_help.h"

#define BUSY FAULT_LOAD("2", "1", "own", "0", "10s", "2s")

static json_t *clean_run(const char *faults) {
    char text[900];
    snprintf(text, sizeof text, "%s%s", BUSY, faults);
    json_t *run = fault_run("redis-setnx", text, 0);
    assert_stage_is(run, "complete", "clean");
    return run;
}

static double in_doubt(const json_t *run) {
    return stage_number(run, "outcomes.broken") + stage_number(run, "outcomes.unknown");
}

TEST(connections_are_reset) {
    cli_need("redis");
    json_t *run = clean_run(
        "[fault]\nkind = wire-reset\ntarget = all\nfirst = 200ms\nevery = 300ms\ntimes = 2\n");
    assert_fault(run, 0, "wire-reset", true, "of 2 connections");
    assert_fault(run, 1, "wire-reset", true, "of 2 connections");
    assert_true(json_array_size(cli_get(run, "stages.0.faults")) == 2);
    assert_true(in_doubt(run) > 0);
    assert_true(granted_from(run, 0.9) > 0);
    json_decref(run);
}

TEST(answers_are_lost) {
    cli_need("redis");
    json_t *run = clean_run("[fault]\nkind = wire-drop\ntarget = all\nfirst = 500ms\n");
    assert_fault(run, 0, "wire-drop", true, "struck 1 times");
    assert_true(stage_number(run, "outcomes.unknown") > 0);
    json_decref(run);
}

/* Both ways, so a round trip takes twice as long. */
TEST(bytes_come_late) {
    cli_need("redis");
    json_t *run =
        clean_run("[fault]\nkind = wire-delay\ntarget = all\nby = 60ms\nfirst = 0\nfor = 0\n");
    assert_fault(run, 0, "wire-delay", true, "of 2 connections");
    assert_true(stage_number(run, "latency_ns.acquire.max") >= 110e6);
    assert_true(json_is_real(cli_get(fault_at(run, 0), "to_s"))); /* lifted with the load's end */
    json_decref(run);
}

/* A holder whose wire is dead outlives its lease; the others never notice. */
TEST(a_holder_is_cut_off) {
    cli_need("redis");
    static const char *const ways[] = {"both", "answers", "requests"};
    for (int i = 0; i < 3; i++) {
        char text[900];
        snprintf(
            text, sizeof text,
            "%s[fault]\nkind = wire-cut\ntarget = holder\nway = %s\nfirst = 1s\nfor = 1500ms\n",
            FAULT_LOAD("3", "3", "1", "100ms", "600ms", "4s"), ways[i]);
        json_t *run = fault_run("redis-setnx", text, 0);
        assert_stage_is(run, "complete", "clean");
        assert_fault(run, 0, "wire-cut", true, "of ");
        int client = (int)cli_number_at(fault_at(run, 0), "client");
        assert_true(cli_number_at(fault_at(run, 0), "process") == client);
        /* Its release stayed without an answer; the others went on when its lease was over. */
        assert_true(stage_number(run, "outcomes.unknown") + stage_number(run, "outcomes.broken") +
                        stage_number(run, "outcomes.lost") >
                    0);
        double others = 0;
        for (int c = 0; c < 3; c++) {
            char path[64];
            snprintf(path, sizeof path, "fairness.grants_per_client.%d", c);
            if (c != client) others += stage_number(run, path);
        }
        assert_true(others > 2);
        json_decref(run);
    }
}

/* A session without any answer ends. A holder that is met in the cell after that is excused if it
 * learns of the end. */
TEST(a_session_runs_out) {
    cli_need("etcd");
    char text[900];
    snprintf(text, sizeof text,
             "%s[fault]\nkind = wire-cut\ntarget = holder\nfirst = 200ms\nfor = 5s\n",
             FAULT_LOAD("3", "3", "1", "300ms", "2s", "6s"));
    char *file = cli_path("session.ini"), *out = cli_path("session");
    cli_write(file, text);
    struct cli cli = cli_run(NULL, ARGS("run", file, "--lock", "etcd-mutex", "--out", out));
    json_t *run = cli_result(out);
    assert_fault(run, 0, "wire-cut", true, "of ");
    assert_true(stage_number(run, "exclusion.double_holders") == 0);
    assert_true(stage_number(run, "grants") > 3);
    json_decref(run);
    cli_free(&cli);
}

TEST_MAIN(cli_setup, cli_teardown)
