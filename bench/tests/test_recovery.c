/* test_recovery: what faults cost, from histories and injections that are told here: nothing runs. */
#include "bench/load/observe.h"
#include "bench/oplog/order.h"
#include "bench/run/recovery.h"
#include "bench/tests/history_say.h"

#define MS LB_MS_NS
#define LEASE (100 * MS)
#define NOWHERE (-1) /* a fault of no particular process */

static struct lb_lock lock;
static struct plan_lock entry;
static struct plan plan;
static struct shared shared;
static struct fault_event events[4];
static struct stage stage;
static struct recovery recovery;

/* Clients 0 to 3 are of process 0, 4 to 7 of process 1. The window ends after a second. */
FIXTURE(set_up) {
    begin_as(OPLOG_MUTEX, 1, false);
    lock = (struct lb_lock){.name = "a", .about = {.crash = LB_CRASH_LEASE}};
    entry = (struct plan_lock){.lock = &lock};
    plan = (struct plan){.lease_ns = LEASE};
    memset(&shared, 0, sizeof shared);
    shared.plan = &plan;
    shared.lock = &entry;
    shared.clients = CLIENTS;
    shared.threads = 4;
    shared.processes = 2;
    stage = (struct stage){.faults = {.events = events}};
    return 0;
}

FIXTURE(tear_down) {
    recovery_done(&recovery);
    return end(state);
}

#define STORY(name) TEST_WITH(name, set_up, tear_down)

static struct fault_event *fault(enum injection kind, int process, int begin_ms, int end_ms) {
    struct fault_event *event = &events[stage.faults.count++];
    *event = (struct fault_event){.kind = kind,
                                  .target = "holder",
                                  .process = process,
                                  .node = -1,
                                  .begin_ns = begin_ms * MS,
                                  .end_ns = end_ms * MS,
                                  .acted = true};
    return event;
}

static void killed(int process, int at_ms) {
    fault(INJECT_KILL, process, at_ms, at_ms);
    happened(OPLOG_DEATH, process ? 4 : 0, 4, at_ms * MS, at_ms * MS);
}

/* A grant of key 0 that was released at once when its time was over. */
static void held(uint32_t client, int called_ms, int from_ms, int to_ms) {
    got(client, called_ms * MS, from_ms * MS);
    released(client, to_ms * MS, to_ms * MS);
}

static void held_as_reader(uint32_t client, int called_ms, int from_ms, int to_ms) {
    add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                              .flags = OPLOG_SHARED,
                              .client = client,
                              .begin_ns = called_ms * MS,
                              .end_ns = from_ms * MS});
    if (to_ms) released(client, to_ms * MS, to_ms * MS);
}

static void compute_with(uint64_t dropped) {
    recovery_done(&recovery);
    book.rules.end_ns = 1000 * MS;
    book_end(&book, dropped, true);
    uint32_t *order = order_holds_from(&book, &err);
    assert_non_null(order);
    assert_int_equal(recovery_compute(&recovery, &book, order, &stage, &shared, &err), 0);
    free(order);
}

static void compute(void) {
    compute_with(0);
}

static void assert_list(const int64_t *list_ns, int count, const int *expected_ms, int expected) {
    assert_int_equal(count, expected);
    for (int i = 0; i < count; i++) assert_int_equal(list_ns[i], expected_ms[i] * MS);
}

#define LIST(...) (const int[]){__VA_ARGS__}, (int)(sizeof(int[]){__VA_ARGS__} / sizeof(int))
#define assert_trials(...) assert_list(recovery.trials_ns, recovery.trial_count, LIST(__VA_ARGS__))
#define assert_crashes(...)                                                                        \
    assert_list(recovery.crashes_ns, recovery.crash_count, LIST(__VA_ARGS__))
#define assert_detected(...)                                                                       \
    assert_list(recovery.detect_ns, recovery.detect_count, LIST(__VA_ARGS__))

/* ---- trials ---- */

/* The key may have been free for as long as nobody asked for it; not where the client that got it waited for it, or where
 * another one asked before. */
