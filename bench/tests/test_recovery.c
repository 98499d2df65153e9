/* test_recovery: what faults cost, and which grants they put to the test, from histories and injections that are told here:
 * nothing runs. */
#include "bench/evidence/recovery.h"
#include "bench/load/observe.h"
#include "bench/tests/history_say.h"

#define LEASE_MS 100

static struct lb_lock lock;
static struct plan_lock entry;
static struct plan plan;
static struct shared shared;
static struct fault_event events[4];
static struct fault_log faults;
static struct recovery recovery;

/* Clients 0 to 3 are of process 0, 4 to 7 of process 1. */
static void begin_story(void) {
    begin_mutex();
    tell_unit_ns = 1e6;
    lock = (struct lb_lock){.name = "a", .about = {.crash = LB_CRASH_LEASE}};
    entry = (struct plan_lock){.lock = &lock};
    plan = (struct plan){.hold = {.mean_ns = 300 * LB_MS_NS}};
    memset(&shared, 0, sizeof shared);
    shared.plan = &plan;
    shared.lease_ns = LEASE_MS * LB_MS_NS;
    shared.lock = &entry;
    shared.clients = CLIENTS;
    shared.threads = 4;
    shared.processes = 2;
    faults = (struct fault_log){.events = events};
}

static int64_t ns_of(double ms) {
    return (int64_t)(ms * 1e6);
}

/* "KIND[/TARGET] PROCESS BEGIN END [GONE]"; process -1: no particular one; a kind with ! did not act. */
static void tell_fault(const char *words) {
    struct fault_event *event = &events[faults.count++];
    char kind[40], *target;
    int process;
    double begin_ms, end_ms, gone_ms = 0;
    assert_in_range(
        sscanf(words, "%39s %d %lf %lf %lf", kind, &process, &begin_ms, &end_ms, &gone_ms), 4, 5);
    *event = (struct fault_event){.target = "holder",
                                  .process = process,
                                  .node = -1,
                                  .begin_ns = ns_of(begin_ms),
                                  .end_ns = ns_of(end_ms),
                                  .gone_ns = ns_of(gone_ms),
                                  .acted = !strchr(kind, '!')};
    target = strchr(kind, '/');
    if (target) snprintf(event->target, sizeof event->target, "%s", target + 1);
    kind[strcspn(kind, "/!")] = '\0';
    while (strcmp(injections[event->kind].name, kind) != 0) event->kind++;
}

/* The steps of these stories alone. The death of a process is a fault, and its clients' death. */
static bool tell_own(char *step) {
    char fault[60];
    int client, ms;
    if (strncmp(step, "fault ", 6) == 0)
        tell_fault(step + 6);
    else if (sscanf(step, "slack %d", &ms) == 1)
        lock.about.crash_slack_ns = ms * LB_MS_NS;
    else if (strcmp(step, "fair") == 0)
        lock.caps = LB_CAP_FAIR;
    else if (sscanf(step, "%d+4 killed %d", &client, &ms) == 2) {
        snprintf(fault, sizeof fault, "kill %d %d %d", client / 4, ms, ms);
        tell_fault(fault);
        return false;
    } else
        return false;
    return true;
}

/* The window ends after a second. */
static void compute(void) {
    book.rules.end_ns = 1000 * LB_MS_NS;
    book_end(&book, tell_dropped, true);
    uint32_t *order = order_holds(&book, false, &err);
    assert_non_null(order);
    struct aftermath after = {&book, order, &faults, &shared, &recovery, &err, NULL};
    assert_int_equal(recovery_compute(&after), 0);
    free(order);
}

static int put_list(char *text, const char *name, const struct times *times) {
    int used = sprintf(text, "%s ", name);
    for (int i = 0; i < times->count; i++)
        used += sprintf(text + used, "%s%g", i ? "," : "", (double)times->ns[i] / 1e6);
    return used + sprintf(text + used, "%s|", times->count ? "" : "none");
}

/* Each of the figures, "trials 100,250 | lost 1", is that of the recovery, in ms. */
static void assert_summed(const char *figures) {
    char all[600];
    int used = sprintf(all, "|");
    used += put_list(all + used, "trials", &recovery.trials);
    used += put_list(all + used, "crashes", &recovery.crashes);
    sprintf(all + used,
            "unrecovered %d|unasked %d|theory_max %g|lost %d|wakeups %s|lost_wakeups %d|",
            recovery.unrecovered, recovery.unasked,
            recovery.theory_max_ns < 0 ? -1 : (double)recovery.theory_max_ns / 1e6,
            (int)recovery.grants_lost, recovery.wakeups_known ? "known" : "unknown",
            (int)recovery.lost_wakeups);
    assert_figures(all, figures);
}

static void check_recovery(const char *story, const char *figures) {
    begin_story();
    tell(story, tell_own);
    compute();
    assert_summed(figures);
    recovery_done(&recovery);
    book_done(&book);
}

TEST(what_faults_cost) {
    check_file("recovery", check_recovery);
}

/* The stall of a thread whose lock has leases and no sessions: what the thread records at the beat after it. */
TEST(a_waiter_whose_thread_stood_still) {
    static struct worker_stats worker;
    const struct oplog_record *records;
    uint64_t tail = 0;
    void *memory = aligned_alloc(64, (oplog_bytes(1, true) + 63) & ~(size_t)63);
    assert_non_null(memory);
    memset(memory, 0, oplog_bytes(1, true));
    memset(&worker, 0, sizeof worker);
    begin_story();
    lock.caps = LB_CAP_LEASE;
    shared.threads = shared.processes = 1;
    shared.worker = &worker;
    shared.oplog = oplog_init(memory, 1, true);
    shared.recorded = true;
    atomic_store(&worker.beat_ns, 190 * LB_MS_NS);
    trace_beat(&shared, 0, 240 * LB_MS_NS); /* not longer than half a lease */
    assert_int_equal(oplog_rest(&shared.oplog->rings[0], &tail, &records), 0);
    trace_beat(&shared, 0, 280 * LB_MS_NS);
    tell("1 held 90 100 200; 5 held 150 300 310", NULL);
    assert_int_equal(oplog_rest(&shared.oplog->rings[0], &tail, &records), 1);
    add(records[0]);
    compute();
    assert_summed("lost_wakeups 0");
    /* by design */
    lock.caps |= LB_CAP_BLOCKS_THREAD;
    trace_beat(&shared, 0, 290 * LB_MS_NS);
    assert_int_equal(oplog_rest(&shared.oplog->rings[0], &tail, &records), 0);
    free(memory);
    recovery_done(&recovery);
    book_done(&book);
}

static void check_trials(const char *story, const char *figures) {
    char tested[30];
    begin_story();
    tell(story, tell_own);
    compute();
    snprintf(tested, sizeof tested, "|tested %d|", (int)events[0].tested);
    assert_figures(tested, figures);
    recovery_done(&recovery);
    book_done(&book);
}

TEST(grants_that_a_fault_put_to_the_test) {
    check_file("trials", check_trials);
}

TEST_MAIN(NULL, NULL)
