/* etcd-chubby on a real server: readers together and writers alone, the lock-delay after a holder's
 * expiry and none after its release, and how a holder learns that its session is lost.
 * Needs: servers. */
#include "drivers/tests/live_help.h"

#include "drivers/etcd/session.h"

#define SOON (30 * LB_S_NS) /* waits that ought to end do so by then */
#define KEY "ls/cell/orders:7"

static struct live_place chubby;

static void open_client(struct live_client *client, const struct live_place *live) {
    live_client_init(client, live, KEY);
    client->session.lease_ns = 2 * LB_S_NS; /* the shortest that etcd has */
    live_connect(client);
}

/* The writer that waits is not starved by readers who come later. */
LIVE(&chubby, readers_queue_behind_a_writer) {
    struct live_client reader;
    struct live_waiter writer, late;
    open_client(&reader, arg);
    open_client(&writer.client, arg);
    open_client(&late.client, arg);
    reader.request.shared = late.client.request.shared = true;
    CHECK(live_acquire(&reader, 0) == LB_OK, "%s", reader.session.err.text);
    live_waiter_begin(&writer);
    while (!etcd_session_of(&writer.client.session)->watch.transfer.busy &&
           writer.outcome == LB_OUTCOMES)
        lb_sleep_until(lb_now() + LB_MS_NS);
    CHECK(live_acquire(&late.client, 0) == LB_BUSY, "a reader overtook a waiting writer");
    live_waiter_begin(&late);
    CHECK(live_release(&reader) == LB_OK, "%s", reader.session.err.text);
    lb_join(writer.fiber);
    CHECK(writer.outcome == LB_OK, "%s", writer.client.session.err.text);
    CHECK(late.outcome == LB_OUTCOMES, "a reader beside a writer");
    CHECK(live_release(&writer.client) == LB_OK, "%s", writer.client.session.err.text);
    lb_join(late.fiber);
    CHECK(late.outcome == LB_OK, "%s", late.client.session.err.text);
    CHECK(late.client.grant.token > writer.client.grant.token, "tokens grow");
    CHECK(live_release(&late.client) == LB_OK, "%s", late.client.session.err.text);
    live_client_done(&reader);
    live_client_done(&writer.client);
    live_client_done(&late.client);
}

static int losses;

static void note_loss(struct lb_session *session) {
    (void)session;
    losses++;
}

/* As if the client's machine were gone: nothing keeps the session alive any more, and the client
 * sends nothing. */
static void vanish(struct live_client *client) {
    etcd_session_of(&client->session)->keep_due_ns = LB_NEVER;
    lb_wake(etcd_session_of(&client->session)->keeper);
}

/* Whether the server has a key of one that holds the lock, alone or with others. */
static bool is_held(struct live_client *guard) {
    static const char alone[] = "chubby/" KEY "\0w", shared[] = "chubby/" KEY "\0r/",
                      shared_end[] = "chubby/" KEY "\0r0";
    struct etcd_session *e = etcd_session_of(&guard->session);
    int64_t keys = 0;
    for (int i = 0; i < 2; i++) {
        Etcdserverpb__RangeRequest range = etcd_get(i == 0 ? etcd_bytes(alone, sizeof alone - 1)
                                                           : etcd_bytes(shared, sizeof shared - 1));
        if (i == 1) range.range_end = etcd_bytes(shared_end, sizeof shared_end - 1);
        CHECK(etcd_read(e, &etcd_range, &range.base) == LB_OK, "%s", guard->session.err.text);
        keys += ((const Etcdserverpb__RangeResponse *)etcd_answer(&e->call))->count;
    }
    return keys > 0;
}

static void wait_for_expiry(struct live_client *guard) {
    for (int64_t until_ns = lb_now() + SOON; is_held(guard) && lb_now() < until_ns;)
        lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    CHECK(!is_held(guard), "the session never expired");
}

