/* test_recovery: what faults cost, and which grants they put to the test, from histories and injections that are told here:
 * nothing runs. */
#include "bench/evidence/recovery.h"
#include "bench/load/observe.h"
#include "bench/oplog/order.h"
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
static void begin_story(enum oplog_model model, uint32_t bound, bool by_slot) {
    begin_as(model, bound, by_slot);
    lock = (struct lb_lock){.name = "a", .about = {.crash = LB_CRASH_LEASE}};
    entry = (struct plan_lock){.lock = &lock};
    plan = (struct plan){.lease_ns = LEASE_MS * LB_MS_NS, .hold = {.mean_ns = 300 * LB_MS_NS}};
    memset(&shared, 0, sizeof shared);
    shared.plan = &plan;
    shared.lock = &entry;
    shared.clients = CLIENTS;
    shared.threads = 4;
    shared.processes = 2;
    faults = (struct fault_log){.events = events};
}

FIXTURE(set_up) {
    begin_story(OPLOG_MUTEX, 1, false);
    return 0;
}

FIXTURE(tear_down) {
    recovery_done(&recovery);
    return end(state);
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
    while (strcmp(injection_name(event->kind), kind) != 0) event->kind++;
}

/* What a client did: "5 held 120 400 410" (asked, granted, released); "4/1 ..." of key 1. */
static void tell_client(const char *words) {
    char who[8], verb[12], last[12] = "";
    double at[3] = {0};
    assert_true(sscanf(words, "%7s %11s %lf %lf %lf", who, verb, &at[0], &at[1], &at[2]) >= 3);
    sscanf(words, "%*s %*s %*s %*s %11s", last);
    int64_t a = ns_of(at[0]), b = ns_of(at[1]), c = ns_of(at[2]);
    struct oplog_record record = {.client = (uint32_t)atoi(who),
                                  .key = strchr(who, '/') != NULL,
                                  .begin_ns = a,
                                  .end_ns = b ? b : a};
    uint32_t client = record.client;
    if (strcmp(verb, "killed") == 0) { /* a process */
        char text[60];
        snprintf(text, sizeof text, "kill %u %f %f", client, at[0], at[0]);
        tell_fault(text);
        happened(OPLOG_DEATH, 4 * client, 4, a, a);
    } else if (strcmp(verb, "stalled") == 0) { /* all of a process */
        happened(OPLOG_STALL, 4 * client, 4, a, b);
    } else if (strcmp(verb, "tried") == 0) {
        record.outcome = *last == 'b' ? OPLOG_BUSY : *last == 't' ? OPLOG_TIMEOUT : OPLOG_UNKNOWN;
        record.kind = OPLOG_ACQUIRE;
        add(record);
    } else if (strcmp(verb, "got") == 0 || strcmp(verb, "held") == 0 ||
               strcmp(verb, "reads") == 0) {
        record.kind = OPLOG_ACQUIRE;
        if (*verb == 'r') record.flags = OPLOG_SHARED;
        if (*verb == 'g') record.lease_end_ns = c;
        add(record);
        if (*verb != 'g' && c) released(client, c, c);
    } else {
        enum oplog_outcome outcome = *verb == 'r'   ? OPLOG_OK
                                     : *verb == 'u' ? OPLOG_UNKNOWN
                                                    : OPLOG_LOST;
        bool learned = strcmp(verb, "learned") == 0;
        left(client, a, record.end_ns, outcome, learned ? OPLOG_UNCALLED | OPLOG_LEARNED : 0);
    }
}

/* A story: what happened in ms, with ; between. */
static void tell(const char *story) {
    char text[900], *rest = text;
    assert_true((size_t)snprintf(text, sizeof text, "%s", story) < sizeof text);
    for (char *one; (one = strsep(&rest, ";"));) {
        one += strspn(one, " ");
        if (strncmp(one, "fault ", 6) == 0)
            tell_fault(one + 6);
        else if (*one)
            tell_client(one);
    }
}