STORY(a_key_that_nobody_asked_for) {
    static const struct {
        int called_ms, from_ms,
            tried_ms; /* tried_ms: the end of a try in vain, of 10 ms; 0 = there was none */
        bool tells;
    } cases[] = {{120, 901, 0, true},    {900, 901, 0, false},  {400, 901, 0, true},
                 {900, 901, 700, false}, {900, 901, 890, true}, {240, 241, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        become(OPLOG_MUTEX, 1, false);
        stage.faults.count = 0;
        got(1, 90 * MS, 100 * MS);
        killed(0, 150);
        if (cases[i].tried_ms)
            tried(6, (cases[i].tried_ms - 10) * MS, cases[i].tried_ms * MS, OPLOG_BUSY);
        held(5, cases[i].called_ms, cases[i].from_ms, 950);
        compute();
        assert_int_equal(recovery.trial_count, cases[i].tells);
        assert_int_equal(recovery.unasked, !cases[i].tells);
        if (cases[i].tells) assert_trials(cases[i].from_ms - 150);
        assert_int_equal(recovery.unrecovered, 0);
    }
}

/* A client that died with the holder waited for the same key, and its wait is recorded until the end. */
STORY(who_died_with_the_holder_asks_no_more) {
    for (int i = 0; i < 4; i++) {
        bool kill = i & 1, granted = i & 2;
        become(OPLOG_MUTEX, 1, false);
        stage.faults.count = 0;
        got(1, 90 * MS, 100 * MS);
        if (kill) killed(0, 150);
        if (!kill) fault(INJECT_PAUSE, 0, 150, 160);
        tried(2, 120 * MS, 990 * MS, OPLOG_UNKNOWN);
        if (granted) held(5, 900, 901, 950);
        compute();
        assert_int_equal(recovery.unrecovered, !granted && !kill);
        assert_int_equal(recovery.unasked, granted && kill);
        assert_int_equal(recovery.trial_count, granted && !kill);
    }
}

STORY(a_killed_holder) {
    got(1, 90 * MS, 100 * MS);
    killed(0, 150);
    held(5, 120, 400, 410);
    for (int at_ms = 450; at_ms < 1000; at_ms += 50) held(4, at_ms, at_ms, at_ms + 10);
    compute();
    assert_trials(250);
    assert_crashes(250);
    assert_int_equal(recovery.unrecovered, 0);
    assert_int_equal(recovery.unavailable_ns, 250 * MS);
    assert_int_equal(recovery.lost_wakeups, 0);
    assert_int_equal(recovery.never, 0);
    assert_int_equal(recovery.theory_max_ns, LEASE);
}

STORY(nobody_gets_the_key_any_more) {
    got(1, 90 * MS, 100 * MS);
    killed(0, 150);
    tried(5, 120 * MS, 1200 * MS, OPLOG_TIMEOUT);
    compute();
    assert_int_equal(recovery.trial_count, 0);
    assert_int_equal(recovery.unrecovered, 1);
    assert_int_equal(recovery.unavailable_ns, 850 * MS);
}

/* A lock can't be blamed for a key that nobody wants any more: who tried had given up before, or is the victim itself. */
STORY(nobody_asks_for_the_key_any_more) {
    got(1, 90 * MS, 100 * MS);
    tried(5, 110 * MS, 140 * MS, OPLOG_BUSY);
    fault(INJECT_PAUSE, 0, 150, 350);
    released(1, 360 * MS, 360 * MS);
    tried(1, 370 * MS, 380 * MS, OPLOG_TIMEOUT);
    add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                              .outcome = OPLOG_TIMEOUT,
                              .client = 4,
                              .key = 1,
                              .begin_ns = 200 * MS,
                              .end_ns = 900 * MS});
    compute();
    assert_int_equal(recovery.trial_count, 0);
    assert_int_equal(recovery.unrecovered, 0);
}