LIVE(&chubby, delay_after_an_expiry) {
    struct live_client holder, other, reader;
    open_client(&holder, arg);
    open_client(&other, arg);
    open_client(&reader, arg);
    reader.request.shared = true;
    /* No lock-delay after a release, nor after a session that its client ended. */
    CHECK(live_acquire(&holder, 0) == LB_OK, "%s", holder.session.err.text);
    CHECK(live_release(&holder) == LB_OK, "%s", holder.session.err.text);
    CHECK(live_acquire(&holder, 0) == LB_OK, "%s", holder.session.err.text);
    live_hang_up(&holder);
    CHECK(live_acquire(&other, 0) == LB_OK, "%s", other.session.err.text);
    CHECK(live_release(&other) == LB_OK, "%s", other.session.err.text);

    live_connect(&holder);
    CHECK(live_acquire(&holder, 0) == LB_OK, "%s", holder.session.err.text);
    uint64_t generation = holder.grant.token;
    vanish(&holder);
    wait_for_expiry(&other);
    /* The key that the dead holder left keeps all clients out until the server deletes it. */
    CHECK(live_acquire(&other, 0) == LB_BUSY, "a writer within the lock-delay");
    CHECK(live_acquire(&reader, 0) == LB_BUSY, "a reader within the lock-delay");
    CHECK(live_release(&holder) == LB_LOST, "the release of a lock that had expired");
    CHECK(live_acquire(&other, 0) == LB_BUSY, "the late release ended the lock-delay");
    CHECK(live_acquire(&other, SOON) == LB_OK, "%s", other.session.err.text);
    CHECK(other.grant.token > generation, "generations grow");
    CHECK(live_release(&other) == LB_OK, "%s", other.session.err.text);

    /* A dead reader keeps writers out for the lock-delay, but not readers. */
    live_hang_up(&holder);
    live_connect(&holder);
    holder.request.shared = true;
    CHECK(live_acquire(&holder, 0) == LB_OK, "%s", holder.session.err.text);
    vanish(&holder);
    wait_for_expiry(&other);
    CHECK(live_acquire(&other, 0) == LB_BUSY, "a writer within the lock-delay of a reader");
    CHECK(live_acquire(&reader, 0) == LB_OK, "%s", reader.session.err.text);
    CHECK(live_release(&reader) == LB_OK, "%s", reader.session.err.text);
    CHECK(live_acquire(&other, SOON) == LB_OK, "%s", other.session.err.text);
    CHECK(live_release(&other) == LB_OK, "%s", other.session.err.text);
    live_client_done(&holder);
    live_client_done(&other);
    live_client_done(&reader);
}

/* The server falls silent: in jeopardy after the lease's end, lost after the grace period. */
LIVE(&chubby, silence_is_jeopardy) {
    const struct live_place *live = arg;
    struct live_client holder;
    open_client(&holder, live);
    losses = 0;
    holder.session.on_lost = note_loss;
    struct etcd_session *e = etcd_session_of(&holder.session);
    CHECK(live_acquire(&holder, 0) == LB_OK, "%s", holder.session.err.text);
    CHECK(e->grace_ns > 0, "no grace period");
    topo_signal(live->place->topo, 0, SIGSTOP);
    int64_t until_ns = lb_now() + SOON;
    while (!losses && lb_now() < until_ns) {
        int64_t seen_ns = lb_now();
        lb_sleep_until(seen_ns + 10 * LB_MS_NS);
        /* The loss must not be reported before the grace period is over: until then no other client
         * can get the lock. */
        CHECK(!losses || lb_now() >= e->alive_until_ns + e->grace_ns,
              "given up within the grace period");
    }
    CHECK(losses == 1, "told %d times", losses);
    CHECK(live_acquire(&holder, 0) == LB_BROKEN, "a session that has ended");
    topo_signal(live->place->topo, 0, SIGCONT);
    live_client_done(&holder);
}

LIVE_MAIN(chubby, NULL, "etcd-chubby", "etcd.command_timeout=3s", "etcd-chubby.lock_delay=4s",
          "etcd-chubby.grace=2s", NULL)
