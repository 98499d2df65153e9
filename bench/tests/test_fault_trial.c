/* test_fault_trial: which grants a fault put to the test, from histories that are told here: nothing runs. */
#include "bench/oplog/order.h"
#include "bench/run/recovery.h"
#include "bench/tests/history_say.h"

#define MS LB_MS_NS
#define NOWHERE (-1) /* a fault of no particular process */

static struct plan plan;
static struct shared shared;
static struct fault_event event;

/* Clients 0 to 3 are of process 0, 4 to 7 of process 1. A hold is meant to last for 300 ms. */
FIXTURE(set_up) {
    begin_as(OPLOG_MUTEX, 1, false);
    plan = (struct plan){.hold = {.mean_ns = 300 * MS}};
    memset(&shared, 0, sizeof shared);
    shared.plan = &plan;
    shared.clients = CLIENTS;
    shared.threads = 4;
    shared.processes = 2;
    return 0;
}

#define STORY(name) TEST_WITH(name, set_up, end)

/* At 1000 ms. */
static void fault(enum injection kind, int process, const char *target) {
    event = (struct fault_event){
        .kind = kind, .process = process, .node = -1, .begin_ns = 1000 * MS, .acted = true};
    snprintf(event.target, sizeof event.target, "%s", target);
}

/* Client 1 has held since 900 ms, and leaves at to_ms; release returns at returned_ms. */
static void held_until(int to_ms, int returned_ms, enum oplog_outcome outcome) {
    got(1, 890 * MS, 900 * MS);
    left(1, to_ms * MS, returned_ms * MS, outcome, 0);
}

static void granted(uint32_t client, int called_ms, int from_ms) {
    got(client, called_ms * MS, from_ms * MS);
    released(client, (from_ms + 1) * MS, (from_ms + 1) * MS);
}

/* Returns of how many grants the fault was a trial, and empties the book for the next story. */
static int64_t tested_of(void) {
    struct fault_log log = {.events = &event, .count = 1};
    book.rules.end_ns = 9000 * MS;
    book_end(&book, 0, true);
    uint32_t *order = order_holds_from(&book, &err);
    assert_non_null(order);
    assert_int_equal(fault_trials_count(&log, &book, order, &shared, &err), 0);
    free(order);
    become(OPLOG_MUTEX, 1, false);
    return event.tested;
}

/* The new leader answers only when the holder has left, and the holder did not hear whether its grant was known. */
STORY(a_holder_that_left_before_the_servers_were_back_met_nobody) {
    fault(INJECT_SERVER_KILL, NOWHERE, "leader");
    held_until(1200, 1400, OPLOG_UNKNOWN);
    granted(5, 1100, 3000);
    assert_int_equal(tested_of(), 0);
    assert_int_equal(event.held, 1);
    /* The servers had forgotten the grant, but nobody could meet the holder: the lock did not survive it. */
    held_until(1200, 3000, OPLOG_LOST);
    granted(5, 1100, 3001);
    assert_int_equal(tested_of(), 0);
    /* The holder is still inside, and another client asks, when they serve again. */
    held_until(3500, 3501, OPLOG_UNKNOWN);
    granted(5, 1100, 3600);
    tried(6, 2000 * MS, 3100 * MS, OPLOG_BUSY);
    assert_int_equal(tested_of(), 1);
    /* The same, but nobody asks for its key. */
    held_until(3500, 3501, OPLOG_UNKNOWN);
    add((struct oplog_record){
        .kind = OPLOG_ACQUIRE, .client = 5, .key = 1, .begin_ns = 1100 * MS, .end_ns = 3000 * MS});
    assert_int_equal(tested_of(), 0);
}

