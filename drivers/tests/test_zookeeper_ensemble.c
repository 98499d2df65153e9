/* Three ZooKeeper servers: their facts about themselves; a lock outlives the leader's death and the
 * server that its session talks to; and without a majority no client gets a lock.
 * Needs: servers. */
#include "drivers/tests/live_help.h"

#include <sys/socket.h>

#include "drivers/zookeeper/mutex.h"
#include "drivers/zookeeper/session.h"

#define SOON (30 * LB_S_NS) /* elections included */
#define NODES 3

static struct live_place zk;

/* The node that a session talks to. */
static int node_of(const struct live_client *client) {
    struct sockaddr_in peer;
    socklen_t len = sizeof peer;
    if (getpeername(client->session.traffic_fd, (struct sockaddr *)&peer, &len) != 0) return -1;
    for (int i = 0; i < NODES; i++) {
        if (topo_port(zk.place->topo, i, 0) == ntohs(peer.sin_port)) return i;
    }
    return -1;
}

/* Whether a node answers with this in its state. A node that elects, or copies, has no mode. */
static bool says(int node, const char *mode) {
    const struct zk_server *server = zk.place->server.state;
    char answer[4096];
    return zk_ask(&server->host[node], server->host_len[node], "srvr", answer, sizeof answer,
                  lb_now() + LB_S_NS) > 0 &&
           strstr(answer, mode);
}

static int leader(void) {
    int64_t until_ns = lb_now() + SOON;
    while (lb_now() < until_ns) {
        for (int i = 0; i < NODES; i++) {
            if (says(i, "Mode: leader")) return i;
        }
        lb_sleep_until(lb_now() + 50 * LB_MS_NS);
    }
    return -1;
}

/* Waits until all nodes serve. A server that an earlier test restarted may still be joining; a test
 * that then killed another one would take the majority away, for longer than a session lasts. */
static void await_all(void) {
    int64_t until_ns = lb_now() + 3 * SOON;
    int serving = 0;
    while (serving < NODES && lb_now() < until_ns) {
        if (says(serving, "Mode: ")) {
            serving++;
        } else {
            lb_sleep_until(lb_now() + 50 * LB_MS_NS);
        }
    }
    CHECK(serving == NODES, "node %d does not serve", serving);
}

static void brings_back(int node) {
    struct lb_err err = {0};
    while (topo_pid(zk.place->topo, node) > 0 && topo_check(zk.place->topo, NULL) == 0)
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    CHECK(topo_restart(zk.place->topo, node, &err) == 0, "%s", err.text);
}

LIVE(&zk, says_what_it_is) {
    CHECK(strcmp(live_fact(&zk, "ensemble"), "3") == 0, "an ensemble of '%s'",
          live_fact(&zk, "ensemble"));
    CHECK(strcmp(live_fact(&zk, "mode"), "leader") == 0 ||
              strcmp(live_fact(&zk, "mode"), "follower") == 0,
          "'%s'", live_fact(&zk, "mode"));
    CHECK(strcmp(live_fact(&zk, "tick_ms"), "2000") == 0, "ticks of '%s'",
          live_fact(&zk, "tick_ms"));
    CHECK(strncmp(live_fact(&zk, "session_timeout_ms"), "10000 ", 6) == 0, "'%s'",
          live_fact(&zk, "session_timeout_ms"));
    CHECK(strncmp(live_fact(&zk, "connected_to"), "127.0.0.1:", 10) == 0, "'%s'",
          live_fact(&zk, "connected_to"));
    CHECK(live_fact(&zk, "version")[0] != '\0');
}

/* Asks until there is an answer, because an ensemble that has just lost a server may close the
 * connection of a client that it had accepted a moment before. */
static enum lb_outcome asks(struct live_client *client, int64_t wait_ns) {
    int64_t until_ns = lb_now() + SOON;
    for (;;) {
        enum lb_outcome outcome = live_acquire(client, wait_ns);
        if (outcome == LB_UNKNOWN) {
            live_settle(client);
        } else if (outcome != LB_BROKEN) {
            return outcome;
        }
        if (lb_now() >= until_ns) return outcome;
        lb_sleep_until(lb_now() + 50 * LB_MS_NS);
    }
}

static void a_lock_outlives(int (*victim)(const struct live_client *holder)) {
    struct live_client holder, other;
    await_all();
    live_client_init(&holder, &zk, "outlives");
    live_client_init(&other, &zk, "outlives");
    holder.session.lease_ns = SOON; /* outlives the slowest election */
    live_connect(&holder);
    CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
    uint64_t token = holder.grant.token;
    int node = victim(&holder);
    CHECK(node >= 0, "no node to kill");
    if (node < 0) return;
    topo_signal(zk.place->topo, node, SIGKILL);
    int64_t until_ns = lb_now() + SOON;
    struct lb_err err = {0};
    while (live_dial(&other, &err) != 0 && lb_now() < until_ns) {
        live_hang_up(&other);
        lb_sleep_until(lb_now() + 50 * LB_MS_NS);
    }
    CHECK(asks(&other, 0) == LB_BUSY, "%s", other.session.err.text);
    enum lb_outcome outcome = live_release(&holder);
    CHECK(outcome == LB_OK, "%s: %s", lb_outcome_name(outcome), holder.session.err.text);
    CHECK(asks(&other, SOON) == LB_OK, "%s", other.session.err.text);
    CHECK(other.grant.token > token, "tokens grow over a leader's death");
    CHECK(live_release(&other) == LB_OK, "%s", other.session.err.text);
    brings_back(node);
    live_client_done(&other);
    live_client_done(&holder);
}

static int its_leader(const struct live_client *holder) {
    (void)holder;
    return leader();
}

LIVE(&zk, the_leaders_death) {
    a_lock_outlives(its_leader);
}

LIVE(&zk, its_servers_death) {
    a_lock_outlives(node_of);
}

static struct lb_session *told;

static void note_loss(struct lb_session *session) {
    told = session;
}

/* Two of three servers are gone: no client gets a grant, and the holder learns by its own clock
 * that its session is over. When they come back, locks are granted again. */
LIVE(&zk, no_majority_no_lock) {
    struct live_client holder, other;
    await_all();
    live_client_init(&holder, &zk, "minority");
    live_client_init(&other, &zk, "minority");
    holder.session.lease_ns = 4 * LB_S_NS;
    holder.session.on_lost = note_loss;
    live_connect(&holder);
    CHECK(leader() >= 0);
    CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
    topo_signal(zk.place->topo, 0, SIGKILL);
    topo_signal(zk.place->topo, 1, SIGKILL);
    struct lb_err err = {0};
    CHECK(other.session.server->backend->connector->connect(&other.session, lb_now() + LB_S_NS,
                                                            &err) != 0,
          "a session without a majority");
    for (int64_t until_ns = lb_now() + SOON; !told && lb_now() < until_ns;)
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    CHECK(told == &holder.session, "the holder was not told");
    live_hang_up(&other);
    live_hang_up(&holder);
    brings_back(0);
    brings_back(1);
    int64_t until_ns = lb_now() + 2 * SOON;
    while (live_dial(&other, &err) != 0 && lb_now() < until_ns) {
        live_hang_up(&other);
        lb_sleep_until(lb_now() + 50 * LB_MS_NS);
    }
    CHECK(asks(&other, SOON) == LB_OK, "%s", other.session.err.text);
    CHECK(live_release(&other) == LB_OK, "%s", other.session.err.text);
    live_client_done(&other);
    live_client_done(&holder);
}

LIVE_MAIN(zk, "zookeeper-3", "zk-lock", NULL)
