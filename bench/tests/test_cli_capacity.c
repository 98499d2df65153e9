/* `lockbench capacity` as people call it: what it refuses, a search against a lock whose capacity
 * cannot be passed, a search that is cut off. Nothing asserts how fast the machine is. (test_capacity_search and
 * test_capacity look at searches without the time that they take.)
 *
 * Needs: minutes. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

#include <math.h>

#include "results/format/capacity_read.h"
#include "results/format/run_read.h"

/* Searches and long runs take their whole time and mostly sleep: they are started together, and each test
 * waits for its own. */
enum started { BY_RATE, BY_CLIENTS, TWO_IN, FEW_SAMPLES, CUT_OFF, UNSAVED, BY_TURNS, STARTED };
static struct cli started[STARTED];

static int start_all(void **state) {
    char elsewhere[400]; /* also for the run.json of the probe that is under way */
    if (cli_setup(state) != 0) return -1;
    cli_start(&started[BY_RATE], NULL,
              ARGS("capacity", "sim", "--slo", "acquire_due.p80<=400ms", "--hold", "20ms", "--set",
                   "sim.service=5ms", "--time", "20s", "--out", cli_path("rate"), "--json"));
    cli_start(&started[BY_CLIENTS], NULL,
              ARGS("capacity", "sim", "--search", "clients", "--slo", "acquire.p90<=100ms",
                   "--hold", "30ms", "-d", "20s", "--most", "64", "--set", "load.think=1ms",
                   "--out", cli_path("clients")));
    cli_start(&started[TWO_IN], NULL,
              ARGS("capacity", "unsafe-none", "--time", "20s", "--most", "200", "--hold", "10ms",
                   "--set", "acquire.renew=yes", "--out", cli_path("two")));
    cli_start(&started[FEW_SAMPLES], NULL,
              ARGS("capacity", "sim", "--search", "clients", "--slo", "acquire.p99<=50s", "--hold",
                   "200ms", "--time", "20s", "--out", cli_path("few")));
    cli_start(&started[CUT_OFF], NULL,
              ARGS("capacity", "sqlite-immediate", "--hold", "2ms", "--out", cli_path("cut")));
    snprintf(elsewhere, sizeof elsewhere, "TMPDIR=%s", cli_path("elsewhere"));
    mkdir(cli_path("elsewhere"), 0777);
    cli_start(&started[UNSAVED], &(struct cli_how){.env = {elsewhere}},
              ARGS("capacity", "sim", "--out", cli_path("unsaved")));
    cli_start(&started[BY_TURNS], NULL,
              ARGS("capacity", "sim,redis-setnx,sqlite-immediate", "--url",
                   "redis=redis://127.0.0.1:1", "--hold", "20ms", "--slo", "acquire_due.p80<=400ms",
                   "--time", "26s", "--out", cli_path("turns")));
    return 0;
}

static struct cli done(enum started which) {
    cli_wait(&started[which]);
    return started[which];
}

static struct capacity *capacity_of(const char *out) {
    struct lb_err err = {0};
    struct capacity *capacity = capacity_read(out, &err);
    if (!capacity) fail_msg("%s", err.text);
    return capacity;
}

/* The two searches that are cut off come first: they would go on for as long as the others. */
TEST(what_was_found_is_saved_when_it_is_cut_off) {
    struct stat status;
    char *out = cli_path("cut"), *file = cli_path("cut/" CAPACITY_FILE);
    for (int i = 0; i < 1000 && stat(file, &status) != 0; i++) cli_nap_ms(50);
    kill(started[CUT_OFF].pid, SIGINT);
    struct cli cli = done(CUT_OFF);
    assert_code(&cli, LB_EXIT_INTERRUPTED);
    struct capacity *capacity = capacity_of(out);
    assert_true(capacity->partial);
    assert_non_null(strstr(capacity->partial_reason, "interrupted"));
    assert_non_null(capacity->ended_at);
    /* what the lock says of its own state stands beside what its server says */
    assert_non_null(capacity->locks[0].durability_note);
    assert_string_equal(capacity->locks[0].durability_note,
                        registry_lock("sqlite-immediate")->durability_note);
    assert_non_null(capacity->locks[0].durability);
    assert_has(cli.out, "Partial");
    capacity_free(capacity);
}