/* The window ends after a second. */
static void compute(uint64_t dropped) {
    book.rules.end_ns = 1000 * LB_MS_NS;
    book_end(&book, dropped, true);
    uint32_t *order = order_holds_from(&book, &err);
    assert_non_null(order);
    assert_int_equal(recovery_compute(&recovery, &book, order, &faults, &shared, &err), 0);
    free(order);
}

static int put_list(char *text, const char *name, const int64_t *list_ns, int count) {
    int used = sprintf(text, "%s ", name);
    for (int i = 0; i < count; i++)
        used += sprintf(text + used, "%s%g", i ? "," : "", (double)list_ns[i] / 1e6);
    return used + sprintf(text + used, "%s|", count ? "" : "none");
}

/* Each of the figures, "trials 100,250 | lost 1", is that of the recovery, in ms. */
static void assert_summed(const char *figures) {
    char all[600], wanted[100], copy[300], *rest = copy;
    int used = sprintf(all, "|");
    used += put_list(all + used, "trials", recovery.trials_ns, recovery.trial_count);
    used += put_list(all + used, "crashes", recovery.crashes_ns, recovery.crash_count);
    used += put_list(all + used, "detected", recovery.detect_ns, recovery.detect_count);
    sprintf(all + used,
            "unrecovered %d|unasked %d|unavailable %g|theory_max %g|lost %d|wakeups %s|"
            "lost_wakeups %d|never %d|",
            recovery.unrecovered, recovery.unasked,
            recovery.unavailable_ns < 0 ? -1 : (double)recovery.unavailable_ns / 1e6,
            recovery.theory_max_ns < 0 ? -1 : (double)recovery.theory_max_ns / 1e6,
            (int)recovery.grants_lost, recovery.wakeups_known ? "known" : "unknown",
            (int)recovery.lost_wakeups, (int)recovery.never);
    snprintf(copy, sizeof copy, "%s", figures);
    for (char *one; (one = strsep(&rest, "|"));) {
        char name[20], value[60];
        assert_int_equal(sscanf(one, "%19s %59s", name, value), 2);
        snprintf(wanted, sizeof wanted, "|%s %s|", name, value);
        if (!strstr(all, wanted)) fail_msg("not '%s' in %s", wanted, all);
    }
}

struct story {
    const char *told, *figures;
    enum oplog_model model;
    uint32_t bound; /* 0 = 1 */
    bool by_slot, many_keys;
    unsigned caps;
    int slack_ms;
    uint64_t dropped;
};

static void check_stories(const struct story *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct story *one = &all[i];
        print_message("%s\n", one->told);
        begin_story(one->model, one->bound ? one->bound : 1, one->by_slot);
        book.rules.many_keys = one->many_keys;
        lock.caps = one->caps;
        lock.about.crash_slack_ns = one->slack_ms * LB_MS_NS;
        tell(one->told);
        compute(one->dropped);
        assert_summed(one->figures);
        recovery_done(&recovery);
        book_done(&book);
    }
}

#define STORY(...)                                                                                 \
    { .told = __VA_ARGS__ }
#define STORIES(name, ...)                                                                         \
    TEST(name) {                                                                                   \
        static const struct story all[] = {__VA_ARGS__};                                           \
        check_stories(all, sizeof all / sizeof *all);                                              \
    }

/* ---- trials ---- */

/* The key may have been free for as long as nobody asked for it; not where the client that got it waited for it, or where
 * another one asked before. */
#define DEAD "1 got 90 100; 0 killed 150; "
STORIES(a_key_that_nobody_asked_for,
        STORY(DEAD "5 held 120 901 950", "trials 751 | unasked 0 | unrecovered 0"),
        STORY(DEAD "5 held 900 901 950", "trials none | unasked 1 | unrecovered 0"),
        STORY(DEAD "5 held 400 901 950", "trials 751 | unasked 0"),
        STORY(DEAD "6 tried 690 700 busy; 5 held 900 901 950", "trials none | unasked 1"),
        STORY(DEAD "6 tried 880 890 busy; 5 held 900 901 950", "trials 751 | unasked 0"),
        STORY(DEAD "5 held 240 241 950", "trials 91 | unasked 0"))

