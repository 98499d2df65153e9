/* test_fault_clients: worker processes that are paused and killed, renewals that are held back, and
 * wall clocks that are off: which clients they hit, that they act, and that the log says so only if
 * they did. Then their schedule. */
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/faults/faults.h"
#include "bench/tests/toy_primitives.h"
#include "drivers/injected.h"

#define PROCESSES "load.clients=4", "load.processes=4", "load.threads=4", "load.think=1ms"

static void assert_sign(const struct fault_event *fault, bool acted, const char *part) {
    if (fault->acted != acted || !strstr(fault->sign, part)) {
        fail_msg("%s: acted %d: %s", injections[fault->kind].name, fault->acted, fault->sign);
    }
}

/* The pause hits a client while it holds, and the log has that client and its key. */
TEST(test_a_holder_is_paused) {
    const struct lb_lock *locks[] = {&toy_mutex, &toy_rwlock, &toy_semaphore};
    for (int i = 0; i < 3; i++) {
        struct stage *stage = whole(
            run_toy(locks[i], RIGHT,
                    (struct stage_case){.readers = 50, .permits = 1, .bound = 2, .faults = 3},
                    SETS(PROCESSES, "fault.kind=pause", "fault.target=holder", "fault.first=50ms",
                         "fault.every=200ms", "fault.for=100ms", "fault.times=3", "load.hold=2ms",
                         "load.keys=2", "acquire.lease=20ms", UNTIL_ENOUGH)));
        assert_int_equal(stage->faults.count, 3);
        for (int f = 0; f < 3; f++) {
            const struct fault_event *fault = &stage->faults.events[f];
            assert_sign(fault, true, "its heartbeat stood still for");
            assert_string_equal(fault->target, "holder");
            assert_in_range(fault->client, 0, 3);
            assert_int_equal(fault->client, fault->process);
            assert_in_range(fault->key, 0, 1);
            assert_takes(fault->end_ns - fault->begin_ns, 100 * LB_MS_NS);
        }
    }
}

/* One client holds the only key for long: after its pause nobody else can be paused. */
TEST(test_a_grant_is_hit_once) {
    struct stage *stage =
        whole(run_toy(&toy_mutex, RIGHT, (struct stage_case){.faults = 2},
                      SETS(PROCESSES, "fault.kind=pause", "fault.target=holder", "fault.first=50ms",
                           "fault.every=100ms", "fault.for=50ms", "fault.times=2", "load.hold=3s",
                           "load.keys=1", "acquire.lease=1h", "run.warmup=0", UNTIL_ENOUGH)));
    assert_int_equal(stage->faults.count, 2);
    assert_sign(&stage->faults.events[0], true, "its heartbeat stood still for");
    assert_sign(&stage->faults.events[1], false, "no holder was found");
}

static int64_t all_have(void) {
    int64_t sum = 0;
    for (int i = 0; i < 4; i++) sum += atomic_load(&toy_at->granted[i]);
    return sum;
}

/* How often each client's own program has come round: a process below the client's, in a group of
 * its own. */
static struct programs { _Atomic int64_t rounds[TOY_CLIENTS]; } * programs;
static pid_t program; /* of this client */

static int program_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    uint32_t client = session->client % TOY_CLIENTS;
    pid_t parent = getpid();
    program = fork();
    if (program == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (; getppid() == parent; lb_nap(100 * LB_US_NS))
            atomic_fetch_add(&programs->rounds[client], 1);
        _exit(0);
    }
    return toy_connect(session, deadline_ns, err);
}

static void program_disconnect(struct lb_session *session) {
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    toy_disconnect(session);
}

