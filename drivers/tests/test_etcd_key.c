/* etcd-key on a real server: many deletions at once wake a waiter. What else a release does is in stories/etcd.story.
 * Needs: servers. */
#include "drivers/tests/live_help.h"

#include "drivers/etcd/session.h"

#define EVENTS 100
#define SOON (20 * LB_S_NS) /* waits that ought to end do so by then */

static struct live_place live;

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