/* Another key's grants, and the victim's own, are no recovery. */
STORY(only_another_client_and_only_that_key) {
    fault(INJECT_PAUSE, 0, 150, 350);
    held(1, 90, 100, 360);
    held(1, 361, 365, 370);
    add((struct oplog_record){
        .kind = OPLOG_ACQUIRE, .client = 4, .key = 1, .begin_ns = 200 * MS, .end_ns = 210 * MS});
    held(5, 120, 500, 510);
    compute();
    assert_trials(350);
    assert_int_equal(recovery.crash_count, 0);
    assert_int_equal(recovery.unrecovered, 0);
}

STORY(two_kills_are_two_trials_in_order) {
    got(1, 90 * MS, 100 * MS);
    killed(0, 150);
    got(5, 120 * MS, 400 * MS);
    fault(INJECT_PAUSE, 1, 420, 500);
    released(5, 510 * MS, 510 * MS);
    held(6, 515, 520, 530);
    compute();
    assert_trials(100, 250);
    assert_crashes(250);
}

/* A grant of another process, one that ended before the fault or began after it, and a fault that did not act. */
STORY(who_is_no_victim) {
    fault(INJECT_PAUSE, 0, 150, 350);
    fault(INJECT_PAUSE, 1, 180, 350)->acted = false;
    held(1, 90, 100, 140);
    held(5, 90, 145, 200);
    held(2, 90, 210, 220);
    compute();
    assert_int_equal(recovery.trial_count, 0);
    assert_int_equal(recovery.unrecovered, 0);
}

/* Nobody knows which permit the next grant is; slots have names. */
STORY(permits_and_slots) {
    for (int by_slot = 0; by_slot < 2; by_slot++) {
        become(OPLOG_SEMAPHORE, 2, by_slot);
        stage.faults.count = 0;
        got(1, 90 * MS, 100 * MS);
        killed(0, 150);
        held(5, 120, 400, 410);
        compute();
        assert_int_equal(recovery.trial_count, by_slot);
        assert_false(recovery.wakeups_known);
    }
}

STORY(a_fault_of_servers) {
    fault(INJECT_SERVER_KILL, NOWHERE, 100, 600)->gone_ns = 150 * MS;
    held(1, 10, 120, 121);              /* the server was not gone yet */
    got(2, 10 * MS, 150 * MS + MS / 2); /* its answer was under way */
    released(2, 152 * MS, 152 * MS);
    compute();
    assert_int_equal(recovery.trial_count, 0);
    assert_int_equal(recovery.unrecovered, 1);
    assert_int_equal(recovery.theory_max_ns, -1); /* nothing is promised */
}

STORY(a_fault_of_servers_that_is_over) {
    fault(INJECT_SERVER_KILL, NOWHERE, 100, 200)->gone_ns = 150 * MS;
    held(1, 10, 120, 121);
    held(3, 130, 300, 301);
    compute();
    assert_trials(200);
    assert_int_equal(recovery.crash_count, 0); /* of clients */
    assert_int_equal(recovery.unrecovered, 0);
    assert_int_equal(recovery.unavailable_ns, 170 * MS); /* from 130: before, nobody asked */
}

/* A fault between servers leaves clients their grants; one after the window says nothing. */
STORY(faults_that_take_no_service_away) {
    strcpy(fault(INJECT_WIRE_CUT, NOWHERE, 100, 200)->target, "replication");
    fault(INJECT_CLOCK, NOWHERE, 100, 100);
    compute();
    assert_int_equal(recovery.unrecovered, 0);
    assert_int_equal(recovery.unavailable_ns, 0); /* nobody asked */
    become(OPLOG_MUTEX, 1, false);
    stage.faults.count = 0;
    fault(INJECT_SERVER_KILL, NOWHERE, 1000, 1100);
    compute();
    assert_int_equal(recovery.unrecovered, 0);
    assert_int_equal(recovery.unavailable_ns, -1);
}

/* ---- the longest time without a grant ---- */

/* The server is away from 100 to 300. Afterwards each of two clients holds for 200 ms while the other one waits: that
 * time is the workload's. */
