/* test_fault_clients: worker processes that are paused and killed, and renewals that are held back:
 * whom they hit, that they really act, and that the log does not say so when they did not. And the
 * schedule. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/faults/faults.h"
#include "bench/tests/toy_help.h"

#define PROCESSES "load.clients=4", "load.processes=4", "load.threads=4"

static void assert_sign(const struct fault_event *fault, bool acted, const char *part) {
    if (fault->acted != acted || !strstr(fault->sign, part)) {
        fail_msg("%s: acted %d: %s", injection_name(fault->kind), fault->acted, fault->sign);
    }
}

static struct stage *whole(struct stage *stage) {
    if (stage->status != STAGE_COMPLETE) fail_msg("not complete: %s", stage->err.text);
    return stage;
}

/* Each of those whom it finds holds, and stands still with it: that client has grants from before
 * and after at best. */
TEST(test_a_holder_is_paused) {
    const struct lb_lock *locks[] = {&toy_mutex, &toy_rwlock, &toy_semaphore};
    for (int i = 0; i < 3; i++) {
        struct stage *stage = whole(
            run_toy(locks[i], (struct toy_faults){0},
                    (struct stage_wish){.readers = 50, .permits = 1, .bound = 2, .faults = 3},
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
            assert_true(fault->end_ns - fault->begin_ns >= 100 * LB_MS_NS);
        }
        stage_free(stage);
    }
}

/* The toy's grants when the pause was seen: of the paused client, and of all. -1: not seen yet. */
static int64_t paused_had, all_had;

static int64_t all_have(void) {
    int64_t sum = 0;
    for (int i = 0; i < 4; i++) sum += atomic_load(&toy_at->granted[i]);
    return sum;
}

/* The others went on for a while, and 400 ms at least. */
static bool others_went_on(const struct stage *stage) {
    if (stage->faults.count == 0) {
        paused_had = -1;
        return false;
    }
    const struct fault_event *fault = &stage->faults.events[0];
    if (paused_had < 0) {
        paused_had = atomic_load(&toy_at->granted[fault->process]);
        all_had = all_have();
    }
    return all_have() - all_had >= 100 && lb_now() - fault->begin_ns >= 400 * LB_MS_NS;
}

/* Evidence beside the sign: who stands still from the begin to the end is granted nothing. */
TEST(test_the_paused_does_not_run) {
    struct stage *stage = whole(
        run_toy(&toy_mutex, (struct toy_faults){0}, (struct stage_wish){.enough = others_went_on},
                SETS(PROCESSES, "fault.kind=pause", "fault.first=0", "fault.for=1h",
                     "load.keys=own", "acquire.lease=1h", "run.warmup=0", UNTIL_ENOUGH)));
    assert_int_equal(stage->faults.count, 1);
    assert_sign(&stage->faults.events[0], true, "stood still");
    /* It was planned, so that it is no stall of the load generator. */
    if (stage->hist[METRIC_HICCUP]->max >= 400 * LB_MS_NS)
        fail_msg("a hiccup of %ld ns", (long)stage->hist[METRIC_HICCUP]->max);
    /* when it was resumed the window was over: at most the attempt that it stood in was granted */
    int64_t has = atomic_load(&toy_kept.granted[stage->faults.events[0].process]);
    assert_in_range(has, paused_had, paused_had + 1);
    stage_free(stage);
}

/* How often each client's own program has come round: a process below the client's, in a group of its own. */
static struct programs { _Atomic int64_t rounds[TOY_CLIENTS]; } * programs;
static pid_t program; /* of this client */
static int64_t stood_at, others_at;
static bool program_stood;

static int program_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    uint32_t client = session->client % TOY_CLIENTS;
    pid_t parent = getpid();
    program = fork();
    if (program == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (; getppid() == parent; usleep(100)) atomic_fetch_add(&programs->rounds[client], 1);
        _exit(0);
    }
    return toy_connect(session, deadline_ns, err);
}

static void program_disconnect(struct lb_session *session) {
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    toy_disconnect(session);
}

/* The paused client's program has not come round once while those of others did so 500 times. */
static bool its_program_stands(const struct stage *stage) {
    if (stage->faults.count == 0) return false;
    int64_t rounds = atomic_load(&programs->rounds[stage->faults.events[0].process]), others = 0;
    for (int i = 0; i < 4; i++) others += atomic_load(&programs->rounds[i]);
    others -= rounds;
    if (rounds != stood_at) {
        stood_at = rounds;
        others_at = others;
    }
    program_stood = others - others_at >= 500;
    return program_stood;
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
    stood_at = -1;
    struct stage *stage = whole(
        run_toy(&lock, (struct toy_faults){0}, (struct stage_wish){.enough = its_program_stands},
                SETS(PROCESSES, "fault.kind=pause", "fault.first=0", "fault.for=1h",
                     "load.keys=own", "acquire.lease=1h", "run.warmup=0", UNTIL_ENOUGH)));
    assert_int_equal(stage->faults.count, 1);
    assert_sign(&stage->faults.events[0], true, "stood still");
    assert_true(program_stood);
    stage_free(stage);
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
    for (; getppid() == parent; usleep(1000)) {
        FILE *children = fopen(path, "r");
        int pid;
        while (children && fscanf(children, "%d", &pid) == 1)
            if (is_stopped(pid)) kill(pid, SIGCONT);
        if (children) fclose(children);
    }
    _exit(0);
}

