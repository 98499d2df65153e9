/* test_stuck: keys that nobody is granted, seen and not seen, by looks at scripted times: nothing
 * runs here. */
#include "bench/stage/stuck.h"
#include "bench/tests/unit.h"

#define CLIENTS 3
#define KEYS 2
#define BEGIN_NS (100 * LB_S_NS)

static struct lb_lock lock;
static struct plan plan;
static struct plan_lock entry;
static struct cell cells[KEYS];
static struct client_stats clients[CLIENTS];
static struct shared shared;
static struct stuck stuck;
static struct stage_idle_keys at_end, passing;

/* All clients wait for key 0, which its last holder left when they began. */
static void begin(int64_t lease_ns) {
    lock = (struct lb_lock){.name = "a", .primitive = LB_MUTEX};
    entry = (struct plan_lock){.lock = &lock};
    plan = (struct plan){.mode = MODE_WAIT};
    memset(cells, 0, sizeof cells);
    memset(clients, 0, sizeof clients);
    memset(&shared, 0, sizeof shared);
    shared.plan = &plan;
    shared.lease_ns = lease_ns;
    shared.lock = &entry;
    shared.clients = CLIENTS;
    shared.key_count = KEYS;
    shared.cells = cells;
    shared.client = clients;
    for (int i = 0; i < CLIENTS; i++) atomic_store(&clients[i].waiting_ns, BEGIN_NS);
    atomic_store(&cells[0].releasing_ns, BEGIN_NS);
    stuck_init(&stuck, &shared);
    assert_non_null(stuck.keys);
}

/* Looks every half second until so many milliseconds after the begin, from where it stopped. */
static void look_until_ms(int64_t until_ms) {
    int64_t from_ns = stuck.looked_ns ? stuck.looked_ns : BEGIN_NS;
    for (int64_t at_ns = from_ns; at_ns < BEGIN_NS + until_ms * LB_MS_NS; at_ns += 500 * LB_MS_NS) {
        stuck_look(&stuck, at_ns);
    }
    stuck_look(&stuck, BEGIN_NS + until_ms * LB_MS_NS);
}

static void expect(uint64_t stuck_keys, uint64_t idle_keys) {
    stuck_conclude(&stuck, &at_end, &passing);
    assert_int_equal(at_end.count, stuck_keys);
    assert_int_equal(passing.count, idle_keys);
    stuck_done(&stuck);
}

/* A client left the key so many milliseconds after the begin, and its release call has not returned. */
static void begin_release(int client, uint32_t key, int64_t at_ms) {
    atomic_store(&cells[key].releasing_ns, BEGIN_NS + at_ms * LB_MS_NS);
    atomic_store(&clients[client].waiting_key, key);
    atomic_store(&clients[client].releasing, true);
}

/* The release call of client 2 takes so long from the begin on. */
static void release_takes_ms(uint32_t key, int64_t took_ms) {
    begin_release(2, key, 0);
    look_until_ms(took_ms);
    atomic_store(&clients[2].releasing, false);
    atomic_store(&clients[2].waiting_ns, 0);
}

static void is_held(void) {
    atomic_store(&cells[0].owner, 2);
}

static void is_being_released(void) { /* by a server that is slow to answer */
    atomic_store(&clients[2].releasing, true);
}

/* Its release never returns, so it does not count as "being released". */
static void its_releaser_died(void) {
    is_being_released();
    clients[2].dead = true;
}

static void lock_has_slack(void) {
    lock.about.crash_slack_ns = 3 * LB_S_NS;
    stuck_done(&stuck);
    stuck_init(&stuck, &shared);
}

static void release_takes_a_second(void) {
    release_takes_ms(0, 1000);
}

/* A release of another key that took 3 s: the server is late for all. */
static void server_is_late(void) {
    release_takes_ms(1, 3000);
}

static void server_becomes_late(void) {
    look_until_ms(6000); /* the key was found idle */
    begin_release(2, 1, 6000);
}

static void a_fault_delays_it(void) {
    stuck.disturbed_ns = BEGIN_NS + LB_S_NS / 2;
    release_takes_ms(1, 3000);
}

static void a_fault_comes(void) {
    stuck.disturbed_ns = BEGIN_NS + LB_S_NS;
}

static void a_grant_may_be_left_behind(void) {
    atomic_store(&shared.unsure_ns, BEGIN_NS + LB_S_NS);
}

static void machine_stands_still(void) {
    look_until_ms(1000);
    stuck_look(&stuck, BEGIN_NS + 7 * LB_S_NS);
}