/* Nobody is granted anything while the key is held, but the server is back. */
STORY(a_server_that_is_back_before_the_holder_leaves_tests_it) {
    static const struct { int back_ms, tested; } cases[] = {{1200, 1}, {1450, 0}, {2000, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault(INJECT_SERVER_KILL, NOWHERE, "any");
        event.end_ns = cases[i].back_ms * MS;
        held_until(1500, 1501, OPLOG_UNKNOWN);
        granted(5, 1100, 3000);
        assert_int_equal(tested_of(), cases[i].tested);
    }
}

/* A cut between the servers leaves them where they are. */
STORY(a_cut_of_the_replication_takes_no_server_away) {
    for (int all = 0; all < 2; all++) {
        fault(INJECT_WIRE_CUT, NOWHERE, all ? "all" : "replication");
        held_until(1500, 1501, OPLOG_UNKNOWN);
        granted(5, 1100, 3000);
        assert_int_equal(tested_of(), !all);
    }
}

/* The primary is gone when a replica is told to become the next one, and it answers only some time later. */
STORY(a_promotion_takes_its_time) {
    static const struct { int promoted_ms, tested; } cases[] = {{1200, 1}, {1450, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault(INJECT_PROMOTE, NOWHERE, "any");
        event.end_ns = cases[i].promoted_ms * MS;
        held_until(1500, 1501, OPLOG_UNKNOWN);
        granted(5, 1100, 3000);
        assert_int_equal(tested_of(), cases[i].tested);
    }
}

/* A grant may be short: the servers say after the fault whether they still know it. */
STORY(a_release_that_succeeds_after_the_fault_shows_that_the_grant_was_known) {
    fault(INJECT_SERVER_KILL, NOWHERE, "leader");
    held_until(1200, 3000, OPLOG_OK);
    assert_int_equal(tested_of(), 1);
    /* The server was killed at 1000 ms, and was gone at 1300 ms: it may have answered itself. */
    event.gone_ns = 1300 * MS;
    held_until(1200, 1310, OPLOG_OK);
    assert_int_equal(tested_of(), 0);
    held_until(1200, 1500, OPLOG_OK); /* but not so long ago */
    assert_int_equal(tested_of(), 1);
    event.gone_ns = 0;
    /* It was released before the fault. */
    held_until(990, 3000, OPLOG_OK);
    assert_int_equal(tested_of(), 0);
    assert_int_equal(event.held, 0);
}

/* The servers are there when connections are reset, though nobody is granted anything while the key is held. */
STORY(connections_that_were_reset_are_made_again) {
    for (int again = 0; again < 2; again++) {
        fault(INJECT_WIRE_RESET, NOWHERE, "all");
        held_until(1200, 1201, OPLOG_UNKNOWN);
        tried(5, 950 * MS, 1000 * MS, OPLOG_UNKNOWN);
        if (again) tried(5, 1010 * MS, 4000 * MS, OPLOG_UNKNOWN);
        assert_int_equal(tested_of(), again);
    }
}

/* The servers that are left may not grant: it is enough that they were asked while the holder was inside. */
STORY(servers_without_a_majority_are_tested_by_who_asks) {
    static const struct {
        enum injection kind;
        const char *target;
        int to_ms, tested;
    } cases[] = {{INJECT_SERVER_KILL, "majority", 1500, 1},
                 {INJECT_SERVER_KILL, "majority", 1090, 0}, /* too soon for a waiter to ask again */
                 {INJECT_SERVER_KILL, "minority", 1500, 0},
                 {INJECT_ISOLATE, "leader", 1500, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault(cases[i].kind, NOWHERE, cases[i].target);
        held_until(cases[i].to_ms, 4000, OPLOG_UNKNOWN);
        granted(5, 950, 6000);
        assert_int_equal(tested_of(), cases[i].tested);
    }
}

/* A holder that stands still or is cut off is tested by who wants its key meanwhile. */
STORY(a_fault_of_a_holder_is_a_trial_if_its_key_was_wanted) {
    for (int wanted = 0; wanted < 2; wanted++) {
        fault(INJECT_PAUSE, 0, "holder");
        held_until(8000, 8001, OPLOG_OK);
        if (wanted) granted(5, 950, 8500);
        if (!wanted) granted(5, 8100, 8500);
        assert_int_equal(tested_of(), wanted);
        assert_int_equal(event.held, 1);
    }
    /* Readers keep no readers out. */
    become(OPLOG_RWLOCK, 1, false);
    for (uint32_t client = 1; client < 6; client += 4) {
        add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                                  .flags = OPLOG_SHARED,
                                  .client = client,
                                  .begin_ns = 980 * MS,
                                  .end_ns = (client == 1 ? 990 : 1200) * MS});
        released(client, 8000 * MS, 8001 * MS);
    }
    assert_int_equal(tested_of(), 0);
}

/* Told at once, the holder leaves; but for that, it would have been inside until 1200 ms. */
STORY(a_holder_that_was_told_would_have_stayed) {
    for (int soon = 0; soon < 2; soon++) {
        fault(INJECT_TERMINATE, 0, "holder");
        got(1, 890 * MS, 900 * MS);
        left(1, 1001 * MS, 1001 * MS, OPLOG_LOST, OPLOG_UNCALLED | OPLOG_LEARNED);
        granted(5, soon ? 1100 : 1250, 1260);
        assert_int_equal(tested_of(), soon);
    }
}

/* A killed holder's key must come to another client; who died with it wants nothing. */
STORY(a_killed_holders_key_is_tested_by_who_wants_it_later) {
    static const struct {
        uint32_t client;
        int tested;
    } cases[] = {{5, 1}, {2, 0}};
    for (size_t i = 0; i < 2; i++) {
        fault(INJECT_KILL, 0, "holder");
        got(1, 890 * MS, 900 * MS);
        happened(OPLOG_DEATH, 0, 4, 1000 * MS, 1000 * MS);
        tried(cases[i].client, 7000 * MS, 8000 * MS, OPLOG_UNKNOWN);
        assert_int_equal(tested_of(), cases[i].tested);
    }
}

TEST_MAIN(NULL, NULL)
