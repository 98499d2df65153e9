/* test_tls_neighbours: one client's TLS connection ends, and the other clients of the same thread go on. OpenSSL
 * keeps its errors in one queue for each thread, and takes what it finds there for the next connection's.
 * Needs: servers. */
#include "drivers/tests/live_help.h"

#include <sys/socket.h>

#define ROUNDS 3

static void neighbours(void *arg) {
    struct live_place *live = arg;
    struct live_client holder, waiter, victim;
    live_come(&holder, live, "key");
    live_come(&waiter, live, "key");
    CHECK(live_acquire(&holder, 10 * LB_S_NS) == LB_OK, "%s", holder.session.err.text);
    for (int i = 0; i < ROUNDS && !check_failed[0]; i++) {
        char key[40]; /* of each round: a lease outlives its victim */
        snprintf(key, sizeof key, "key of round %d", i);
        live_come(&victim, live, key);
        victim.request.key_number += 1 + (uint64_t)i;
        CHECK(live_acquire(&victim, 10 * LB_S_NS) == LB_OK, "%s", victim.session.err.text);
        CHECK(shutdown(victim.session.traffic_fd, SHUT_RD) == 0, "no connection to end");
        live_release(&victim); /* fails, unless its answer is there by now */
        /* Its answer is not there yet, so OpenSSL is asked why. */
        enum lb_outcome outcome = live_acquire(&waiter, 100 * LB_MS_NS);
        CHECK(outcome == LB_TIMEOUT, "the waiter got %s: %s", lb_outcome_name(outcome),
              waiter.session.err.text);
        live_client_done(&victim);
    }
    CHECK(live_release(&holder) == LB_OK, "%s", holder.session.err.text);
    live_client_done(&waiter);
    live_client_done(&holder);
}

static void on(const char *lock) {
    static const char *const sets[] = {"servers.tls=yes", NULL};
    struct live_place live = live_open(lock, sets);
    LIVE_NEEDS(&live);
    live_run(neighbours, &live);
    live_close(&live);
}

TEST(mariadb) {
    on("mysql-getlock");
}

TEST(postgresql) {
    on("pg-advisory");
}

TEST(redis) {
    on("redis-setnx");
}

TEST_MAIN(NULL, NULL)