/* A client that died with the holder waited for the same key, and its wait is recorded until the end. */
#define STOOD "1 got 90 100; fault pause 0 150 160; "
STORIES(who_died_with_the_holder_asks_no_more,
        STORY(STOOD "2 tried 120 990 unknown", "unrecovered 1 | unasked 0 | trials none"),
        STORY(DEAD "2 tried 120 990 unknown", "unrecovered 0 | unasked 0 | trials none"),
        STORY(STOOD "2 tried 120 990 unknown; 5 held 900 901 950",
              "unrecovered 0 | unasked 0 | trials 751"),
        STORY(DEAD "2 tried 120 990 unknown; 5 held 900 901 950",
              "unrecovered 0 | unasked 1 | trials none"))

STORIES(
    a_killed_holder,
    STORY(DEAD "5 held 120 400 410; 4 held 450 450 460; 4 held 500 500 510; 4 held 950 950 960",
          "trials 250 | crashes 250 | unrecovered 0 | unavailable 250 | lost_wakeups 0 | never 0 | "
          "theory_max 100"),
    STORY(DEAD "5 tried 120 1200 timeout", "trials none | unrecovered 1 | unavailable 850"),
    /* A lock can't be blamed for a key that nobody wants any more. */
    STORY("1 got 90 100; 5 tried 110 140 busy; fault pause 0 150 350; 1 released 360; "
          "1 tried 370 380 timeout; 4/1 tried 200 900 timeout",
          "trials none | unrecovered 0"),
    /* Another key's grants, and the victim's own, are no recovery. */
    STORY("fault pause 0 150 350; 1 held 90 100 360; 1 held 361 365 370; 4/1 got 200 210; "
          "5 held 120 500 510",
          "trials 350 | crashes none | unrecovered 0"),
    STORY(DEAD "5 got 120 400; fault pause 1 420 500; 5 released 510; 6 held 515 520 530",
          "trials 100,250 | crashes 250"))

/* A grant of another process, one that ended before the fault or began after it, and a fault that did not act. */
STORIES(
    who_is_no_victim,
    STORY("fault pause 0 150 350; fault pause! 1 180 350; 1 held 90 100 140; 5 held 90 145 200; "
          "2 held 90 210 220",
          "trials none | unrecovered 0"))

/* Nobody knows which permit the next grant is; slots have names. */
STORIES(permits_and_slots,
        STORY(DEAD "5 held 120 400 410", "trials none | wakeups unknown", OPLOG_SEMAPHORE, 2),
        STORY(DEAD "5 held 120 400 410", "trials 250 | wakeups unknown", OPLOG_SEMAPHORE, 2, true))

/* A grant before the server was gone, or whose answer was under way then, is no recovery; and nothing is promised. A
 * fault between servers leaves clients their grants; one after the window says nothing. */
STORIES(
    a_fault_of_servers,
    STORY("fault server-kill -1 100 600 150; 1 held 10 120 121; 2 got 10 150.5; 2 released 152",
          "trials none | unrecovered 1 | theory_max -1"),
    STORY("fault server-kill -1 100 200 150; 1 held 10 120 121; 3 held 130 300 301",
          "trials 200 | crashes none | unrecovered 0 | unavailable 170"), /* before, nobody asked */
    STORY("fault wire-cut/replication -1 100 200; fault clock -1 100 100",
          "unrecovered 0 | unavailable 0"),
    STORY("fault server-kill -1 1000 1100", "unrecovered 0 | unavailable -1"),
    STORY("1 held 90 100 110", "unavailable -1 | trials none | unrecovered 0"))

/* ---- the longest time without a grant ---- */

/* The server is away until 300. Afterwards each of two clients holds for 200 ms while the other one waits: that time is the
 * workload's; but a client that stands still while it holds keeps the key from the others all the same. Of permits it is
 * not known which of them is free, so all time between two grants counts. */