static bool did_not_act(const struct stage *stage) {
    return stage->faults.count == 1 && !stage->faults.events[0].acted;
}

/* A meddler that got no processor for all of the pause did not meddle. */
TEST(test_a_pause_that_did_not_last_says_so) {
    pid_t meddler = start_meddler();
    struct stage *stage = whole(run_toy(&toy_mutex, (struct toy_faults){0},
                                        (struct stage_wish){.faults = 1, .until = did_not_act},
                                        SETS(PROCESSES, "fault.kind=pause", "fault.first=50ms",
                                             "fault.for=500ms", "acquire.lease=1h", UNTIL_ENOUGH)));
    kill(meddler, SIGKILL);
    waitpid(meddler, NULL, 0);
    assert_int_equal(stage->faults.count, 1);
    assert_sign(&stage->faults.events[0], false, "its heartbeat went on");
    stage_free(stage);
}

TEST(test_a_waiter_is_killed) {
    struct stage *stage = whole(
        run_toy(&toy_mutex, (struct toy_faults){0}, (struct stage_wish){.faults = 3},
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
    stage_free(stage);
}

TEST(test_a_killed_holder_leaves_its_lease) {
    struct stage *stage =
        whole(run_toy(&toy_mutex, (struct toy_faults){0}, (struct stage_wish){.faults = 1},
                      SETS(PROCESSES, "fault.kind=kill", "fault.target=holder", "fault.first=50ms",
                           "load.hold=5ms", "acquire.lease=400ms", UNTIL_ENOUGH)));
    assert_int_equal(stage->faults.count, 1);
    assert_sign(&stage->faults.events[0], true, "ended by signal 9");
    assert_int_equal(stage->faults.events[0].key, 0);
    /* The others had to wait for the lease to end: so it was held. */
    assert_true(stage->result.max_wait_ns > 200 * LB_MS_NS);
    assert_true(stage->exclusion.verdict != VERDICT_VIOLATED); /* late on a busy machine at most */
    stage_free(stage);
}

TEST(test_nobody_to_be_found) {
    struct stage *stage =
        whole(run_toy(&toy_mutex, (struct toy_faults){0}, (struct stage_wish){.faults = 1},
                      SETS(PROCESSES, "fault.kind=pause", "fault.target=holder", "fault.first=10ms",
                           "load.think=1h", "run.warmup=200ms", "run.drain=50ms", UNTIL_ENOUGH)));
    assert_int_equal(stage->faults.count, 1);
    assert_sign(&stage->faults.events[0], false, "no holder was found in 2 s");
    stage_free(stage);
}

/* All but the last one are dead: that it is spared is said. */
TEST(test_the_last_one_is_spared) {
    struct stage *stage =
        whole(run_toy(&toy_mutex, (struct toy_faults){0}, (struct stage_wish){.faults = 2},
                      SETS("load.clients=2", "load.processes=2", "load.threads=2",
                           "fault.kind=kill", "fault.first=50ms", "fault.every=100ms",
                           "fault.times=2", "acquire.lease=200ms", UNTIL_ENOUGH)));
    assert_int_equal(stage->faults.count, 2);
    assert_sign(&stage->faults.events[0], true, "ended by signal 9");
    assert_sign(&stage->faults.events[1], false, "no client is left");
    stage_free(stage);
}

static bool somebody_was_late(const struct stage *stage) {
    return stage->faults.count == 1 && stage->faults.events[0].acted &&
           (stage->exclusion.expired_holders + stage->exclusion.detected > 0 ||
            stage->result.lost > 0);
}

/* The hold outlasts the fault, however late the fault comes. */
static struct stage *starve(bool renew, const char *target) {
    char text[64];
    snprintf(text, sizeof text, "fault.target=%s", target);
    return whole(run_toy(
        &toy_mutex, (struct toy_faults){0},
        (struct stage_wish){.renew = renew, .faults = 1, .until = renew ? somebody_was_late : NULL},
        SETS("load.clients=2", "load.processes=1", "fault.kind=starve", text, "fault.first=50ms",
             "fault.for=400ms", "load.hold=600ms", "acquire.lease=150ms", UNTIL_ENOUGH)));
}

/* A holder outlives its lease when its renewals are held back, and does not while they are made. */
TEST(test_renewals_are_held_back) {
    static const char *const targets[] = {"holder", "all"};
    for (int i = 0; i < 2; i++) {
        struct stage *stage = starve(true, targets[i]);
        assert_int_equal(stage->faults.count, 1);
        assert_sign(&stage->faults.events[0], true, " held back");
        if (i == 0) assert_in_range(stage->faults.events[0].client, 0, 1);
        assert_true(somebody_was_late(stage));
        assert_int_equal(stage->exclusion.double_holders, 0);
        stage_free(stage);
    }
    struct stage *stage = starve(false, "holder");
    assert_int_equal(stage->faults.count, 1);
    assert_sign(&stage->faults.events[0], false, "nothing renews here");
    stage_free(stage);
}

/* Servers and wires that there are none of. */
TEST(test_what_is_not_there_is_said) {
    struct stage *stage =
        whole(run_toy(&toy_mutex, (struct toy_faults){0}, (struct stage_wish){.faults = 2},
                      SETS("fault.kind=server-kill", "fault.first=10ms", "fault.2.kind=wire-reset",
                           "fault.2.target=all", "fault.2.first=20ms", UNTIL_ENOUGH)));
    assert_int_equal(stage->faults.count, 2);
    assert_sign(&stage->faults.events[0], false, "no server that lockbench started");
    assert_sign(&stage->faults.events[1], false, "no such wire");
    assert_int_equal(stage->faults.events[1].section, 1);
    json_t *json = fault_log_json(&stage->faults, stage->window_begin_ns);
    assert_true(json_is_null(json_object_get(json_array_get(json, 0), "process")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(json, 1), "section")),
                        "fault.2");
    assert_false(json_is_true(json_object_get(json_array_get(json, 1), "acted")));
    json_decref(json);
    stage_free(stage);
}

/* The first grants began before the first fault, so that the next ones come after 600 ms. */
static bool holds_began_first(const struct stage *stage) {
    return stage->faults.count == 3 &&
           stage->faults.events[1].begin_ns - stage->window_begin_ns >= 590 * LB_MS_NS;
}

/* A section that waits for a holder, and one below it that keeps its distance. */
TEST(test_the_order_of_sections_stays) {
    struct stage *stage =
        whole(run_toy(&toy_mutex, (struct toy_faults){0},
                      (struct stage_wish){.faults = 3, .until = holds_began_first},
                      SETS(PROCESSES, "fault.kind=pause", "fault.first=100ms", "fault.for=50ms",
                           "fault.2.kind=pause", "fault.2.first=150ms", "fault.2.after=holder",
                           "fault.2.for=30ms", "fault.3.kind=pause", "fault.3.first=250ms",
                           "fault.3.for=30ms", "load.keys=own", "load.hold=600ms",
                           "acquire.lease=10s", "run.warmup=0", UNTIL_ENOUGH)));
    assert_int_equal(stage->faults.count, 3);
    const struct fault_event *f = stage->faults.events;
    for (int i = 0; i < 3; i++) assert_int_equal(f[i].section, i);
    assert_true(holds_began_first(stage));
    assert_true(f[2].begin_ns - f[1].begin_ns >= 99 * LB_MS_NS);
    stage_free(stage);
}

TEST(test_a_seed_gives_the_same_times) {
    struct plan_fault plan = {.kind = INJECT_KILL,
                              .first = {LB_S_NS, 5 * LB_S_NS},
                              .every = {LB_MS_NS, LB_S_NS},
                              .times = 20};
    int same = 0, other_section = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fault_clock a, b, c;
        fault_clock_begin(&a, &plan, seed, 0, 1000);
        fault_clock_begin(&b, &plan, seed, 0, 1000);
        fault_clock_begin(&c, &plan, seed, 1, 1000);
        assert_in_range(a.next_ns, 1000 + LB_S_NS, 1000 + 5 * LB_S_NS);
        for (int i = 0; i < 20; i++) {
            int64_t before_ns = a.next_ns;
            assert_true(a.next_ns < LB_NEVER);
            same += a.next_ns == b.next_ns;
            other_section += a.next_ns == c.next_ns;
            fault_clock_next(&a, &plan);
            fault_clock_next(&b, &plan);
            fault_clock_next(&c, &plan);
            if (i < 19) assert_in_range(a.next_ns - before_ns, LB_MS_NS, LB_S_NS);
        }
        assert_int_equal(a.next_ns, LB_NEVER); /* twenty times */
    }
    assert_int_equal(same, 400);
    assert_true(other_section < 10);
    plan = (struct plan_fault){.kind = INJECT_KILL, .first = {5, 5}};
    struct fault_clock once;
    fault_clock_begin(&once, &plan, 1, 0, 10);
    assert_int_equal(once.next_ns, 15);
    fault_clock_next(&once, &plan);
    assert_int_equal(once.next_ns, LB_NEVER);
    plan.kind = INJECT_NONE;
    fault_clock_begin(&once, &plan, 1, 0, 10);
    assert_int_equal(once.next_ns, LB_NEVER);
}

TEST_MAIN(NULL, NULL)
