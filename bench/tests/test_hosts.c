/* test_hosts: a stage whose clients are in several processes that share nothing, joined by sockets as hosts are by MPI:
 * the sums, and what happens to a host that dies or stands still. */
#include <signal.h>
#include <sys/resource.h>

#include "bench/tests/hosts_help.h"

#define LOOKS 20 /* of 50 ms, before a host is hurt */

TEST(test_the_sums_are_those_of_all_hosts) {
    struct far_run run;
    begin_run(&run, NULL, "null", SETS("load.clients=7", "run.duration=2s", "load.think=1ms"));
    const struct stage *stage = go(&run, NULL);
    if (stage->status != STAGE_COMPLETE) fail_msg("%s", stage->err.text);
    const struct run_stage *result = &stage->result;
    assert_true(result->attempts > 0);
    assert_true(sum_outcomes(stage) == result->attempts);
    assert_true(result->ok == (double)stage->hist[METRIC_ACQUIRE]->count);
    double clients = 0, grants = 0;
    size_t i;
    const json_t *host;
    assert_int_equal(json_array_size(result->hosts), HOSTS);
    json_array_foreach(result->hosts, i, host) {
        clients += json_number_value(json_object_get(host, "clients"));
        grants += json_number_value(json_object_get(host, "grants"));
        assert_true(json_is_null(json_object_get(host, "lost")));
        /* All processes have the same clock, so the offset must be 0 within the error. */
        json_int_t offset_ns = json_integer_value(json_object_get(host, "clock_offset_ns"));
        json_int_t error_ns = json_integer_value(json_object_get(host, "clock_error_ns"));
        assert_true(error_ns > 0 && llabs(offset_ns) <= error_ns);
    }
    assert_true(clients == 7 && grants == result->grants);
    assert_true(result->min_share > 0);
    for (int k = 0; k < HOSTS; k++) {
        const json_t *environment = run.hosts->host[k].environment;
        assert_true(json_integer_value(json_object_get(environment, "cpus")) > 0);
        assert_true(json_is_string(json_object_get(environment, "kernel")));
        assert_null(json_object_get(environment, "hostname_hash"));
    }
    double seconds = 0;
    for (int k = 0; k < stage->second_count; k++) seconds += (double)stage->seconds[k].ok;
    assert_true(seconds == (double)stage->hist[METRIC_ACQUIRE]->count);
    end_run(&run);
}

/* Kills the process of host 2, or a worker process of it. */
static bool kill_once(struct far_run *run, pid_t (*victim)(pid_t rank)) {
    if (++run->looks < LOOKS || run->is_hurt) return false;
    run->is_hurt = true;
    kill(victim ? victim(run->pids[2]) : run->pids[2], SIGKILL);
    return false;
}

static bool kill_one(void *arg, const struct stage *stage) {
    (void)stage;
    return kill_once(arg, NULL);
}

/* The measurements of the others are kept; they are asked nothing more in this run, but they are not lost: the errors of
 * later stages name the lost one, too. A host that stands still: test_mpi. */
TEST(test_a_host_that_dies_ends_the_stage_and_is_named) {
    struct far_run run;
    begin_run(&run, NULL, "null", SETS("load.clients=6", "run.duration=10m", "load.think=1ms"));
    const struct stage *stage = go(&run, kill_one);
    if (stage->status != STAGE_PARTIAL) fail_msg("status %d: %s", stage->status, stage->err.text);
    if (!strstr(stage->err.text, "host 2 (")) fail_msg("%s", stage->err.text);
    assert_true(stage->result.ok > 0);
    int lost = 0;
    size_t i;
    const json_t *host;
    json_array_foreach(stage->result.hosts, i, host) {
        if (json_is_null(json_object_get(host, "lost"))) continue;
        lost++;
        assert_true(json_is_null(json_object_get(host, "hiccup_p99_ns")));
        assert_true(json_is_null(json_object_get(host, "grants")));
    }
    assert_int_equal(lost, 1);
    assert_true(stage->window_ns < 600 * LB_S_NS); /* the others do not wait for its end */
    for (int again = 0; again < 2; again++) {
        stage_free(run.stage);
        stage = go(&run, kill_one);
        assert_int_not_equal(stage->status, STAGE_COMPLETE);
        if (!strstr(stage->err.text, "host 2 (")) fail_msg("%s", stage->err.text);
        assert_int_equal(hosts_check_lost(run.hosts, &(struct lb_err){0}), -1);
    }
    end_run(&run);
}

