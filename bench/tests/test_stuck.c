/* test_stuck: keys that nobody is granted, seen and not seen, by looks at scripted times: nothing
 * runs here. */
#include "bench/run/stuck.h"
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
    plan = (struct plan){.lease_ns = lease_ns, .keys_at_once = 1, .mode = MODE_WAIT};
    memset(cells, 0, sizeof cells);
    memset(clients, 0, sizeof clients);
    memset(&shared, 0, sizeof shared);
    shared.plan = &plan;
    shared.lock = &entry;
    shared.clients = CLIENTS;
    shared.key_count = KEYS;
    shared.slots = 1;
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

/* The last release has returned, so no lease is a reason to wait for long. */
TEST(a_free_key_that_nobody_gets_is_stuck_whatever_the_lease) {
    static const int64_t leases_ns[] = {10 * LB_S_NS, 3600 * LB_S_NS, LB_NEVER};
    for (size_t i = 0; i < sizeof leases_ns / sizeof *leases_ns; i++) {
        begin(leases_ns[i]);
        look_until_ms(4900);
        expect(0, 0);
        begin(leases_ns[i]);
        look_until_ms(8000);
        expect(1, 0);
        assert_int_equal(at_end.key, 0);
        assert_int_equal(at_end.idle_ns, 8 * LB_S_NS);
        assert_int_equal(at_end.clients, CLIENTS);
    }
}

TEST(a_short_lease_needs_less) {
    begin(10 * LB_MS_NS);
    look_until_ms(1000);
    expect(0, 0);
    begin(10 * LB_MS_NS);
    look_until_ms(1500);
    expect(1, 0);
}

TEST(the_locks_own_slack_is_granted) {
    begin(10 * LB_S_NS);
    lock.about.crash_slack_ns = 3 * LB_S_NS;
    stuck_done(&stuck);
    stuck_init(&stuck, &shared);
    look_until_ms(7900);
    expect(0, 0);
}

TEST(a_key_that_is_held_or_being_released_is_in_use) {
    begin(3600 * LB_S_NS);
    atomic_store(&cells[0].owner, 2);
    look_until_ms(20000);
    expect(0, 0);
    begin(3600 * LB_S_NS);
    atomic_store(&clients[2].releasing, true); /* a server that is slow to answer it */
    look_until_ms(20000);
    expect(0, 0);
    /* A dead client's release never returns, so it does not count as "being released". */
    begin(3600 * LB_S_NS);
    atomic_store(&clients[2].releasing, true);
    clients[2].dead = true;
    look_until_ms(6000);
    expect(1, 0);
    assert_int_equal(at_end.clients, 2);
}

/* The client left the key so many milliseconds after the begin, and its release call has not returned. */
static void begin_release(int client, uint32_t key, int64_t at_ms) {
    atomic_store(&cells[key].releasing_ns, BEGIN_NS + at_ms * LB_MS_NS);
    atomic_store(&clients[client].waiting_key[0], key);
    atomic_store(&clients[client].releasing, true);
}

/* The release call of client 2 takes so long from the begin on. */
static void release_takes_ms(uint32_t key, int64_t took_ms) {
    begin_release(2, key, 0);
    look_until_ms(took_ms);
    atomic_store(&clients[2].releasing, false);
    atomic_store(&clients[2].waiting_ns, 0);
}

static void begin_with_release(uint32_t key, int64_t took_ms) {
    begin(3600 * LB_S_NS);
    release_takes_ms(key, took_ms);
}

TEST(a_key_is_free_only_when_its_release_has_returned) {
    begin_with_release(0, 1000);
    look_until_ms(5900);
    expect(0, 0);
    begin_with_release(0, 1000);
    look_until_ms(6500);
    expect(1, 0);
    assert_int_equal(at_end.idle_ns, 5500 * LB_MS_NS);
}

/* A release of another key that took 3 s: the server is late for all. */
TEST(a_slow_release_lengthens_the_patience) {
    begin_with_release(1, 3000);
    look_until_ms(11900);
    expect(0, 0);
    begin_with_release(1, 3000);
    look_until_ms(12500);
    expect(1, 0);
    /* also one that is slow only after the key was found idle */
    begin(3600 * LB_S_NS);
    look_until_ms(6000);
    begin_release(2, 1, 6000);
    look_until_ms(9000);
    expect(0, 0);
    /* A fault may have delayed the release. */
    begin(LB_S_NS);
    stuck.disturbed_ns = BEGIN_NS + LB_S_NS / 2;
    release_takes_ms(1, 3000);
    look_until_ms(9000);
    expect(1, 0);
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

/* A fault, or a grant that a client may have left behind, explains waits for three leases and a
 * second. */
TEST(what_a_disturbance_explains) {
    for (int unsure = 0; unsure < 2; unsure++) {
        for (int until_ms = 7000; until_ms <= 9000; until_ms += 2000) {
            begin(2 * LB_S_NS);
            if (unsure) {
                atomic_store(&shared.unsure_ns, BEGIN_NS + LB_S_NS);
            } else {
                stuck.disturbed_ns = BEGIN_NS + LB_S_NS;
            }
            look_until_ms(until_ms);
            assert_int_equal(stuck_is_explained(&stuck, BEGIN_NS + until_ms * LB_MS_NS),
                             until_ms < 8000);
            expect(until_ms > 8000, 0);
        }
    }
    begin(LB_NEVER); /* a grant without a lease is left behind for ever */
    stuck.disturbed_ns = BEGIN_NS + LB_S_NS;
    look_until_ms(60000);
    expect(0, 0);
}

TEST(time_for_which_the_machine_stood_still_does_not_count) {
    begin(3600 * LB_S_NS);
    look_until_ms(1000);
    stuck_look(&stuck, BEGIN_NS + 7 * LB_S_NS);
    look_until_ms(11000);
    expect(0, 0);
}

/* A client that rests after a try does not count as waiting for the key. */
TEST(a_client_that_rests_does_not_wait) {
    begin(3600 * LB_S_NS);
    for (int i = 0; i < CLIENTS; i++) atomic_store(&clients[i].refused_ns, BEGIN_NS + LB_S_NS);
    look_until_ms(20000);
    expect(0, 0);
}

TEST_MAIN(NULL, NULL)