/* A client's library may be in a program that it has started. */
TEST(test_what_the_paused_has_started_stands_too) {
    struct lb_connector connector = toy_connector;
    struct lb_backend backend = toy_backend;
    struct lb_lock lock = toy_mutex;
    connector.connect = program_connect;
    connector.disconnect = program_disconnect;
    backend.connector = &connector;
    lock.backend = &backend;
    programs =
        mmap(NULL, sizeof *programs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(programs != MAP_FAILED);
    struct stage *stage = whole(
        run_toy(&lock, RIGHT, PLAIN,
                SETS(PROCESSES, "fault.kind=pause", "fault.first=0", "fault.for=1h",
                     "load.keys=own", "acquire.lease=1h", "run.warmup=0", "run.duration=300ms")));
    assert_int_equal(stage->faults.count, 1);
    assert_sign(&stage->faults.events[0], true, "stood still");
    int paused = stage->faults.events[0].process;
    for (int i = 0; i < 4; i++) /* each has come round in the tenth of a second before the window */
        assert_int_equal(atomic_load(&programs->rounds[i]) > 1000, i != paused);
    munmap(programs, sizeof *programs);
}

/* Whether a process is stopped by a signal. */
static bool is_stopped(pid_t pid) {
    char path[64], line[512] = "", run_state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (end) sscanf(end + 1, " %c", &run_state);
    fclose(file);
    return run_state == 'T';
}

/* Continues every stopped child of its parent, whichever process stopped it. */
static pid_t start_meddler(void) {
    pid_t parent = getpid(), meddler = fork();
    char path[64];
    if (meddler != 0) return meddler;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    for (; getppid() == parent; lb_nap(LB_MS_NS)) {
        FILE *children = fopen(path, "r");
        int pid;
        while (children && fscanf(children, "%d", &pid) == 1)
            if (is_stopped(pid)) kill(pid, SIGCONT);
        if (children) fclose(children);
    }
    _exit(0);
}

TEST(test_a_pause_that_did_not_last_says_so) {
    pid_t meddler = start_meddler();
    struct stage *stage = whole(run_toy(&toy_mutex, RIGHT, (struct stage_case){.faults = 1},
                                        SETS(PROCESSES, "fault.kind=pause", "fault.first=50ms",
                                             "fault.for=500ms", "acquire.lease=1h", UNTIL_ENOUGH)));
    kill(meddler, SIGKILL);
    waitpid(meddler, NULL, 0);
    assert_int_equal(stage->faults.count, 1);
    assert_sign(&stage->faults.events[0], false, "its heartbeat went on");
}

TEST(test_a_waiter_is_killed) {
    struct stage *stage = whole(
        run_toy(&toy_mutex, RIGHT, (struct stage_case){.faults = 3},
                SETS(PROCESSES, "fault.kind=kill", "fault.target=waiter", "fault.first=50ms",
                     "fault.every=100ms", "load.hold=20ms", "acquire.lease=1h", UNTIL_ENOUGH)));
    /* Three of four; the last one is spared, though it is asked for. */
    assert_true(stage->faults.count >= 3);
    for (int i = 0; i < 3; i++) {
        assert_sign(&stage->faults.events[i], true, "ended by signal 9");
        assert_in_range(stage->faults.events[i].client, 0, 3);
        assert_int_equal(stage->faults.events[i].key, 0);
        for (int j = 0; j < i; j++)
            assert_true(stage->faults.events[i].client != stage->faults.events[j].client);
    }
    for (int i = 3; i < stage->faults.count; i++)
        assert_sign(&stage->faults.events[i], false, "no waiter was found");
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
}

/* A toy with a server, as far as its figures go: from the window on, since no place could start one. */
static struct lb_backend served;

static bool is_served(const struct stage *stage) {
    static const char *const names[] = {"toy", NULL};
    (void)stage;
    served.schemes = served.topologies = names;
    return true;
}

static void served_close(struct lb_server *server) {
    served.schemes = served.topologies = NULL;
    toy_close(server);
}

static bool has_grants(const struct stage *stage) {
    return is_served(stage) && all_have() >= 100;
}

static bool is_over(const struct stage *stage) {
    return is_served(stage) && stage->faults.count > 0 && stage->faults.events[0].end_ns != 0;
}

/* A session's requests are counted when it drains: those of a killed client are not known, and its grants are. */
TEST(test_what_the_killed_sent_is_not_known) {
    struct lb_connector connector = toy_connector;
    struct lb_lock lock = toy_mutex;
    served = toy_backend;
    served.connector = &connector;
    connector.close = served_close;
    lock.backend = &served;
    struct stage *stage = whole(run_toy(&lock, RIGHT, (struct stage_case){.enough = has_grants},
                                        SETS(PROCESSES, "run.warmup=0", UNTIL_ENOUGH)));
    assert_true(stage->result.commands_per_grant >= 2);
    assert_true(stage->result.wakeups_per_grant >= 0);
    stage =
        whole(run_toy(&lock, RIGHT, (struct stage_case){.enough = is_over},
                      SETS(PROCESSES, "fault.kind=kill", "fault.target=holder", "fault.first=50ms",
                           "load.hold=5ms", "acquire.lease=400ms", UNTIL_ENOUGH)));
    assert_sign(&stage->faults.events[0], true, "ended by signal 9");
    assert_true(stage->result.grants > 0);
    assert_true(isnan(stage->result.commands_per_grant));
    assert_true(isnan(stage->result.wakeups_per_grant));
}

/* The hold outlasts the fault, however late the fault comes. */
static struct stage *starve(bool renew) {
    return whole(run_toy(&toy_mutex, RIGHT, (struct stage_case){.renew = renew, .faults = 1},
                         SETS("load.clients=2", "load.processes=1", "fault.kind=starve",
                              "fault.target=holder", "fault.first=50ms", "fault.for=400ms",
                              "load.hold=600ms", "acquire.lease=150ms", UNTIL_ENOUGH)));
}

/* A holder outlives its lease when its renewals are held back, and does not while they are made. */
TEST(test_renewals_are_held_back) {
    struct stage *stage = starve(true);
    assert_int_equal(stage->faults.count, 1);
    assert_sign(&stage->faults.events[0], true, " held back");
    assert_in_range(stage->faults.events[0].client, 0, 1);
    assert_true(stage->exclusion.detected > 0);
    assert_int_equal(stage->exclusion.double_holders, 0);
    stage = starve(false);
    assert_int_equal(stage->faults.count, 1);
    assert_sign(&stage->faults.events[0], false, "nothing renews here");
}

/* By how much each client's wall clock has been off, and is now. */
static struct clocks { _Atomic int64_t most_ns[4], now_ns[4]; } * clocks;

static enum lb_outcome clock_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    int64_t off_ns = lb_client_wall_now(session) - lb_wall_now();
    if (off_ns > -LB_S_NS && off_ns < LB_S_NS) off_ns = 0; /* what passes between two readings */
    if (off_ns != 0) atomic_store(&clocks->most_ns[session->client % 4], off_ns);
    atomic_store(&clocks->now_ns[session->client % 4], off_ns);
    return toy_acquire(session, request, grant);
}

