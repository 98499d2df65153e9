/* test_cell: the checks of a cell and of shared holders: each one marks what breaks exclusion, and none marks a clean
 * grant. What the marked ones were is judged later: test_history_known. */
/* for its part "entry" */
#include "bench/load/attempt.c"
#include "bench/measure/cell.h"
#include "bench/tests/unit.h"

static struct cell cell;
static struct findings findings;
static _Atomic uint64_t met;

FIXTURE(setup) {
    memset(&cell, 0, sizeof cell);
    memset(&findings, 0, sizeof findings);
    met = 0;
    return 0;
}

static struct entry enter(uint32_t client, int64_t acquired_ns, uint64_t token) {
    struct entry entry = cell_enter(&cell, client, acquired_ns, token);
    met += (entry.marks & MARK_MET) != 0;
    return entry;
}

static bool leave(uint32_t client, struct entry entry, int64_t releasing_ns) {
    return cell_leave(&cell, client, &entry, releasing_ns);
}

static struct exclusion sum(void) {
    struct exclusion x = cells_sum(&cell, 1, &findings);
    x.verdict = exclusion_verdict(&x);
    return x;
}

/* Both are marked: the one that came in on entry, the other one on leaving. */
TEST_WITH(test_two_holders, setup, NULL) {
    struct entry a = enter(3, 100, 0), b = enter(4, 200, 0);
    assert_int_equal(a.marks, 0);
    assert_int_equal(b.marks, MARK_MET);
    assert_int_equal(b.found, 3 + 1);
    assert_false(leave(3, a, 210));
    assert_true(leave(4, b, 220));
    assert_int_equal(sum().lost_updates, 1);
}

static struct crowd crowd;
static struct presence presence[8];
static const struct crowds crowds = {&crowd, presence, 8};

/* Returns whether there is room. */
static bool join(uint32_t client, uint32_t units, uint32_t bound) {
    return crowd_enter(&crowds, client, 0, units, bound, 100);
}

/* Returns whether there was room all the time. */
static bool part(uint32_t client) {
    return crowd_leave(&crowds, client);
}

/* All who were inside are marked, also one who leaves when there is room again. Who comes later is not. */
TEST(test_one_holder_too_many) {
    assert_true(join(0, 1, 2) && join(1, 1, 2));
    assert_false(join(2, 1, 2));
    assert_false(part(0));
    assert_true(part(2)); /* it knows since its entry */
    assert_false(part(1));
    assert_true(join(3, 2, 2) && part(3));
    /* readers and a writer */
    assert_true(join(0, 1, CROWD_ALL) && join(1, 1, CROWD_ALL));
    assert_false(join(2, CROWD_ALL, CROWD_ALL));
    assert_true(part(2));
    assert_false(part(0) || part(1));
    /* one that died inside */
    assert_true(join(0, CROWD_ALL, CROWD_ALL));
    crowd_bury(&crowds, 0);
    assert_true(join(1, 1, CROWD_ALL) && part(1));
}

static void enter_as(struct client *client, int64_t acquired_ns, int64_t lease_end_ns,
                     uint64_t token) {
    client->stamps.acquired_ns = client->at.asked_ns = acquired_ns;
    client->grant.lease_end_ns = lease_end_ns;
    client->grant.token = token;
    entry_enter(client);
}

/* A client that was met holds until it has left: so its time and the other one's overlap in the record, whatever the
 * stamps of release and acquire. One that met a killed client is not marked. */
TEST_WITH(test_who_was_met_and_who_was_dead, setup, NULL) {
    static struct shared shared;
    static struct client_stats stats[8];
    struct worker worker = {.shared = &shared};
    struct client client = {
        .index = 3, .worker = &worker, .stats = &stats[3], .at = {.cell = &cell, .marks = 0}};
    shared.client = stats;
    shared.cells = &cell;
    client.at.entry = enter(3, 100, 0);
    enter(4, 110, 0);
    int64_t before_ns = lb_now();
    entry_leave(&client, 120);
    assert_int_equal(client.at.marks, MARK_MET);
    assert_true(client.at.left_ns >= before_ns);
    atomic_store(&stats[4].doomed, true); /* it is in the cell still */
    enter_as(&client, 130, LB_NEVER, 0);
    assert_int_equal(client.at.marks, 0);
    assert_int_equal(atomic_load(&shared.findings.met), 0);
    entry_leave(&client, 140);
    client.at.entry = enter(5, 150, 0);
    enter_as(&client, 160, LB_NEVER, 0);
    assert_int_equal(client.at.marks, MARK_MET);
    assert_int_equal(client.at.left_ns, 0);
    assert_int_equal(atomic_load(&shared.findings.met), 1);
}

