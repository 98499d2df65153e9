/* ZooKeeper's sessions on a real server: from when they last, and whose node is whose on one session. All else of them is in
 * stories/zookeeper.story.
 * Needs: servers. */
#include "drivers/tests/live_help.h"
#include "drivers/zookeeper/mutex.h"

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

static int count_nodes(struct zk_session *z, const char *path) {
    struct zk_names names;
    int rc = zk_names_of(z, path, &names);
    CHECK(rc == ZOK, "%s: %s", path, zerror(rc));
    zk_names_done(&names);
    return names.count;
}

/* Clients of one session of the C recipe: a client that does not know whether its node was made
 * must not take another client's node. */
LIVE(&zk, clients_of_a_session_know_their_nodes) {
    static const char path[] = "/lockbench/doubt";
    struct live_client host;
    live_come_as(&host, &zk, 1, "doubt");
    CHECK(live_acquire(&host, SOON) == LB_OK, "%s", host.session.err.text);
    struct zk_session *z = zk_session_of(&host.session);
    const struct lb_algorithm *algorithm = host.session.lock->algorithm;
    /* Another client, as after a creation whose answer was lost: the session, and no name. */
    struct zk_place place = {.session = *zoo_client_id(z->handle)};
    struct lb_grant grant = {.data = &place};
    struct lb_request request = host.request;
    request.client = 1;
    request.deadline_ns = 0;
    snprintf(place.parent, sizeof place.parent, "%s", path);
    CHECK(algorithm->settle(&host.session, &request, &grant) == LB_OK);
    CHECK(count_nodes(z, path) == 1, "settling took the holder's node");
    /* And one that was made is found. */
    char made[ZK_NAME_MAX], full[ZK_PATH_MAX];
    zk_recipe_base(place.session.client_id, made);
    snprintf(full, sizeof full, "%s/%s", path, made);
    CHECK(zk_create(z, full, NULL, ZOO_EPHEMERAL_SEQUENTIAL, NULL, NULL) == ZOK);
    CHECK(count_nodes(z, path) == 2);
    place.session = *zoo_client_id(z->handle);
    CHECK(algorithm->settle(&host.session, &request, &grant) == LB_OK);
    CHECK(count_nodes(z, path) == 1, "settling found nothing");
    CHECK(algorithm->acquire(&host.session, &request, &grant) == LB_BUSY);
    CHECK(live_release(&host) == LB_OK, "%s", host.session.err.text);
    CHECK(count_nodes(z, path) == 0);
    live_client_done(&host);
}

LIVE_MAIN(zk, NULL, "zk-lock,zk-recipe", "zookeeper.command_timeout=3s", NULL)