TEST(test_wall_clocks_are_set_off) {
    struct lb_algorithm algorithm = toy_mutex_algorithm;
    struct lb_lock lock = toy_mutex;
    algorithm.acquire = clock_acquire;
    lock.algorithm = &algorithm;
    clocks = mmap(NULL, sizeof *clocks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(clocks != MAP_FAILED);
    struct stage *stage = whole(run_toy(
        &lock, RIGHT, PLAIN,
        SETS(PROCESSES, "fault.kind=client-clock", "fault.first=50ms", "fault.by=60s",
             "fault.for=300ms", "fault.2.kind=client-clock", "fault.2.first=60ms",
             "fault.2.by=-60s", "fault.2.for=300ms", "acquire.lease=1h", "run.duration=500ms")));
    assert_int_equal(stage->faults.count, 2);
    const struct fault_event *fault = stage->faults.events;
    assert_sign(&fault[0], true, "times while it was 60.000 s ahead");
    assert_sign(&fault[1], true, "times while it was 60.000 s behind");
    assert_true(fault[0].process != fault[1].process);
    for (int i = 0; i < 4; i++) {
        int64_t by_ns = i == fault[0].process   ? 60 * LB_S_NS
                        : i == fault[1].process ? -60 * LB_S_NS
                                                : 0;
        int64_t off_ns = atomic_load(&clocks->most_ns[i]);
        assert_true(off_ns > by_ns - LB_S_NS && off_ns < by_ns + LB_S_NS);
        assert_int_equal(atomic_load(&clocks->now_ns[i]), 0);
    }
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    munmap(clocks, sizeof *clocks);
}

/* Where it finds nobody, acts on what is not there, or is felt by nobody. */
TEST(test_what_did_not_act_says_so) {
    static const struct {
        const char *sign, *sets[9];
    } cases[] = {
        {"no holder was found in 2 s",
         {"fault.kind=pause", "fault.target=holder", "load.think=1h", "run.warmup=200ms",
          "run.drain=50ms"}},
        /* a lock that reads no wall clock */
        {"was read 0 times",
         {"fault.kind=client-clock", "fault.by=60s", "fault.for=100ms", "acquire.lease=1h"}},
        {"no server that lockbench started", {"fault.kind=server-kill"}},
        {"no wire for this target", {"fault.kind=wire-reset", "fault.target=all"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *sets[20] = {PROCESSES, "fault.first=10ms", UNTIL_ENOUGH};
        int count = 6;
        for (int k = 0; cases[i].sets[k]; k++) sets[count++] = cases[i].sets[k];
        struct stage *stage =
            whole(run_toy(&toy_mutex, RIGHT, (struct stage_case){.faults = 1}, sets));
        assert_int_equal(stage->faults.count, 1);
        assert_sign(&stage->faults.events[0], false, cases[i].sign);
    }
}

/* A section that waits for a holder, and one below it that keeps its distance. */
TEST(test_the_order_of_sections_stays) {
    struct stage *stage =
        whole(run_toy(&toy_mutex, RIGHT, (struct stage_case){.faults = 3},
                      SETS(PROCESSES, "fault.kind=pause", "fault.first=100ms", "fault.for=50ms",
                           "fault.2.kind=pause", "fault.2.first=150ms", "fault.2.after=holder",
                           "fault.2.for=30ms", "fault.3.kind=pause", "fault.3.first=250ms",
                           "fault.3.for=30ms", "load.keys=own", "load.hold=600ms",
                           "acquire.lease=10s", "run.warmup=0", UNTIL_ENOUGH)));
    assert_int_equal(stage->faults.count, 3);
    const struct fault_event *f = stage->faults.events;
    for (int i = 0; i < 3; i++) assert_int_equal(f[i].section, i);
    /* the first grants began before the first fault */
    assert_in_range(f[1].begin_ns - stage->window_begin_ns, 600 * LB_MS_NS, 610 * LB_MS_NS);
    assert_takes(f[2].begin_ns - f[1].begin_ns, 100 * LB_MS_NS);
}

TEST_MAIN(NULL, NULL)