/* Somebody removes the folder during the search and puts a file there; a full disk is the same to the search. */
TEST(an_answer_that_its_folder_does_not_take_is_saved_elsewhere) {
    static const char before[] = "the answer was saved to ";
    struct stat status;
    char *out = cli_path("unsaved"), *file = cli_path("unsaved/" CAPACITY_FILE), path[400];
    for (int i = 0; i < 1000 && stat(file, &status) != 0; i++) cli_nap_ms(50);
    folder_remove(out);
    cli_write(out, "in the way\n");
    kill(started[UNSAVED].pid, SIGINT);
    struct cli cli = done(UNSAVED);
    assert_code(&cli, LB_EXIT_INTERRUPTED);
    const char *at = strstr(cli.err, before);
    if (!at) fail_msg("%s", cli.err);
    snprintf(path, sizeof path, "%.*s", (int)strcspn(at + strlen(before), " \n"),
             at + strlen(before));
    struct capacity *capacity = capacity_of(path);
    assert_string_equal(capacity->locks[0].lock, "sim");
    assert_has(cli.out, "Partial"); /* the table is printed all the same */
    assert_lacks(cli.err, "saved in ");
    capacity_free(capacity);
}

/* Each probe is a run of one stage below the folder. */
static void assert_probes_are_runs(const struct capacity *capacity) {
    for (int l = 0; l < capacity->lock_count; l++) {
        for (int p = 0; p < capacity->locks[l].probe_count; p++) {
            const struct capacity_probe *probe = &capacity->locks[l].probes[p];
            char folder[700];
            struct lb_err err = {0};
            snprintf(folder, sizeof folder, "%s/%s", capacity->dir, probe->run);
            struct run *run = run_read(folder, &err);
            if (!run) fail_msg("%s", err.text);
            assert_int_equal(run->stage_count, 1);
            if (capacity->locks[l].by == CAPACITY_BY_RATE)
                assert_true(fabs(run->stages[0].offered_per_s / probe->value - 1) < 1e-6);
            else
                assert_true(run->stages[0].clients == probe->value);
            run_free(run);
        }
    }
}

/* The lock holds for 20 ms and takes 5 ms to release: no machine does more than 40 a second, and
 * none that is late does as many. */
TEST(a_search_by_rate_stays_below_what_can_be_done) {
    struct lb_err err = {0};
    char *out = cli_path("rate");
    struct cli cli = done(BY_RATE);
    if (cli.code != LB_EXIT_OK && cli.code != LB_EXIT_INCONCLUSIVE)
        fail_msg("%d: %s", cli.code, cli.err);
    struct capacity *capacity = capacity_of(out);
    assert_false(capacity->partial);
    assert_int_equal(capacity->lock_count, 1);
    const struct capacity_lock *lock = &capacity->locks[0];
    assert_string_equal(lock->slo, "acquire_due.p80<=400ms");
    assert_string_equal(lock->hold, "20ms");
    assert_string_equal(lock->guarantee, "host");
    assert_true(lock->probe_count > 0);
    assert_int_equal(cli.code == LB_EXIT_OK, lock->answered);
    if (lock->answered) assert_true(lock->low <= lock->value && lock->value <= 40);
    assert_true(lock->saturated_per_s > 0 && lock->saturated_per_s <= 40);
    assert_probes_are_runs(capacity);
    struct capacity *printed = capacity_parse(cli.out, strlen(cli.out), "stdout", &err);
    if (!printed) fail_msg("%s", err.text);
    assert_int_equal(printed->locks[0].probe_count, lock->probe_count);
    capacity_free(printed);
    for (int i = 0; i < lock->probe_count; i++) {
        if (lock->probes[i].verdict == PROMISE_KEPT)
            assert_true(lock->probes[i].quantile_ns <= 400e6);
    }
    capacity_free(capacity);
    cli = cli_ends(0, ARGS("report", out));
    assert_has(cli.out, "sim");
}

/* This is tested here, because test_reference can't make such a file in a short time. */
TEST(what_a_search_writes_keeps_to_the_tables) {
    char command[1000];
    need_program("node", "nodejs");
    snprintf(command, sizeof command,
             "node report/tests/validate.mjs " CAPACITY_FILE " %s/" CAPACITY_FILE,
             cli_path("rate"));
    assert_int_equal(system(command), 0);
}

