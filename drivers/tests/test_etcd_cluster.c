/* A cluster of three etcd servers: clients spread over the members and move on when theirs is gone;
 * the lock outlives the leader, for its holder and for those who wait.
 * Needs: servers. */
#include "drivers/tests/live_help.h"

#include "drivers/etcd/queue.h"

#define SOON (30 * LB_S_NS)
#define KEY "orders/7"
#define MEMBERS 3

static struct live_place live;

static bool talks_to(const struct live_client *client, int member) {
    char base[64];
    snprintf(base, sizeof base, "http://127.0.0.1:%d", topo_port(live.place->topo, member, 0));
    return strcmp(etcd_session_of(&client->session)->http.endpoint->base, base) == 0;
}

static void open_client(struct live_client *client, uint32_t number) {
    live_client_init(client, &live, KEY);
    client->session.client = number;
    live_connect(client);
}

LIVE(&live, members_are_shared_out) {
    struct live_client clients[MEMBERS + 1];
    for (int i = 0; i <= MEMBERS; i++) {
        open_client(&clients[i], (uint32_t)i);
        CHECK(talks_to(&clients[i], i % MEMBERS), "client %d talks to %s", i,
              etcd_session_of(&clients[i].session)->http.endpoint->base);
    }
    /* One lock for all, whatever member they ask. */
    uint64_t last = 0;
    for (int i = 0; i <= MEMBERS; i++) {
        CHECK(live_acquire(&clients[i], 0) == LB_OK, "%s", clients[i].session.err.text);
        CHECK(live_acquire(&clients[(i + 1) % MEMBERS], 0) == LB_BUSY, "two holders");
        CHECK(clients[i].grant.token > last, "tokens grow");
        last = clients[i].grant.token;
        CHECK(live_release(&clients[i]) == LB_OK, "%s", clients[i].session.err.text);
    }
    for (int i = 0; i <= MEMBERS; i++) live_client_done(&clients[i]);
}

LIVE(&live, the_leader_dies) {
    struct topo *topo = live.place->topo;
    struct live_client holder, waiter, orphan;
    struct lb_err err = {0};
    int leader = atoi(live_fact(&live, "leader") + strlen("node"));
    open_client(&holder, (uint32_t)(leader + 1) % MEMBERS);
    open_client(&waiter, (uint32_t)(leader + 2) % MEMBERS);
    open_client(&orphan, (uint32_t)leader);
    CHECK(talks_to(&orphan, leader));
    CHECK(live_acquire(&holder, 0) == LB_OK, "%s", holder.session.err.text);
    topo_signal(topo, leader, SIGKILL);
    /* The holder still has it, and frees it as soon as there is a new leader. */
    CHECK(live_acquire(&waiter, 3 * LB_S_NS) != LB_OK, "two holders");
    live_hang_up(&waiter);
    live_connect(&waiter);
    CHECK(live_acquire(&waiter, 0) == LB_BUSY, "%s", waiter.session.err.text);
    enum lb_outcome outcome = live_release(&holder);
    CHECK(outcome == LB_OK, "%s: %s", lb_outcome_name(outcome), holder.session.err.text);
    CHECK(live_acquire(&waiter, SOON) == LB_OK, "%s", waiter.session.err.text);
    CHECK(live_release(&waiter) == LB_OK, "%s", waiter.session.err.text);
    /* A client whose member is gone moves on to the next one. */
    CHECK(live_acquire(&orphan, 0) != LB_OK, "from a dead server");
    live_hang_up(&orphan);
    live_connect(&orphan);
    CHECK(talks_to(&orphan, (leader + 1) % MEMBERS), "moved to %s",
          etcd_session_of(&orphan.session)->http.endpoint->base);
    CHECK(live_acquire(&orphan, SOON) == LB_OK, "%s", orphan.session.err.text);
    CHECK(live_release(&orphan) == LB_OK, "%s", orphan.session.err.text);
    while (topo_check(topo, NULL) == 0) lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    CHECK(topo_restart(topo, leader, &err) == 0, "%s", err.text);
    live_client_done(&holder);
    live_client_done(&waiter);
    live_client_done(&orphan);
}

TEST(test_it_is_a_cluster) {
    LIVE_NEEDS(&live);
    assert_string_equal(live_fact(&live, "members"), "3");
    assert_int_equal(strncmp(live_fact(&live, "leader"), "node", 4), 0);
}

LIVE_MAIN(live, "etcd-3", "etcd-mutex", "etcd.command_timeout=3s", NULL)