#define LONG_HOLDS "1 held 40 50 90; 5 held 60 300 500; 1 held 95 501 700; 5 held 505 703 990"
STORIES(a_live_holder_is_no_outage,
        STORY("fault server-kill -1 100 200 100; " LONG_HOLDS, "unavailable 200"),
        STORY("fault server-kill -1 200 200 100; " LONG_HOLDS "; 1 stalled 310 510",
              "unavailable 191"),
        STORY("fault server-kill -1 100 200 100; " LONG_HOLDS, "unavailable 201", OPLOG_SEMAPHORE,
              2))

/* Grants of another key interrupt an outage; that key's long hold does not hide it. Attempts that ended without a grant
 * asked for the key as well. */
#define DELAYED "fault wire-delay -1 100 110; "
STORIES(outages_of_several_keys_and_of_attempts_that_fail,
        STORY(DELAYED "1 held 10 50 80; 4/1 got 90 250; 5 held 70 600 610", "unavailable 350"),
        STORY(DELAYED
              "1 held 10 50 60; 2 tried 150 151 busy; 2 tried 170 171 busy; 2 tried 190 191 busy; "
              "2 tried 210 211 busy; 2 tried 230 231 busy; 2 tried 250 251 busy; "
              "2 tried 270 271 busy; 2 tried 290 291 busy; 1 held 390 400 410; "
              "2 tried 900 1100 timeout",
              "unavailable 250"),
        STORY(DELAYED "2 tried 700 1100 timeout",
              "unavailable 300")) /* nobody was ever granted it */

/* Other readers get in beside the dead one: that is no recovery. A writer could not. */
#define DEAD_READER "1 reads 90 100 0; 0 killed 150; 5 reads 160 161 170"
STORIES(a_killed_reader, STORY(DEAD_READER, "trials none | unrecovered 0", OPLOG_RWLOCK),
        STORY(DEAD_READER "; 6 held 120 400 410", "trials 250 | lost_wakeups 0", OPLOG_RWLOCK))

/* ---- losses ---- */

STORIES(
    losses_and_when_they_were_known,
    {.told =
         "1 got 90 100 200; 1 learned 250; 2 got 290 300 400; 2 lost 450 480; 3 got 490 500 600; "
         "3 learned 550",
     "lost 3 | detected 0,50,80 | never 0"},
    /* Without a lease the next grant shows when it was lost; without one nobody knows. */
    STORY("1 got 90 100; 5 held 140 150 160; 1 lost 250 260", "lost 1 | detected 110"),
    STORY("1 got 90 100; 1 lost 250 260", "lost 1 | detected none"),
    /* met, and told that all was well; met, and dead */
    STORY("1 got 90 100; 5 held 140 150 160; 1 released 250 260; 2 got 290 300; 0 killed 350; "
          "5 held 320 340 345",
          "never 1 | lost 0"),
    STORY("1 reads 90 100 200; 5 reads 90 150 200", "never 0", OPLOG_RWLOCK)) /* they may meet */

/* ---- lost wake-ups: half a lease is 50 ms ---- */

#define WAITED "1 held 90 100 200; 5 held 150 300 310"
STORIES(
    a_free_key_that_its_waiter_does_not_get,
    STORY("1 held 90 100 200; 5 held 150 251 261", "lost_wakeups 1 | wakeups known"),
    STORY("1 held 90 100 200; 5 held 150 250 260", "lost_wakeups 0"),
    STORY("1 held 90 100 200; 5 held 201 300 310", "lost_wakeups 0"), /* it came later */
    STORY(WAITED "; fault pause 1 210 240", "lost_wakeups 0"),        /* it stood still itself */
    STORY(WAITED "; fault pause 0 210 240", "lost_wakeups 1"),        /* others did */
    /* one of them may have been first in the queue */
    STORY(WAITED "; fault pause 0 210 240", "lost_wakeups 0", .caps = LB_CAP_FAIR),
    STORY(WAITED "; fault wire-drop/ -1 210 240", "lost_wakeups 1"), /* the cause, no excuse */
    STORY(WAITED "; fault wire-cut/ -1 210 240", "lost_wakeups 0"),
    STORY(WAITED "; fault wire-cut/ -1 90 90", "lost_wakeups 1"), /* over for longer than a lease */
    STORY(WAITED "; fault wire-cut/ -1 90 0", "lost_wakeups 0"),  /* it never ended */
    STORY(WAITED "; 1 stalled 190 280", "lost_wakeups 0"),
    STORY(WAITED "; 0 stalled 190 280", "lost_wakeups 1"),
    STORY(WAITED "; 0 stalled 190 280", "lost_wakeups 0", .caps = LB_CAP_FAIR),
    /* The next grant shows that the dead holder's is over. */
    STORY("0 got 10 20; 0 killed 50; 5 held 60 160 200; 4 held 150 300 310",
          "trials 110 | lost_wakeups 1"),
    /* Whoever lost its grant left the key at a time that nobody knows; records may be missing; who asked for two
         * keys waits for the one that is held. */
    STORY("1 got 90 100; 1 lost 110; 5 held 105 300 310", "lost_wakeups 0"),
    STORY(WAITED, "wakeups unknown", .dropped = 1),
    STORY(WAITED, "wakeups unknown", .many_keys = true))

