/* test_hosts_redis: clients of several hosts on one Redis, the hosts joined by sockets: locks that do not exclude are
 * caught although their holders share no memory, and missing records of a host never accuse a lock.
 *
 * Needs: servers. */
#include <signal.h>
#include <sys/resource.h>

#include "bench/evidence/stage_history.h"
#include "bench/tests/hosts_help.h"

/* A link whose process dies: it exits after so many pieces of its measurements. */
#define PIECES 2 /* the figures; then the first of the history */

static int send_some(struct link *link, int to, const void *bytes, size_t length,
                     int64_t deadline_ns) {
    static int pieces;
    uint32_t word;
    memcpy(&word, bytes, sizeof word); /* as struct message begins */
    int failed = pipe_send(link, to, bytes, length, deadline_ns);
    if (word == WORD_PARTS && ++pieces == PIECES) _exit(3);
    return failed;
}

static int serve_some(struct link *link) {
    if (link->self == HOSTS) link->send = send_some;
    return serve(link);
}

#define LATE_NS (10 * LB_MS_NS)

/* A link that delays its answers about clocks: the error of its host's clock is at least half of the delay. */
static int send_late(struct link *link, int to, const void *bytes, size_t length,
                     int64_t deadline_ns) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word); /* as struct message begins */
    if (word == WORD_CLOCK) lb_nap(LATE_NS);
    return pipe_send(link, to, bytes, length, deadline_ns);
}

static int serve_late(struct link *link) {
    link->send = send_late;
    return serve(link);
}

/* What the clocks hide is no trial: a second holder would not be seen. A holder that a busy machine takes off its
 * processor holds for longer than they hide, so such a run is made again. */
TEST(test_waits_for_holds_that_are_too_short_for_the_clocks_are_no_trials) {
    bool hidden = false;
    for (int tries = 0; tries < 10 && !hidden; tries++) {
        struct far_run run;
        begin_run(&run, &(struct far_case){.serve = serve_late}, "redis-setnx",
                  SETS("load.clients=3", "load.hold=1ms", "run.duration=300ms"));
        const struct stage *stage = go(&run, NULL);
        assert_true(stage->history->error_ns >= LATE_NS / 2);
        hidden = stage->exclusion.grants > 3 && stage->result.tested_grants == 0;
        if (hidden) assert_string_equal(stage->result.verdict, "untested");
        end_run(&run);
    }
    assert_true(hidden);
}

/* One client a host, so that no host sees a client wait for another one. */
TEST(test_clients_of_several_hosts_that_wait_put_the_lock_to_the_test) {
    struct far_run run;
    begin_run(&run, &(struct far_case){.workload = "contended"}, "redis-setnx",
              SETS("load.clients=3", "load.hold=20ms", "run.duration=2s"));
    const struct stage *stage = go(&run, NULL);
    assert_string_equal(stage->result.verdict, "clean");
    assert_true(stage->result.tested_grants > 3);
    assert_true(stage->result.tested_grants <= stage->result.checked_grants);
    end_run(&run);
}

/* The file says that it is cut off. */
static void assert_cut_off(const struct far_run *run) {
    struct oplog_header header;
    char path[200];
    snprintf(path, sizeof path, "%s/%s", run->folder, run->stage->history->file);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    assert_int_equal(header.whole, 0);
    fclose(file);
}

/* The dead host's last records are missing, among them releases. Its clients must not be taken for holders. */
TEST(test_a_host_that_dies_while_it_tells_accuses_nobody) {
    struct far_run run;
    begin_run(&run, &(struct far_case){.serve = serve_some}, "redis-setnx",
              SETS("load.clients=6", "load.hold=0", "run.duration=1s", "acquire.lease=60s"));
    const struct stage *stage = go(&run, NULL);
    assert_int_equal(stage->status, STAGE_PARTIAL);
    assert_non_null(strstr(stage->err.text, "host 3 ("));
    const struct stage_history *history = stage->history;
    assert_non_null(history);
    assert_true(history->judged && history->cut_off);
    assert_true(history->ops > 0);
    assert_int_equal(history->judgement.violations, 0);
    assert_int_equal(history->judgement.expired, 0);
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    assert_int_equal(stage->hist[METRIC_HANDOFF]->count, 0);
    assert_cut_off(&run);
    end_run(&run);
}

/* A disk that is full after so many bytes of a file: that of a host's history; files of another kind are longer. */
static rlim_t disk_bytes;

/* The host has read the plan, and so it has written the file of the plan. */
static int send_and_fill(struct link *link, int to, const void *bytes, size_t length,
                         int64_t deadline_ns) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word); /* as struct message begins */
    const struct rlimit limit = {disk_bytes, disk_bytes};
    if (word == WORD_READY) setrlimit(RLIMIT_FSIZE, &limit);
    return pipe_send(link, to, bytes, length, deadline_ns);
}

static int serve_on_a_small_disk(struct link *link) {
    if (link->self == 2) {
        signal(SIGXFSZ, SIG_IGN);
        link->send = send_and_fill;
    }
    return serve(link);
}

/* Host 2 can't write more than so much of its history. */
static void check_small_disk(rlim_t bytes, const char *words) {
    struct far_run run;
    disk_bytes = bytes;
    begin_run(&run, &(struct far_case){.serve = serve_on_a_small_disk}, "redis-setnx",
              SETS("load.clients=6", "load.keys=4", "load.hold=20ms", "run.duration=3s",
                   "acquire.lease=60s"));
    const struct stage *stage = go(&run, NULL);
    if (stage->status != STAGE_COMPLETE) fail_msg("%s", stage->err.text);
    const struct stage_history *history = stage->history;
    assert_non_null(history);
    assert_true(history->judged && history->ops > 0);
    assert_int_equal(history->judgement.violations, 0);
    assert_int_equal(history->judgement.expired, 0);
    assert_true(history->cut_off);
    assert_cut_off(&run);
    if (!strstr(history->err.text, "host 2 (") || !strstr(history->err.text, words))
        fail_msg("the history's error: %s", history->err.text);
    assert_true(any_text_has(stage->result.warnings, words));
    end_run(&run);
}

TEST(test_a_host_whose_disk_becomes_full_accuses_nobody_and_says_so) {
    check_small_disk(4096, "the history ends early");
}

TEST(test_a_host_that_can_write_no_history_says_so) {
    check_small_disk(100, "cannot write");
}

/* One client a host: no host's memory sees two holders. */
static void assert_caught(const char *workload, const char *lock, enum verdict least,
                          const char *const *sets) {
    struct far_run run;
    begin_run(&run, &(struct far_case){.workload = workload}, lock, sets);
    const struct stage *stage = go(&run, NULL);
    if (stage->status != STAGE_COMPLETE) fail_msg("%s: %s", lock, stage->err.text);
    const struct exclusion *alone = &stage->history->of_parts;
    assert_int_equal(alone->double_holders + alone->expired_holders, 0);
    if (stage->exclusion.verdict < least)
        fail_msg("%s: the verdict is %s", lock, verdict_name(stage->exclusion.verdict));
    end_run(&run);
}

TEST(test_locks_that_are_none_are_caught_between_hosts) {
    assert_caught("late", "unsafe-redis-del", VERDICT_VIOLATED,
                  SETS("load.clients=3", "run.duration=4s"));
    assert_caught("late", "unsafe-redis-get-del", VERDICT_EXPIRED,
                  SETS("load.clients=3", "run.duration=4s"));
    assert_caught("short-lease", "unsafe-redis-ttl-short", VERDICT_EXPIRED,
                  SETS("load.clients=3", "run.duration=3s"));
}

TEST_MAIN(NULL, NULL)
