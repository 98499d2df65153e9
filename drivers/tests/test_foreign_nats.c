/* nats-kv against the real foreign client, libnats: its kv.Create and kv.Update and ours exclude
 * each other, both ways; the entries in the bucket meanwhile; and the effect of its kv.Delete,
 * which states no sequence.
 * Needs: servers. */
#include "drivers/tests/live_help.h"

#ifdef LB_TEST_LIBNATS
#include <nats/nats.h>

#define SOON (30 * LB_S_NS) /* waits that ought to end do so by then */
#define KEY "orders/7.open"

static struct live_place live;
static natsConnection *connection;
static jsCtx *jetstream;

/* The part of the driver's grant data that a test fills in itself. */
struct kv_grant {
    char owner[17];
    uint64_t expected, sequence;
};

static kvStore *bucket(const char *name) {
    kvStore *kv = NULL;
    natsStatus status = js_KeyValue(&kv, jetstream, name);
    CHECK(status == NATS_OK, "bucket %s: %s", name, natsStatus_GetText(status));
    return kv;
}

/* Makes the key, as a client does that locks by it. Its revision, 0 if it was there. */
static uint64_t create(kvStore *kv) {
    uint64_t revision = 0;
    return kvStore_CreateString(&revision, kv, KEY, "theirs") == NATS_OK ? revision : 0;
}

static bool there(kvStore *kv, const char *value, uint64_t revision) {
    kvEntry *entry = NULL;
    bool same = false;
    if (kvStore_Get(&entry, kv, KEY) != NATS_OK) return false;
    same = kvEntry_Revision(entry) == revision && strcmp(kvEntry_ValueString(entry), value) == 0;
    kvEntry_Destroy(entry);
    return same;
}

struct letting_go {
    kvStore *kv;
    bool purge;
};

static void let_go(void *arg) {
    struct letting_go *going = arg;
    lb_sleep_until(lb_now() + 100 * LB_MS_NS);
    natsStatus status =
        going->purge ? kvStore_Purge(going->kv, KEY, NULL) : kvStore_Delete(going->kv, KEY);
    CHECK(status == NATS_OK, "%s", natsStatus_GetText(status));
}

LIVE(&live, theirs_holds) {
    struct live_client ours;
    live_come(&ours, &live, KEY);
    kvStore *kv = bucket("lockbench_10000ms");
    for (int purge = 0; purge < 2 && kv; purge++) {
        uint64_t revision = create(kv);
        CHECK(revision > 0, "they could not get it");
        CHECK(live_acquire(&ours, 0) == LB_BUSY, "%s", ours.session.err.text);
        CHECK(live_acquire(&ours, 50 * LB_MS_NS) == LB_TIMEOUT, "%s", ours.session.err.text);
        CHECK(live_release(&ours) == LB_LOST, "we freed theirs");
        CHECK(there(kv, "theirs", revision), "their entry was touched");
        struct letting_go going = {kv, purge};
        struct lb_fiber *helper = lb_start_fiber("theirs", let_go, &going);
        CHECK(live_acquire(&ours, SOON) == LB_OK, "%s", ours.session.err.text);
        lb_join(helper);
        CHECK(ours.grant.token > revision, "tokens grow");
        CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    }
    kvStore_Destroy(kv);
    live_client_done(&ours);
}

LIVE(&live, ours_holds) {
    struct live_client ours;
    live_come(&ours, &live, KEY);
    kvStore *kv = bucket("lockbench_10000ms");
    if (!kv) return;
    const struct kv_grant *mine = ours.grant.data;
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(there(kv, mine->owner, ours.grant.token), "our entry is not what we say");
    CHECK(create(kv) == 0, "they got what we hold");
    uint64_t revision = ours.grant.token, later = 0;
    CHECK(kvStore_UpdateString(&later, kv, KEY, "theirs", revision - 1) != NATS_OK,
          "an update of ours");
    CHECK(live_renew(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(ours.grant.token == revision, "a renewal is no new grant");
    CHECK(there(kv, mine->owner, mine->sequence) && mine->sequence > revision, "the renewed entry");
    CHECK(create(kv) == 0, "they got what we renewed");
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_LOST, "a second release");
    revision = create(kv);
    CHECK(revision > ours.grant.token, "they did not get what is free");
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "%s", ours.session.err.text);
    CHECK(kvStore_UpdateString(&later, kv, KEY, "theirs", revision) == NATS_OK, "their renewal");
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "%s", ours.session.err.text);
    CHECK(kvStore_Delete(kv, KEY) == NATS_OK);
    kvStore_Destroy(kv);
    live_client_done(&ours);
}