static void tell_long_holds(void) {
    stage.faults.count = 0;
    fault(INJECT_SERVER_KILL, NOWHERE, 100, 200)->gone_ns = 100 * MS;
    held(1, 40, 50, 90);
    held(5, 60, 300, 500);
    held(1, 95, 501, 700);
    held(5, 505, 703, 990);
}

STORY(a_live_holder_is_no_outage) {
    tell_long_holds();
    compute();
    assert_int_equal(recovery.unavailable_ns, 200 * MS);
}

/* A client that stands still while it holds keeps the key from the others all the same. */
STORY(a_holder_that_stands_still_is_an_outage) {
    tell_long_holds();
    events[0].begin_ns = 200 * MS;
    happened(OPLOG_STALL, 4, 4, 310 * MS, 510 * MS);
    compute();
    assert_int_equal(recovery.unavailable_ns, 191 * MS); /* 310 to 501 */
}

/* Permits: which of them is free is not known, so all time between two grants counts. */
STORY(outages_of_permits) {
    become(OPLOG_SEMAPHORE, 2, false);
    tell_long_holds();
    compute();
    assert_int_equal(recovery.unavailable_ns, 201 * MS); /* 300 to 501 */
}

/* Grants of another key interrupt an outage; that key's long hold does not hide it. */
STORY(outages_of_several_keys) {
    fault(INJECT_WIRE_DELAY, NOWHERE, 100, 110);
    held(1, 10, 50, 80);
    add((struct oplog_record){
        .kind = OPLOG_ACQUIRE, .client = 4, .key = 1, .begin_ns = 90 * MS, .end_ns = 250 * MS});
    held(5, 70, 600, 610);
    compute();
    assert_int_equal(recovery.unavailable_ns, 350 * MS);
}

/* Attempts that ended without a grant asked for the key as well. */
STORY(outages_in_which_attempts_fail) {
    fault(INJECT_WIRE_DELAY, NOWHERE, 100, 110);
    held(1, 10, 50, 60);
    for (int at_ms = 150; at_ms < 300; at_ms += 20)
        tried(2, at_ms * MS, (at_ms + 1) * MS, OPLOG_BUSY);
    held(1, 390, 400, 410);
    tried(2, 900 * MS, 1100 * MS, OPLOG_TIMEOUT);
    compute();
    assert_int_equal(recovery.unavailable_ns, 250 * MS);
    become(OPLOG_MUTEX, 1, false);
    tried(2, 700 * MS, 1100 * MS, OPLOG_TIMEOUT); /* nobody was ever granted it */
    compute();
    assert_int_equal(recovery.unavailable_ns, 300 * MS);
}

STORY(without_faults_nothing_recovers) {
    held(1, 90, 100, 110);
    compute();
    assert_int_equal(recovery.unavailable_ns, -1);
    assert_int_equal(recovery.trial_count + recovery.unrecovered, 0);
}

/* Other readers get in beside the dead one: that is no recovery. A writer could not. */
STORY(a_killed_reader) {
    become(OPLOG_RWLOCK, 1, false);
    held_as_reader(1, 90, 100, 0);
    killed(0, 150);
    held_as_reader(5, 160, 161, 170);
    compute();
    assert_int_equal(recovery.trial_count, 0);
    assert_int_equal(recovery.unrecovered, 0); /* nobody whom it kept out may have asked */
    become(OPLOG_RWLOCK, 1, false);
    held_as_reader(1, 90, 100, 0);
    happened(OPLOG_DEATH, 0, 4, 150 * MS, 150 * MS);
    held_as_reader(5, 160, 161, 170);
    held(6, 120, 400, 410);
    compute();
    assert_trials(250);
    assert_int_equal(recovery.lost_wakeups, 0); /* the writer waited for the dead reader */
}

/* ---- losses ---- */