/* 30 ms of hold each, so the fifth of five waits for 120 ms: no more than four keep 100 ms,
 * whatever the machine. */
TEST(a_search_by_clients_stays_below_what_can_be_done) {
    char *out = cli_path("clients");
    struct cli cli = done(BY_CLIENTS);
    if (cli.code != LB_EXIT_OK && cli.code != LB_EXIT_INCONCLUSIVE)
        fail_msg("%d: %s", cli.code, cli.err);
    struct capacity *capacity = capacity_of(out);
    const struct capacity_lock *lock = &capacity->locks[0];
    assert_int_equal(lock->by, CAPACITY_BY_CLIENTS);
    if (lock->answered) assert_true(lock->value <= 5 && lock->value == floor(lock->value));
    assert_has(cli.out, "The most clients");
    assert_has(
        cli.err,
        "probes for at most"); /* how long it takes, and each probe, also without a terminal */
    assert_has(cli.err, " probe  1 ");
    assert_has(cli.out, "think 1ms");
    assert_lacks(cli.err, "does not carry this rate"); /* nobody asked for a rate */
    assert_lacks(cli.out, "does not carry this rate");
    assert_false(lock->violated);
    assert_probes_are_runs(capacity);
    for (const char *line = cli.out; *line;
         line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n')) {
        assert_true(strcspn(line, "\n") <= 120); /* 100 columns; dashes take three bytes */
    }
    capacity_free(capacity);
}

/* No client waits for this lock, so it carries any load that the generator can send, but it does
 * not exclude. */
TEST(what_lets_two_in_is_named) {
    char *out = cli_path("two");
    struct cli cli = done(TWO_IN);
    assert_code(&cli, LB_EXIT_VIOLATED);
    assert_has(cli.out, "Exclusion violated");
    /* what each of its runs warns of is told once */
    const char *warning = strstr(cli.err, "acquire.renew has no effect");
    if (!warning || strstr(warning + 1, "acquire.renew has no effect")) fail_msg("%s", cli.err);
    struct capacity *capacity = capacity_of(out);
    assert_true(capacity->locks[0].violated && !capacity->partial);
    capacity_free(capacity);
}

/* 200 ms of hold: no window has the samples of a p99, and nothing is over the limit. That is no
 * broken promise, however slow the machine. */
TEST(too_few_samples_are_no_broken_promise) {
    char *out = cli_path("few");
    struct cli cli = done(FEW_SAMPLES);
    assert_code(&cli, LB_EXIT_INCONCLUSIVE);
    struct capacity *capacity = capacity_of(out);
    assert_false(capacity->locks[0].answered);
    assert_has(capacity->locks[0].why, "samples that the quantile takes");
    capacity_free(capacity);
}

/* "probes/007-sim": 7. */
static int number_of(const struct capacity_probe *probe) {
    return atoi(strchr(probe->run, '/') + 1);
}

/* Locks probe by turns, so that a machine that becomes slower touches all alike; the folders' names have the order
 * in which they ran. A server that does not answer is its own lock's failure. */
TEST(probes_of_several_locks_alternate) {
    struct cli cli = done(BY_TURNS);
    assert_code(&cli, LB_EXIT_MACHINE);
    assert_has(cli.err, "redis");
    struct capacity *capacity = capacity_of(cli_path("turns"));
    assert_int_equal(capacity->lock_count, 3);
    const struct capacity_lock *one = &capacity->locks[0], *other = &capacity->locks[2];
    assert_string_equal(one->lock, "sim");
    assert_string_equal(other->lock, "sqlite-immediate");
    assert_int_equal(capacity->locks[1].probe_count, 0);
    int both = one->probe_count < other->probe_count ? one->probe_count : other->probe_count;
    assert_true(both > 1);
    for (int i = 0; i < both; i++) {
        int at = number_of(&one->probes[i]), next = number_of(&other->probes[i]);
        assert_int_equal(next, at + 1);
        if (i > 0) assert_int_equal(at, number_of(&other->probes[i - 1]) + 1);
    }
    capacity_free(capacity);
}

TEST_MAIN(start_all, cli_teardown)
