/* ZooKeeper's sessions on a real server: from when they last. All else of them is in stories/zookeeper.story.
 * Needs: servers. */
#include "drivers/tests/live_help.h"
#include "drivers/zookeeper/calls.h"

#define SOON (20 * LB_S_NS) /* waits that ought to end do so by then */

static struct live_place zk;

static void ask_for_the_root(void *arg) {
    struct Stat stat;
    int rc = zk_exists(zk_session_of(arg), "/", &stat);
    CHECK(rc == ZOK, "%s", zerror(rc));
}

/* A session lasts from before its last answered request was sent, whenever the answer came. */
LIVE(&zk, a_session_counts_from_its_requests) {
    enum { ASKS = 3 };
    struct live_client client;
    struct lb_fiber *asks[ASKS];
    live_come(&client, &zk, "counts");
    int64_t timeout_ns = zk_session_of(&client.session)->timeout_ms * LB_MS_NS;
    topo_signal(zk.place->topo, 0, SIGSTOP);
    int64_t before_ns = lb_now();
    for (int i = 0; i < ASKS; i++) {
        asks[i] = lb_start_fiber("asks", ask_for_the_root, &client.session);
        lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    }
    int64_t after_ns = lb_now();
    topo_signal(zk.place->topo, 0, SIGCONT);
    for (int i = 0; i < ASKS; i++) lb_join(asks[i]);
    int64_t from_ns = client.session.lasts_until_ns - timeout_ns;
    CHECK(from_ns >= before_ns, "%lld us too short", (long long)(before_ns - from_ns) / 1000);
    CHECK(from_ns <= after_ns, "%lld us too long", (long long)(from_ns - after_ns) / 1000);
    /* A session that asks for nothing is kept by pings. */
    for (int64_t until_ns = lb_now() + SOON; lb_now() < until_ns;) {
        if (client.session.lasts_until_ns - timeout_ns > after_ns) break;
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    }
    CHECK(client.session.lasts_until_ns - timeout_ns > after_ns, "no ping counted");
    live_client_done(&client);
}

LIVE_MAIN(zk, NULL, "zk-lock", "zookeeper.command_timeout=3s", NULL)
