/* test_history_hosts: histories of clients on several hosts, whose clocks are off by an unknown part of a known error: a lock
 * that excludes is never accused, and one that does not is caught when its overlaps are longer than the clocks hide. */
#include <inttypes.h>

#include "bench/base/rng.h"
#include "bench/tests/history_say.h"

#define ERROR_NS 1000
#define HOSTS 3
#define GRANTS 400

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char step[200];
    va_list args;
    va_start(args, format);
    vsnprintf(step, sizeof step, format, args);
    va_end(args);
    tell(step, NULL);
}

static void assert_violations(uint64_t count) {
    struct judgement judgement;
    book_end(&book, 0, true);
    assert_int_equal(oplog_judge(&book, &judgement, NULL, &err), 0);
    assert_int_equal(judgement.verdict, count ? OPLOG_VIOLATED : OPLOG_CLEAN);
    assert_int_equal(judgement.violations, count);
    book_done(&book);
}

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
    begin_as(OPLOG_MUTEX, 1, false);
    book.rules.error_ns = ERROR_NS;
}

/* Holds of 20 ns to 10 us, a moment apart, with tokens that grow. */
TEST(test_a_lock_that_excludes_is_never_accused) {
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
            say("%u got %" PRId64 " %" PRId64 " token %" PRIu64, client, called_ns,
                from_ns > called_ns ? from_ns : called_ns, token);
            now_ns += 20 + below(&telling, below(&telling, 1) ? 100 : 10000);
            int64_t to_ns = told(&telling, client, now_ns);
            say("%u released %" PRId64 " %" PRId64, client, to_ns, to_ns + 15);
            now_ns += 30;
        }
        assert_violations(0);
    }
}

/* Both hold for long enough that no error of their clocks explains it. */
TEST(test_a_long_overlap_is_seen_whatever_the_clocks_are) {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct telling telling;
        begin_telling(&telling, seed);
        for (uint32_t client = 0; client < 2; client++) {
            int64_t called_ns = told(&telling, client, 100050);
            int64_t from_ns = told(&telling, client, 110000);
            int64_t to_ns = told(&telling, client, 110000 + 4 * ERROR_NS + 100);
            say("%u got %" PRId64 " %" PRId64 "; %u released %" PRId64 " 200000", client, called_ns,
                from_ns, client, to_ns);
        }
        assert_violations(1);
    }
}

TEST_MAIN(NULL, NULL)