/* They rest after a try. */
static void clients_rest(void) {
    for (int i = 0; i < CLIENTS; i++) atomic_store(&clients[i].refused_ns, BEGIN_NS + LB_S_NS);
}

#define HOUR (3600 * LB_S_NS)

TEST(a_free_key_that_nobody_gets_is_stuck) {
    static const struct {
        int64_t lease_ns;
        void (*story)(void); /* NULL = all wait, and that is all */
        int64_t until_ms;
        uint64_t stuck;
        int64_t idle_ms; /* 0 = any */
    } cases[] = {
        /* The last release has returned, so no lease is a reason to wait for long; a short one needs less. */
        {10 * LB_S_NS, NULL, 4900, 0, 0},
        {10 * LB_S_NS, NULL, 8000, 1, 8000},
        {HOUR, NULL, 4900, 0, 0},
        {HOUR, NULL, 8000, 1, 8000},
        {LB_NEVER, NULL, 4900, 0, 0},
        {LB_NEVER, NULL, 8000, 1, 8000},
        {10 * LB_MS_NS, NULL, 1000, 0, 0},
        {10 * LB_MS_NS, NULL, 1500, 1, 0},
        {10 * LB_S_NS, lock_has_slack, 7900, 0, 0},
        {HOUR, is_held, 20000, 0, 0},
        {HOUR, is_being_released, 20000, 0, 0},
        {HOUR, its_releaser_died, 6000, 1, 0},
        {HOUR, clients_rest, 20000, 0, 0},
        /* It is free only when its release has returned; a slow release lengthens the patience, but a fault may have
         * delayed it. */
        {HOUR, release_takes_a_second, 5900, 0, 0},
        {HOUR, release_takes_a_second, 6500, 1, 5500},
        {HOUR, server_is_late, 11900, 0, 0},
        {HOUR, server_is_late, 12500, 1, 0},
        {HOUR, server_becomes_late, 9000, 0, 0},
        {LB_S_NS, a_fault_delays_it, 9000, 1, 0},
        /* A fault, or a grant that a client may have left behind, explains waits for three leases and a second; one
         * without a lease is left behind for ever. */
        {2 * LB_S_NS, a_fault_comes, 7000, 0, 0},
        {2 * LB_S_NS, a_fault_comes, 9000, 1, 0},
        {2 * LB_S_NS, a_grant_may_be_left_behind, 7000, 0, 0},
        {2 * LB_S_NS, a_grant_may_be_left_behind, 9000, 1, 0},
        {LB_NEVER, a_fault_comes, 60000, 0, 0},
        {HOUR, machine_stands_still, 11000, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("case %zu\n", i);
        begin(cases[i].lease_ns);
        if (cases[i].story) cases[i].story();
        look_until_ms(cases[i].until_ms);
        bool explained = cases[i].lease_ns == 2 * LB_S_NS && !cases[i].stuck;
        if (cases[i].lease_ns == 2 * LB_S_NS)
            assert_int_equal(stuck_is_explained(&stuck, BEGIN_NS + cases[i].until_ms * LB_MS_NS),
                             explained);
        expect(cases[i].stuck, 0);
        if (cases[i].idle_ms) assert_int_equal(at_end.idle_ns, cases[i].idle_ms * LB_MS_NS);
        if (cases[i].stuck) assert_int_equal(at_end.key, 0);
        if (cases[i].stuck && !cases[i].story) assert_int_equal(at_end.clients, CLIENTS);
        if (cases[i].story == its_releaser_died) assert_int_equal(at_end.clients, 2);
    }
}

/* "Nobody gets it any more" must be true at the end: an election may take long. */
TEST(a_key_that_is_granted_again_accuses_nobody) {
    begin(3600 * LB_S_NS);
    look_until_ms(9000);
    atomic_store(&cells[0].releasing_ns, BEGIN_NS + 9100 * LB_MS_NS);
    expect(0, 1);
    assert_int_equal(passing.idle_ns, 9 * LB_S_NS);
    /* Again idle after that, until the end. */
    begin(3600 * LB_S_NS);
    look_until_ms(9000);
    atomic_store(&cells[0].releasing_ns, BEGIN_NS + 9100 * LB_MS_NS);
    look_until_ms(15000);
    expect(1, 1);
    assert_int_equal(at_end.idle_ns, 5900 * LB_MS_NS);
    assert_int_equal(passing.idle_ns, 9 * LB_S_NS);
}

TEST_MAIN(NULL, NULL)