/* How often the coordinator asked for a time after it had said when the load begins, as its link saw it: so far, and
 * when the window began; -1 = not yet. */
static int clock_words = -1, words_before_window = -1;

static int send_counted(struct link *link, int to, const void *bytes, size_t length,
                        int64_t deadline_ns) {
    struct message message;
    memcpy(&message, bytes, sizeof message);
    if (message.word == WORD_ON && message.value[0] == MOMENT_PINGED) clock_words = 0;
    if (message.word == WORD_CLOCK && clock_words >= 0) clock_words++;
    return pipe_send(link, to, bytes, length, deadline_ns);
}

/* The supervisor asks this for the first time when the window has begun. */
static bool window_began(void *arg, const struct stage *stage) {
    (void)arg, (void)stage;
    if (words_before_window < 0) words_before_window = clock_words;
    return true;
}

/* A load host gives up when it hears nothing for 40 s, and a warm-up may be longer. */
TEST(test_the_coordinator_speaks_in_the_warm_up_too) {
    struct far_run run;
    begin_run(&run, NULL, "null",
              SETS("load.clients=3", "load.think=1ms", "run.warmup=12s", "run.duration=30s"));
    run.link.link.send = send_counted;
    go(&run, window_began);
    assert_true(words_before_window > 0);
    end_run(&run);
}

/* A worker process of a rank. Its first child is the janitor, which on a busy machine may not have its name yet; so the
 * last one is taken. */
static pid_t worker_of(pid_t rank) {
    char path[100], name[32];
    int child, found = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", rank, rank);
    FILE *children = fopen(path, "re");
    while (children && fscanf(children, "%d", &child) == 1) {
        snprintf(path, sizeof path, "/proc/%d/comm", child);
        FILE *comm = fopen(path, "re");
        bool known = comm && fgets(name, sizeof name, comm);
        if (comm) fclose(comm);
        if (known && strncmp(name, "lockbench-janit", 15) != 0) found = child;
    }
    if (children) fclose(children);
    if (found == 0) fail_msg("rank %d has no worker process", rank);
    return found;
}

static bool kill_worker(void *arg, const struct stage *stage) {
    (void)stage;
    return kill_once(arg, worker_of);
}

/* As on one host: the stage ends, and what all hosts measured is kept. */
TEST(test_a_worker_process_that_dies_ends_the_stage_and_its_host_is_not_lost) {
    struct far_run run;
    begin_run(&run, NULL, "null", SETS("load.clients=6", "run.duration=10m", "load.think=1ms"));
    const struct stage *stage = go(&run, kill_worker);
    assert_int_equal(stage->status, STAGE_PARTIAL);
    if (!strstr(stage->err.text, "host 2 (") || !strstr(stage->err.text, "worker process"))
        fail_msg("%s", stage->err.text);
    assert_true(stage->window_ns < 600 * LB_S_NS);
    const json_t *host = json_array_get(stage->result.hosts, 1);
    assert_true(json_number_value(json_object_get(host, "grants")) > 0);
    assert_true(json_is_null(json_object_get(host, "lost")));
    end_run(&run);
}

/* What the coordinator asked of a stage, as its link saw it. */
static void *stage_words;
static size_t stage_words_length;

static int send_noted(struct link *link, int to, const void *bytes, size_t length,
                      int64_t deadline_ns) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word); /* as struct message begins */
    if (word == WORD_STAGE && !stage_words) {
        stage_words = malloc(length);
        assert_non_null(stage_words);
        memcpy(stage_words, bytes, length);
        stage_words_length = length;
    }
    return pipe_send(link, to, bytes, length, deadline_ns);
}

