/* etcd-key on a real server: a release wakes every waiter and serves one of them; a release deletes no other
 * client's key; a waiter that gives up has left nothing.
 * Needs: servers. */
#include "drivers/tests/live_help.h"

#include "drivers/etcd/session.h"

#define CROWD 3
#define EVENTS 100
#define SOON (20 * LB_S_NS) /* waits that ought to end do so by then */

static struct live_place live;

/* True if the waiter has the lock, or watches the key from the revision that it has read. */
static bool settled(const struct live_waiter *waiter) {
    return waiter->outcome != LB_OUTCOMES ||
           etcd_session_of(&waiter->client.session)->watch.transfer.busy;
}

static void wait_until_settled(const struct live_waiter *waiters, uint64_t wakeups) {
    for (int64_t until_ns = lb_now() + SOON; lb_now() < until_ns;) {
        int count = 0;
        for (int i = 0; i < CROWD; i++)
            count += settled(&waiters[i]) && waiters[i].client.session.wakeups >= wakeups;
        if (count == CROWD) return;
        lb_sleep_until(lb_now() + LB_MS_NS);
    }
    CHECK(false, "the waiters did not settle");
}

LIVE(&live, a_release_wakes_every_waiter_and_serves_one) {
    struct live_client holder;
    struct live_waiter waiters[CROWD];
    live_come(&holder, &live, "herd");
    CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
    uint64_t token = holder.grant.token;
    for (int i = 0; i < CROWD; i++) {
        live_come(&waiters[i].client, &live, "herd");
        live_waiter_begin(&waiters[i]);
    }
    wait_until_settled(waiters, 0);
    CHECK(live_release(&holder) == LB_OK, "%s", holder.session.err.text);
    wait_until_settled(waiters, 1);
    int winner = -1, winners = 0;
    for (int i = 0; i < CROWD; i++) {
        if (waiters[i].outcome != LB_OK) continue;
        winner = i;
        winners++;
    }
    CHECK(winners == 1, "one of them gets it");
    if (winners == 1) {
        CHECK(waiters[winner].client.grant.token > token, "tokens grow");
        /* A second release of the earlier grant deletes nothing. */
        CHECK(live_release(&holder) == LB_LOST, "the second release of one grant");
        CHECK(live_acquire(&holder, 0) == LB_BUSY, "%s", holder.session.err.text);
        CHECK(live_release(&waiters[winner].client) == LB_OK);
    }
    /* The others: each takes it in turn. */
    for (int i = 0; i < CROWD; i++) {
        if (i == winner) continue;
        for (int64_t until_ns = lb_now() + SOON;
             waiters[i].outcome == LB_OUTCOMES && lb_now() < until_ns;) {
            for (int j = 0; j < CROWD; j++) {
                if (j == winner || waiters[j].outcome != LB_OK) continue;
                CHECK(live_release(&waiters[j].client) == LB_OK);
                waiters[j].outcome = LB_LOST; /* has been */
            }
            lb_sleep_until(lb_now() + LB_MS_NS);
        }
    }
    for (int i = 0; i < CROWD; i++) {
        lb_join(waiters[i].fiber);
        if (i != winner && waiters[i].outcome == LB_OK)
            CHECK(live_release(&waiters[i].client) == LB_OK);
        live_client_done(&waiters[i].client);
    }
    live_client_done(&holder);
}

/* A busy server starts a watch late, and then sends all the deletions since the watch's revision at once: more than the
 * waiter's buffer holds. The waiter must notice the last one, since no other may follow. */
LIVE(&live, a_crowd_of_events_wakes_the_waiter) {
    struct live_client holder, waiter;
    live_come(&holder, &live, "many");
    live_come(&waiter, &live, "many");
    int64_t first = 0;
    for (int i = 0; i < EVENTS; i++) {
        CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
        if (i == 0) first = (int64_t)holder.grant.token;
        CHECK(live_release(&holder) == LB_OK, "%s", holder.session.err.text);
    }
    struct etcd_session *e = etcd_session_of(&waiter.session);
    ProtobufCBinaryData key = {strlen("many"), (uint8_t *)(uintptr_t) "many"};
    CHECK(etcd_watch_start(e, key, first) == LB_OK, "%s", waiter.session.err.text);
    CHECK(etcd_watch_wait(e, lb_now() + SOON) == LB_OK, "the waiter was not woken");
    etcd_watch_stop(e);
    live_client_done(&waiter);
    live_client_done(&holder);
}

LIVE_MAIN(live, NULL, "etcd-key", "etcd.command_timeout=3s", NULL)
