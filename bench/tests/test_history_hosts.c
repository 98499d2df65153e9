/* test_history_hosts: histories of clients on several hosts, whose clocks are off by an unknown part of a known error: a lock
 * that excludes is never accused, and one that does not is caught when its overlaps are longer than the clocks hide. */
#include "bench/base/rng.h"
#include "bench/tests/history_say.h"

#define ERROR_NS 1000
#define HOSTS 3
#define GRANTS 400

/* True holds, one after the other, told by clocks that are off by up to the error and wander within it. */
struct telling {
    struct lb_rng rng;
    int64_t off_ns[HOSTS];
};

static int64_t below(struct telling *telling, int64_t most) {
    return (int64_t)rng_below(&telling->rng, (uint64_t)most + 1);
}

/* Never backwards for one client: two of its stamps are further apart than its clock wanders. */
static int64_t told(struct telling *telling, uint32_t client, int64_t true_ns) {
    int64_t *off_ns = &telling->off_ns[client % HOSTS];
    *off_ns += below(telling, 20) - 10;
    if (*off_ns > ERROR_NS) *off_ns = ERROR_NS;
    if (*off_ns < -ERROR_NS) *off_ns = -ERROR_NS;
    return true_ns + *off_ns;
}

static void begin_telling(struct telling *telling, uint64_t seed) {
    rng_seed(&telling->rng, seed, 1);
    for (int host = 0; host < HOSTS; host++)
        telling->off_ns[host] = below(telling, 2 * ERROR_NS) - ERROR_NS;
    become(OPLOG_MUTEX, 1, false);
    book.rules.error_ns = ERROR_NS;
}

/* Holds of 20 ns to 10 us, a moment apart, with tokens that grow. */
KNOWN(test_a_lock_that_excludes_is_never_accused) {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct telling telling;
        begin_telling(&telling, seed);
        int64_t now_ns = 100000;
        uint32_t last = CLIENTS;
        for (uint64_t token = 1; token <= GRANTS; token++) {
            uint32_t client = (uint32_t)below(&telling, CLIENTS - 1);
            if (client == last) client = (client + 1) % CLIENTS;
            last = client;
            int64_t called_ns = told(&telling, client, now_ns + 30);
            now_ns += 60 + below(&telling, 200);
            int64_t from_ns = told(&telling, client, now_ns);
            got_token(client, called_ns, from_ns > called_ns ? from_ns : called_ns, token);
            now_ns += 20 + below(&telling, below(&telling, 1) ? 100 : 10000);
            int64_t to_ns = told(&telling, client, now_ns);
            released(client, to_ns, to_ns + 15);
            now_ns += 30;
        }
        assert_verdict(OPLOG_CLEAN, 0, 0, 0);
    }
}

/* Both hold for long enough that no error of their clocks explains it. */
KNOWN(test_a_long_overlap_is_seen_whatever_the_clocks_are) {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct telling telling;
        begin_telling(&telling, seed);
        got(0, told(&telling, 0, 100000), told(&telling, 0, 100100));
        got(1, told(&telling, 1, 100050), told(&telling, 1, 110000));
        released(1, told(&telling, 1, 110000 + 4 * ERROR_NS + 100), 200000);
        released(0, told(&telling, 0, 110000 + 4 * ERROR_NS + 100), 200000);
        assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
    }
}

KNOWN(test_a_short_overlap_is_not_claimed) {
    book.rules.error_ns = ERROR_NS;
    got(0, 100000, 100100);
    got(1, 100050, 110000);
    released(0, 110000 + 2 * ERROR_NS, 112500);
    released(1, 120000, 120100);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
}

KNOWN(test_the_same_overlap_on_one_clock_is) {
    got(0, 100000, 100100);
    got(1, 100050, 110000);
    released(0, 110000 + 2 * ERROR_NS, 112500);
    released(1, 120000, 120100);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

/* A grant that returned certainly before another was asked for must have the smaller token. */
KNOWN(test_tokens_are_judged_where_the_order_is_certain) {
    book.rules.error_ns = ERROR_NS;
    got_token(0, 100000, 100100, 7);
    released(0, 100200, 100300);
    got_token(1, 100200, 100400, 6); /* within the error: perhaps the first of the two */
    released(1, 100500, 100600);
    got_token(2, 200000, 200100, 5);
    released(2, 200200, 200300);
    assert_verdict(OPLOG_VIOLATED, 0, 0, 1);
}

TEST_MAIN(NULL, NULL)