/* A renewal in time moves the end of the lease; one that comes too late is marked, with the end that had passed first. */
TEST_WITH(test_a_lease_that_lapsed, setup, NULL) {
    int64_t now_ns = lb_now();
    struct client client = {.at.lease_end_ns = now_ns + LB_S_NS};
    client.grant.lease_end_ns = now_ns + 2 * LB_S_NS;
    client_renewed(&client);
    assert_int_equal(client.at.marks, 0);
    assert_true(client.at.lease_end_ns == now_ns + 2 * LB_S_NS);
    client.at.lease_end_ns = now_ns - LB_S_NS;
    client_renewed(&client);
    assert_int_equal(client.at.marks, MARK_LAPSED);
    assert_true(client.at.lapsed_ns == now_ns - LB_S_NS);
    assert_true(client.at.renewed_ns >= now_ns);
    client.at.lease_end_ns = now_ns - 1;
    client_renewed(&client);
    assert_true(client.at.lapsed_ns == now_ns - LB_S_NS);
}

/* A client that waits while others get the lock again and again tests each of their grants, and
 * each grant counts once. */
TEST_WITH(test_grants_that_somebody_waited_for, setup, NULL) {
    struct client client = {.at = {.kind = ENTRY_CELL, .cell = &cell}};
    static const struct {
        int64_t asked_ns;
        uint64_t asked_turn, turn;
        int64_t left_ns;
        uint64_t trials;
    } cases[] = {
        {100, 0, 0, 0, 0},   /* the first of all */
        {110, 0, 5, 150, 5}, /* asked in the first grant, and waited for five */
        {130, 2, 6, 160, 1}, /* waited for some of the same */
        {200, 7, 7, 190, 0}, /* nobody was there */
        {210, 7, 9, 220, 2}, /* asked in the grant of before */
        {215, 7, 10, 230, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        client.at.asked_ns = cases[i].asked_ns;
        client.at.asked_turn = cases[i].asked_turn;
        client.at.entry = (struct entry){.turn = cases[i].turn, .releasing_ns = cases[i].left_ns};
        assert_int_equal(entry_trials(&client), cases[i].trials);
    }
}

/* Of a reader/writer lock each writer's grant is a trial, whoever waits for it; a reader's grant is one only for a
 * writer. */
TEST_WITH(test_writers_grants_that_somebody_waited_for, setup, NULL) {
    static struct shared shared = {.readers = 50};
    static struct worker worker = {.shared = &shared};
    struct client client = {.worker = &worker, .at = {.kind = ENTRY_READERS, .cell = &cell}};
    static const struct {
        bool reader;
        int64_t asked_ns;
        uint64_t asked_turn;
        int64_t asked_left_ns;
        uint64_t turn;
        int64_t left_ns;
        uint64_t trials;
    } cases[] = {
        {false, 100, 0, 0, 0, 0, 0},    /* the first of all */
        {false, 110, 0, 0, 5, 150, 5},  /* a writer waited for five writers */
        {true, 120, 3, 90, 7, 160, 2},  /* a reader waited for some of the same, and for two more */
        {true, 200, 7, 190, 7, 190, 0}, /* nobody was there */
        {true, 210, 7, 190, 7, 215, 0}, /* readers were */
        {false, 210, 7, 190, 7, 220, 1}, /* a writer waited for readers */
        /* A writer left while this one began to wait; another waiter counts its grant. */
        {false, 230, 7, 231, 7, 231, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        client.request.shared = cases[i].reader;
        client.at.asked_ns = cases[i].asked_ns;
        client.at.asked_turn = cases[i].asked_turn;
        client.at.asked_left_ns = cases[i].asked_left_ns;
        client.at.entry = (struct entry){.turn = cases[i].turn, .releasing_ns = cases[i].left_ns};
        if (cases[i].reader) client.at.entry = (struct entry){.run = 1};
        atomic_store(&cell.grants, cases[i].turn);
        atomic_store(&cell.releasing_ns, cases[i].left_ns);
        assert_int_equal(entry_trials(&client), cases[i].trials);
    }
}

/* Who stood still between its stamp and its entry comes in after its lease, and its token is rightly the older one. */
TEST_WITH(test_an_old_token_of_who_stood_still, setup, NULL) {
    static struct shared shared;
    static struct client_stats stats[8];
    struct worker worker = {.shared = &shared};
    struct client client = {.worker = &worker, .stats = stats};
    int64_t now_ns = lb_now();
    shared.client = stats;
    shared.cells = &cell;
    for (int late = 0; late < 2; late++) {
        leave(4, enter(4, now_ns, 6 + (uint64_t)late), now_ns);
        int64_t end_ns = late ? now_ns - LB_S_NS : now_ns + 3600 * LB_S_NS;
        enter_as(&client, now_ns - 2 * LB_S_NS, end_ns, 5);
        assert_int_equal(client.at.marks, late ? 0 : MARK_OLD_TOKEN);
        entry_leave(&client, now_ns);
    }
}

/* One cell's surplus must not hide another's loss. */
TEST_WITH(test_each_cell_counts_for_itself, setup, NULL) {
    struct cell two[2];
    memset(two, 0, sizeof two);
    atomic_store(&two[0].grants, 10);
    atomic_store(&two[0].counter, 8);
    atomic_store(&two[1].grants, 10);
    atomic_store(&two[1].counter, 12);
    struct exclusion x = cells_sum(two, 2, &findings);
    assert_int_equal(x.lost_updates, 2);
    assert_int_equal(x.grants, 20);
    assert_int_equal(x.counter, 20);
}

/* A token that is not greater than that of the holder before is marked, also the same one again. */
TEST_WITH(test_tokens_that_do_not_grow, setup, NULL) {
    static const struct {
        uint64_t token;
        uint32_t marks;
    } cases[] = {{5, 0}, {6, 0}, {6, MARK_OLD_TOKEN}, {4, MARK_OLD_TOKEN}, {7, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct entry entry = enter(1, 100, cases[i].token);
        assert_int_equal(entry.marks, cases[i].marks);
        assert_true(leave(1, entry, 110));
    }
}

/* The gravest finding decides. */
TEST(test_what_the_counts_say) {
    static const struct {
        struct exclusion counts;
        enum verdict verdict;
    } cases[] = {
        {{0}, VERDICT_UNCHECKED},
        {{.grants = 9}, VERDICT_CLEAN},
        {{.grants = 9, .starved = 1}, VERDICT_STARVED},
        {{.grants = 9, .starved = 1, .ended = 1}, VERDICT_EXPIRED},
        {{.grants = 9, .expired_holders = 1, .lost_updates = 1}, VERDICT_EXPIRED},
        {{.grants = 9, .expired_holders = 1, .stuck = 1}, VERDICT_STUCK},
        {{.stuck = 1}, VERDICT_STUCK},
        {{.grants = 9, .lost_updates = 1, .stuck = 1}, VERDICT_VIOLATED},
        {{.grants = 9, .revoked = 1, .stuck = 1}, VERDICT_VIOLATED},
        {{.grants = 9, .double_holders = 1, .expired_holders = 1}, VERDICT_VIOLATED},
        {{.grants = 9, .token_errors = 1}, VERDICT_VIOLATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(exclusion_verdict(&cases[i].counts), cases[i].verdict);
}

/* Of three writes that made two versions, one overwrote what it had not read. A write without a version is not checked. */
TEST(test_a_version_that_was_made_twice) {
    static const uint64_t made[] = {7, 8, 8};
    struct versions versions[2];
    struct exclusion x = {0};
    memset(versions, 0, sizeof versions);
    for (int i = 0; i < 3; i++) versions_add(&versions[0], made[i]);
    versions_add(&versions[1], 3);
    versions_add(&versions[1], 0);
    versions_sum(&x, versions, 2);
    assert_int_equal(x.grants, 4);
    assert_int_equal(x.counter, 3);
    assert_int_equal(x.lost_updates, 1);
}

TEST_MAIN(NULL, NULL)