STORY(losses_and_when_they_were_known) {
    got_lease(1, 90 * MS, 100 * MS, 200 * MS);
    left(1, 250 * MS, 250 * MS, OPLOG_LOST, OPLOG_UNCALLED | OPLOG_LEARNED);
    got_lease(2, 290 * MS, 300 * MS, 400 * MS);
    left(2, 450 * MS, 480 * MS, OPLOG_LOST, 0); /* the answer to its release told it */
    got_lease(3, 490 * MS, 500 * MS, 600 * MS);
    left(3, 550 * MS, 550 * MS, OPLOG_LOST, OPLOG_UNCALLED | OPLOG_LEARNED); /* in good time */
    compute();
    assert_int_equal(recovery.grants_lost, 3);
    assert_detected(0, 50, 80);
    assert_int_equal(recovery.never, 0);
}

/* Without a lease the next grant shows when it was lost; without one nobody knows. */
STORY(losses_without_a_lease) {
    got(1, 90 * MS, 100 * MS);
    held(5, 140, 150, 160);
    left(1, 250 * MS, 260 * MS, OPLOG_LOST, 0);
    compute();
    assert_int_equal(recovery.grants_lost, 1);
    assert_detected(110);
    become(OPLOG_MUTEX, 1, false);
    got(1, 90 * MS, 100 * MS);
    left(1, 250 * MS, 260 * MS, OPLOG_LOST, 0);
    compute();
    assert_int_equal(recovery.grants_lost, 1);
    assert_int_equal(recovery.detect_count, 0);
}

STORY(who_never_learns) {
    got(1, 90 * MS, 100 * MS);
    held(5, 140, 150, 160);
    released(1, 250 * MS, 260 * MS); /* met, and told that all was well */
    got(2, 290 * MS, 300 * MS);
    killed(0, 350); /* met, and dead */
    held(5, 320, 340, 345);
    compute();
    assert_int_equal(recovery.never, 1);
    assert_int_equal(recovery.grants_lost, 0);
    become(OPLOG_RWLOCK, 1, false);
    held_as_reader(1, 90, 100, 200);
    held_as_reader(5, 90, 150, 200); /* readers may meet */
    compute();
    assert_int_equal(recovery.never, 0);
}

/* ---- lost wake-ups: half a lease is 50 ms ---- */

static uint64_t lost_wakeups(int called_ms, int from_ms) {
    become(OPLOG_MUTEX, 1, false);
    held(1, 90, 100, 200);
    held(5, called_ms, from_ms, from_ms + 10);
    compute();
    assert_true(recovery.wakeups_known);
    return recovery.lost_wakeups;
}

STORY(a_free_key_that_its_waiter_does_not_get) {
    assert_int_equal(lost_wakeups(150, 251), 1);
    assert_int_equal(lost_wakeups(150, 250), 0);
    assert_int_equal(lost_wakeups(201, 300), 0); /* it came later */
    fault(INJECT_PAUSE, 1, 210, 240);
    assert_int_equal(lost_wakeups(150, 300), 0); /* it stood still itself */
    events[0].process = 0;
    assert_int_equal(lost_wakeups(150, 300), 1); /* others stood still */
    lock.caps = LB_CAP_FAIR;
    assert_int_equal(lost_wakeups(150, 300), 0); /* one of them may have been first in the queue */
    lock.caps = 0;
    events[0] = (struct fault_event){
        .kind = INJECT_WIRE_DROP, .process = -1, .begin_ns = 210 * MS, .end_ns = 240 * MS};
    assert_int_equal(lost_wakeups(150, 300), 1); /* a lost message is the cause, no excuse */
    events[0].kind = INJECT_WIRE_CUT;
    assert_int_equal(lost_wakeups(150, 300), 0);
    events[0].begin_ns = events[0].end_ns = 90 * MS; /* over for longer than a lease: 190 */
    assert_int_equal(lost_wakeups(150, 300), 1);
    events[0].end_ns = 0; /* it never ended */
    assert_int_equal(lost_wakeups(150, 300), 0);
}