/* A waiter was killed, and the lock may have granted it the key: the next one waited for the end of that grant, which
 * may come after a lease and the lock's slack. Long after that end no dead client explains a wait. */
#define DEAD_WAITER "5 held 90 100 200; 0 killed 210; 1 tried 120 210 unknown; "
STORIES(a_killed_waiter_may_have_got_the_key,
        STORY(DEAD_WAITER "6 held 150 310 950", "lost_wakeups 0"),
        STORY(DEAD_WAITER "6 held 150 900 950", "lost_wakeups 1"),
        STORY(DEAD_WAITER "6 held 150 850 950", "lost_wakeups 0", .slack_ms = 500),
        STORY(DEAD_WAITER "6 held 150 900 950", "lost_wakeups 1", .slack_ms = 500))

/* The stall of a thread whose lock has leases and no sessions: what the thread records at the beat after it. */
TEST_WITH(a_waiter_whose_thread_stood_still, set_up, tear_down) {
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
    atomic_store(&worker.beat_ns, 190 * LB_MS_NS);
    trace_beat(&shared, 0, 240 * LB_MS_NS); /* not longer than half a lease */
    assert_int_equal(oplog_rest(&shared.oplog->rings[0], &tail, &records), 0);
    trace_beat(&shared, 0, 280 * LB_MS_NS);
    tell("1 held 90 100 200; 5 held 150 300 310");
    assert_int_equal(oplog_rest(&shared.oplog->rings[0], &tail, &records), 1);
    add(records[0]);
    compute(0);
    assert_summed("lost_wakeups 0");
    /* by design */
    lock.caps |= LB_CAP_BLOCKS_THREAD;
    trace_beat(&shared, 0, 290 * LB_MS_NS);
    assert_int_equal(oplog_rest(&shared.oplog->rings[0], &tail, &records), 0);
    free(memory);
}

/* ---- grants that a fault put to the test ---- */

struct trial {
    const char *told;
    int tested;
    enum oplog_model model;
};

static void check_trials(const struct trial *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        print_message("%s\n", all[i].told);
        begin_story(all[i].model, 1, false);
        tell(all[i].told);
        book.rules.end_ns = 9000 * LB_MS_NS;
        book_end(&book, 0, true);
        uint32_t *order = order_holds_from(&book, &err);
        assert_non_null(order);
        assert_int_equal(fault_trials_count(&faults, &book, order, &shared, &err), 0);
        assert_int_equal(events[0].tested, all[i].tested);
        free(order);
        book_done(&book);
    }
}

#define TRIALS(name, ...)                                                                          \
    TEST(name) {                                                                                   \
        static const struct trial all[] = {__VA_ARGS__};                                           \
        check_trials(all, sizeof all / sizeof *all);                                               \
    }

#define LEADER "fault server-kill/leader -1 1000 0; 1 got 890 900; "

