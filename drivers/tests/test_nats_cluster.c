/* A cluster of three NATS servers: clients spread over them and move on when theirs is gone; the bucket has three
 * replicas, what is held outlives the leader, and who has no password is refused.
 * Needs: servers. */
#include "drivers/tests/live_help.h"

#include "drivers/nats/nats.h"

#define SOON (60 * LB_S_NS) /* NATS's elections take up to 9 s */
#define KEY "orders/7"
#define MEMBERS 3

static struct live_place live;

static bool talks_to(const struct live_client *client, int member) {
    return nats_session_of(&client->session)->endpoint == member;
}

/* A client of the member with its number. A member that does not answer in time, on a busy machine, is passed over for the
 * next one; so the client dials again until it talks to its own. */
static void open_client(struct live_client *client, uint32_t number) {
    int64_t until_ns = lb_now() + SOON;
    struct lb_err err = {0};
    live_client_init(client, &live, KEY);
    client->session.client = number;
    client->request.lease_ns = client->session.lease_ns = 120 * LB_S_NS;
    while (live_dial(client, &err) != 0 || !talks_to(client, (int)number % MEMBERS)) {
        CHECK(lb_now() < until_ns, "client %d does not get to its server: %s", (int)number,
              err.text);
        if (lb_now() >= until_ns) break;
        live_hang_up(client);
        lb_sleep_until(lb_now() + 50 * LB_MS_NS);
    }
}

LIVE(&live, servers_are_shared_out) {
    struct live_client clients[MEMBERS + 1];
    for (int i = 0; i <= MEMBERS; i++) {
        open_client(&clients[i], (uint32_t)i);
    }
    /* One lock for all, whatever server they ask. A server may be a little behind in what it reads. */
    uint64_t last = 0;
    for (int i = 0; i <= MEMBERS; i++) {
        CHECK(live_acquire(&clients[i], SOON) == LB_OK, "%s", clients[i].session.err.text);
        CHECK(live_acquire(&clients[(i + 1) % MEMBERS], 0) == LB_BUSY, "two holders");
        CHECK(clients[i].grant.token > last, "tokens grow");
        last = clients[i].grant.token;
        CHECK(live_release(&clients[i]) == LB_OK, "%s", clients[i].session.err.text);
    }
    for (int i = 0; i <= MEMBERS; i++) live_client_done(&clients[i]);
}

/* Opens a session and acquires until that works: while there is no leader, it fails. */
static enum lb_outcome acquire_at_last(struct live_client *client) {
    int64_t until_ns = lb_now() + SOON;
    struct lb_err err = {0};
    enum lb_outcome outcome = LB_BROKEN;
    while (outcome != LB_OK && outcome != LB_BUSY && lb_now() < until_ns) {
        live_hang_up(client);
        err = (struct lb_err){0};
        if (live_dial(client, &err) == 0)
            outcome = live_acquire(client, 0);
        else
            lb_sleep_until(lb_now() + 50 * LB_MS_NS);
    }
    return outcome;
}

/* Without the password nobody is a client, nor another server of the cluster. */
TEST(strangers_are_refused) {
    LIVE_NEEDS(&live);
    for (int port = 0; port < 2; port++) {
        const char *said = help_ask(topo_port(live.place->topo, 0, port), "CONNECT {}\r\nPING\r\n",
                                    "Authorization Violation");
        if (!*said) fail_msg("port %d lets a stranger in", port);
    }
}

LIVE(&live, the_leader_dies) {
    struct topo *topo = live.place->topo;
    struct live_client holder, orphan;
    struct lb_err err = {0};
    int leader = topo_leader(topo, &err);
    CHECK(leader >= 0 && leader < MEMBERS, "%s", err.text);
    if (leader < 0) return;
    open_client(&holder, (uint32_t)(leader + 1) % MEMBERS);
    open_client(&orphan, (uint32_t)leader);
    CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
    CHECK(topo_kill(topo, leader, &err) == 0, "%s", err.text);
    /* A client whose server is gone moves on to one that serves, and finds the lock held. */
    CHECK(live_acquire(&orphan, 0) != LB_OK, "from a dead server");
    enum lb_outcome outcome = acquire_at_last(&orphan);
    CHECK(outcome == LB_BUSY, "%s: %s", lb_outcome_name(outcome), orphan.session.err.text);
    CHECK(!talks_to(&orphan, leader), "stayed with the dead server");
    /* There is a new leader: the holder's session stands, and frees it. */
    int64_t until_ns = lb_now() + SOON;
    while (topo_leader(topo, &err) < 0 && lb_now() < until_ns)
        lb_sleep_until(lb_now() + LB_S_NS / 20);
    outcome = live_release(&holder);
    CHECK(outcome == LB_OK, "%s: %s", lb_outcome_name(outcome), holder.session.err.text);
    /* The remaining servers may drop a read while they agree on their new leader. */
    outcome = acquire_at_last(&orphan);
    CHECK(outcome == LB_OK, "%s: %s", lb_outcome_name(outcome), orphan.session.err.text);
    CHECK(live_release(&orphan) == LB_OK, "%s", orphan.session.err.text);
    CHECK(topo_restart(topo, leader, &err) == 0, "%s", err.text);
    live_client_done(&holder);
    live_client_done(&orphan);
}

TEST(it_is_a_cluster) {
    LIVE_NEEDS(&live);
    const struct lb_facts *facts = &live.place->facts;
    assert_int_equal(strncmp(lb_facts_value(facts, "cluster"), "lockbench-", 10), 0);
    assert_string_equal(lb_facts_value(facts, "replicas"), "3");
    assert_string_equal(place_guarantee(live.place, live.plan->locks[0].lock), "majority");
}

LIVE_MAIN(live, "nats-3", "nats-kv", "nats.command_timeout=3s", NULL)