STORY(a_stalled_waiter) {
    static const struct {
        uint32_t stalled, caps;
        uint64_t lost;
    } cases[] = {{4, 0, 0}, {0, 0, 1}, {0, LB_CAP_FAIR, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        become(OPLOG_MUTEX, 1, false);
        lock.caps = cases[i].caps;
        held(1, 90, 100, 200);
        held(5, 150, 300, 310);
        happened(OPLOG_STALL, cases[i].stalled, 4, 190 * MS, 280 * MS);
        compute();
        assert_int_equal(recovery.lost_wakeups, cases[i].lost);
    }
}

/* The next grant shows that the dead holder's is over. The holder is the first client of its process. */
STORY(after_a_dead_holders_successor_it_is_known_again) {
    got(0, 10 * MS, 20 * MS);
    killed(0, 50);
    held(5, 60, 160, 200);
    held(4, 150, 300, 310);
    compute();
    assert_trials(110);
    assert_int_equal(recovery.lost_wakeups, 1);
}

/* The stall of a thread whose lock has leases and no sessions: what the thread records at the beat after it. */
STORY(a_waiter_whose_thread_stood_still) {
    static struct worker_stats worker;
    const struct oplog_record *records;
    uint64_t tail = 0;
    void *memory = aligned_alloc(64, (oplog_bytes(1, true) + 63) & ~(size_t)63);
    assert_non_null(memory);
    memset(memory, 0, oplog_bytes(1, true));
    memset(&worker, 0, sizeof worker);
    lock.caps = LB_CAP_LEASE;
    shared.threads = shared.processes = 1;
    shared.worker = &worker;
    shared.oplog = oplog_init(memory, 1, true);
    shared.recorded = true;
    atomic_store(&worker.beat_ns, 190 * MS);
    trace_beat(&shared, 0, 240 * MS); /* not longer than half a lease */
    assert_int_equal(oplog_rest(&shared.oplog->rings[0], &tail, &records), 0);
    trace_beat(&shared, 0, 280 * MS);
    held(1, 90, 100, 200);
    held(5, 150, 300, 310);
    assert_int_equal(oplog_rest(&shared.oplog->rings[0], &tail, &records), 1);
    add(records[0]);
    compute();
    assert_int_equal(recovery.lost_wakeups, 0);
    /* by design */
    lock.caps |= LB_CAP_BLOCKS_THREAD;
    trace_beat(&shared, 0, 290 * MS);
    assert_int_equal(oplog_rest(&shared.oplog->rings[0], &tail, &records), 0);
    free(memory);
}

/* Whoever died or lost its grant left the key at a time that nobody knows. */
STORY(since_when_it_is_free_is_not_known) {
    got(1, 90 * MS, 100 * MS);
    left(1, 110 * MS, 110 * MS, OPLOG_LOST, 0);
    held(5, 105, 300, 310);
    compute();
    assert_int_equal(recovery.lost_wakeups, 0);
    become(OPLOG_MUTEX, 1, false);
    held(1, 90, 100, 200);
    held(5, 150, 300, 310);
    compute_with(1); /* records are missing */
    assert_false(recovery.wakeups_known);
}

/* Who asked for two keys waits for the one that is held, and does not get the free one either. */
STORY(a_free_key_of_several) {
    book.rules.many_keys = true;
    held(1, 90, 100, 200);
    held(5, 150, 300, 310);
    compute();
    assert_false(recovery.wakeups_known);
}

/* A waiter was killed, and the lock may have granted it the key: the next one waited for the end of that grant, which
 * may come after a lease and the lock's slack. Long after that end no dead client explains a wait. */
STORY(a_killed_waiter_may_have_got_the_key) {
    static const struct {
        int from_ms, slack_ms;
        uint64_t lost;
    } cases[] = {{310, 0, 0}, {900, 0, 1}, {850, 500, 0}, {900, 500, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        become(OPLOG_MUTEX, 1, false);
        stage.faults.count = 0;
        lock.about.crash_slack_ns = cases[i].slack_ms * MS;
        held(5, 90, 100, 200);
        killed(0, 210);
        tried(1, 120 * MS, 210 * MS, OPLOG_UNKNOWN);
        held(6, 150, cases[i].from_ms, 950);
        compute();
        assert_int_equal(recovery.lost_wakeups, cases[i].lost);
    }
}

TEST_MAIN(NULL, NULL)