/* The new leader answers only when the holder has left, and the holder did not hear whether its grant was known. */
TRIALS(
    a_holder_that_left_before_the_servers_were_back_met_nobody,
    STORY(LEADER "1 unknown 1200 1400; 5 held 1100 3000 3001", 0),
    /* The servers had forgotten the grant, but nobody could meet the holder. */
    STORY(LEADER "1 lost 1200 3000; 5 held 1100 3001 3002", 0),
    /* The holder is still inside, and another client asks, when they serve again; or nobody asks for its key. */
    STORY(LEADER "1 unknown 3500 3501; 5 held 1100 3600 3601; 6 tried 2000 3100 busy", 1),
    STORY(LEADER "1 unknown 3500 3501; 5/1 got 1100 3000", 0))

/* Nobody is granted anything while the key is held, but the server is back. A cut between servers leaves them where they
 * are. After a promotion the next primary answers only some time later. */
#define INSIDE "; 1 got 890 900; 1 unknown 1500 1501; 5 held 1100 3000 3001"
TRIALS(a_server_that_is_back_before_the_holder_leaves_tests_it,
       STORY("fault server-kill/any -1 1000 1200" INSIDE, 1),
       STORY("fault server-kill/any -1 1000 1450" INSIDE, 0),
       STORY("fault server-kill/any -1 1000 2000" INSIDE, 0),
       STORY("fault wire-cut/replication -1 1000 0" INSIDE, 1),
       STORY("fault wire-cut/all -1 1000 0" INSIDE, 0),
       STORY("fault promote/any -1 1000 1200" INSIDE, 1),
       STORY("fault promote/any -1 1000 1450" INSIDE, 0))

/* A grant may be short: the servers say after the fault whether they still know it. */
#define GONE "fault server-kill/leader -1 1000 0 1300; 1 got 890 900; "
TRIALS(a_release_that_succeeds_after_the_fault_shows_that_the_grant_was_known,
       STORY(LEADER "1 released 1200 3000", 1),
       STORY(GONE "1 released 1200 1310", 0), /* it answered itself */
       STORY(GONE "1 released 1200 1500", 1), STORY(LEADER "1 released 990 3000", 0))

/* The servers are there when connections are reset, though nobody is granted anything while the key is held. */
#define RESET                                                                                      \
    "fault wire-reset/all -1 1000 0; 1 got 890 900; 1 unknown 1200 1201; 5 tried 950 1000 unknown"
TRIALS(connections_that_were_reset_are_made_again, STORY(RESET, 0),
       STORY(RESET "; 5 tried 1010 4000 unknown", 1))

/* The servers that are left may not grant: it is enough that they were asked while the holder was inside. */
#define ASKED(to) " -1 1000 0; 1 got 890 900; 1 unknown " to " 4000; 5 held 950 6000 6001"
TRIALS(servers_without_a_majority_are_tested_by_who_asks,
       STORY("fault server-kill/majority" ASKED("1500"), 1),
       STORY("fault server-kill/majority" ASKED("1090"),
             0), /* too soon for a waiter to ask again */
       STORY("fault server-kill/minority" ASKED("1500"), 0),
       STORY("fault isolate/leader" ASKED("1500"), 1))

/* A holder that stands still, is cut off or is killed is tested by who wants its key; readers keep no readers out. Told at
 * once, it leaves; but for that, it would have been inside until 1200 ms. Who died with it wants nothing. */
#define PAUSED "fault pause 0 1000 0; "
#define TOLD "fault terminate 0 1000 0; 1 got 890 900; 1 learned 1001; "
TRIALS(a_fault_of_a_holder_is_a_trial_if_its_key_was_wanted,
       STORY(PAUSED "1 held 890 900 8000; 5 held 950 8500 8501", 1),
       STORY(PAUSED "1 held 890 900 8000; 5 held 8100 8500 8501", 0),
       STORY(PAUSED "1 reads 980 990 8000; 5 reads 980 1200 8000", 0, OPLOG_RWLOCK),
       STORY(TOLD "5 held 1100 1260 1261", 1), STORY(TOLD "5 held 1250 1260 1261", 0),
       STORY("1 got 890 900; 0 killed 1000; 5 tried 7000 8000 unknown", 1),
       STORY("1 got 890 900; 0 killed 1000; 2 tried 7000 8000 unknown", 0))

TEST_MAIN(NULL, NULL)