/* The reason why our delete states the sequence: theirs does not, and so frees a lock that we hold.
 * Our next call reports the loss. */
LIVE(&live, their_delete_frees_anybodys) {
    struct live_client ours, other;
    live_come(&ours, &live, KEY);
    live_come(&other, &live, KEY);
    kvStore *kv = bucket("lockbench_10000ms");
    if (!kv) return;
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(kvStore_Delete(kv, KEY) == NATS_OK);
    CHECK(live_acquire(&other, 0) == LB_OK, "%s", other.session.err.text);
    CHECK(live_renew(&ours) == LB_LOST, "a lost lock");
    CHECK(live_release(&ours) == LB_LOST, "a lost lock");
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "our late release freed the other's");
    CHECK(live_release(&other) == LB_OK, "%s", other.session.err.text);
    kvStore_Destroy(kv);
    live_client_done(&ours);
    live_client_done(&other);
}

/* The bucket's MaxAge is the lease: an entry of ours ages out, and they get in. */
LIVE(&live, ours_ages_out) {
    struct live_client ours;
    live_client_init(&ours, &live, KEY);
    ours.session.lease_ns = LB_S_NS;
    live_connect(&ours);
    kvStore *kv = bucket("lockbench_1000ms");
    if (!kv) return;
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    int64_t until_ns = lb_now() + SOON;
    uint64_t revision = 0;
    while (!(revision = create(kv)) && lb_now() < until_ns)
        lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    CHECK(revision > ours.grant.token, "it never ended");
    CHECK(lb_now() >= ours.grant.lease_end_ns, "it ended before the lease that we were told");
    CHECK(live_release(&ours) == LB_LOST, "%s", ours.session.err.text);
    /* Their entry ages out too, without a message: our waiter finds that the key is free. */
    CHECK(live_acquire(&ours, SOON) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    kvStore_Destroy(kv);
    live_client_done(&ours);
}

/* A write that arrives after its attempt was settled has no effect. */
LIVE(&live, a_late_write_is_settled) {
    struct live_client ours, other;
    live_come(&ours, &live, KEY);
    live_come(&other, &live, KEY);
    kvStore *kv = bucket("lockbench_10000ms");
    if (!kv) return;
    struct kv_grant *mine = ours.grant.data;
    /* A write that builds on the delete marker, and has not come yet. */
    kvEntry *entry = NULL;
    kvWatcher *watcher = NULL;
    CHECK(kvStore_Watch(&watcher, kv, KEY, NULL) == NATS_OK);
    CHECK(kvWatcher_Next(&entry, watcher, 5000) == NATS_OK && entry, "no delete marker");
    if (!entry) return;
    CHECK(kvEntry_Operation(entry) == kvOp_Delete, "not a delete marker");
    uint64_t late = 0;
    memset(mine, 0, sizeof *mine);
    memcpy(mine->owner, "0123456789abcdef", 16);
    mine->expected = kvEntry_Revision(entry);
    CHECK(live_settle(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(kvStore_UpdateString(&late, kv, KEY, mine->owner, mine->expected) != NATS_OK,
          "the late write made an entry");
    CHECK(live_acquire(&other, 0) == LB_OK, "%s", other.session.err.text);
    CHECK(live_release(&other) == LB_OK, "%s", other.session.err.text);
    kvEntry_Destroy(entry);
    kvWatcher_Destroy(watcher);
    kvStore_Destroy(kv);
    live_client_done(&ours);
    live_client_done(&other);
}

FIXTURE(start) {
    char url[128];
    live = live_open("nats-kv", (const char *const[]){"nats-kv.poll=100ms", NULL});
    if (live.missing) return 0;
    snprintf(url, sizeof url, "%s", topo_url(live.place->topo, 0));
    assert_int_equal(natsConnection_ConnectTo(&connection, url), NATS_OK);
    assert_int_equal(natsConnection_JetStream(&jetstream, connection, NULL), NATS_OK);
    return 0;
}

FIXTURE(stop) {
    jsCtx_Destroy(jetstream);
    natsConnection_Destroy(connection);
    nats_Close();
    live_close(&live);
    return 0;
}

TEST_MAIN(start, stop)
#else
TEST(absent) {
    skip_for("built without libnats, NATS's own client: install libnats-dev");
}

TEST_MAIN(NULL, NULL)
#endif