/* Asks a host for the same stage again, and waits until it is ready for that. */
static void ask_again(struct far_run *run, int host) {
    struct message message;
    int64_t deadline_ns = lb_now() + MEET_NS;
    assert_int_equal(
        pipe_send(&run->link.link, host + 1, stage_words, stage_words_length, deadline_ns), 0);
    hosts_expect(run->hosts);
    while (hosts_hear(run->hosts, host, &message, lb_now() + MEET_NS) == 1) {
        free(message.blob);
        if (message.word == WORD_READY && message.value[0] == MOMENT_CONNECTED) return;
    }
    fail_msg("host %d is not ready for the next stage: %s", host + 1, run->hosts->host[host].why);
}

/* The coordinator asks for the next stage, or ends the run, while a host still closes its sessions of one that failed. */
TEST(test_a_host_that_closes_its_sessions_hears_what_comes_next) {
    struct far_run run;
    int status = -1, host = HOSTS - 1;
    begin_run(&run, NULL, "null", SETS("load.clients=300"));
    run.link.link.send = send_noted;
    const struct stage *stage = go(&run, NULL);
    if (stage->status != STAGE_COMPLETE) fail_msg("%s", stage->err.text);
    const struct message give_up = {.word = WORD_GIVE_UP}, leave = {.word = WORD_LEAVE};
    ask_again(&run, host);
    hosts_tell(run.hosts, host, &give_up);
    ask_again(&run, host);
    hosts_tell(run.hosts, host, &give_up);
    hosts_tell(run.hosts, host, &leave);
    assert_int_equal(waitpid(run.pids[host + 1], &status, 0), run.pids[host + 1]);
    assert_int_equal(status, 0);
    run.pids[host + 1] = 0;
    free(stage_words);
    end_run(&run);
}

static int serve_another(struct link *link) {
    struct hosts hosts = {.link = link, .count = link->count - 1};
    struct lb_err err = {0};
    struct message hello = {.word = WORD_HELLO, .value = {12345}, .text = "elsewhere"}, answer;
    hosts_report(&hosts, &hello, &err);
    return hosts_wait(&hosts, &answer, lb_now() + MEET_NS, &err) == 1 && answer.word == WORD_LEAVE
               ? 0
               : -1;
}

static int serve_nothing(struct link *link) {
    (void)link;
    return 0;
}

static int serve_without_room(struct link *link) {
    setenv("TMPDIR", "/nowhere", 1);
    return serve(link);
}

static int serve_on_a_full_disk(struct link *link) {
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
    return serve(link);
}

/* One load host, which serves so: the coordinator says why, and at once: it does not wait for a host that is gone.
 * silent: the launcher has to end it. */
static void check_trouble(int (*serve_badly)(struct link *link), bool silent, const char *trouble) {
    struct pipe_link link;
    struct lb_err err = {0};
    pid_t pids[2] = {0};
    int status = -1;
    bool is_silent = false;
    struct plan_ask wanted = {.workload = "smoke", .folder = "workloads", .locks = "null"};
    assert_int_equal(pipe_link_fork(&link, 2, serve_badly, pids), 0);
    struct hosts *hosts = hosts_meet(&link.link, lb_now() + MEET_NS, &is_silent, &err);
    assert_int_equal(is_silent, silent);
    if (hosts) { /* it met, and can't begin */
        struct plan *plan = plan_load(&wanted, &err);
        if (!plan) fail_msg("%s", err.text);
        struct peers peers = coordinate(hosts);
        assert_int_equal(peers.begin_run(&peers, plan, &err), -1);
        assert_int_equal(hosts_check_lost(hosts, &err), 0);
        plan_free(plan);
        hosts_free(hosts);
    }
    if (!strstr(err.text, "host 1") || !strstr(err.text, trouble)) fail_msg("%s", err.text);
    assert_int_equal(waitpid(pids[1], &status, 0), pids[1]);
    assert_int_equal(status, 0);
    close(link.fds[1]);
}

TEST(test_a_host_that_lacks_something_tells_the_coordinator) {
    check_trouble(serve_another, false, "host 1 (elsewhere) runs another lockbench");
    check_trouble(serve_nothing, true, "host 1 did not answer");
    check_trouble(serve_without_room, false, "/nowhere: No such file or directory: set TMPDIR");
    check_trouble(serve_on_a_full_disk, false,
                  "plan.ini: File too large: make room, or set TMPDIR");
}

TEST_MAIN(NULL, NULL)
