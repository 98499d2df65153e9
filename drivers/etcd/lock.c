/* etcd-lock: the server's own lock service (v3lock), as clients in languages without a mutex of
 * their own use it (jetcd, HTTP): Lock(name, lease) is answered when it is our turn, Unlock(key)
 * deletes the key. The server makes the same keys as etcd-mutex and waits for us, so both exclude
 * each other.
 *
 * The service's answers are not enough to be sure of a grant. Lock of etcd 3.4 is answered OK for a
 * waiter whose lease has ended meanwhile (etcd#11456), and never tells the key's create revision;
 * Unlock succeeds for a key that is gone. So the key is looked up after each Lock, and before each
 * Unlock: 2 + 2 round trips. recheck=no leaves that out, as plain clients do: 1 + 1, and a lock
 * that may have two holders.
 *
 * The service has no Lock without a wait. When an attempt may not wait, or has waited until its
 * deadline, the driver looks whether its key is behind another one in the queue, and then cancels
 * the call; the server deletes the key some time later. The driver waits for that deletion, since
 * it would also delete a new key of the same name. On a server with accounts the driver deletes the
 * key: the server's deletion is refused there. */
#include "drivers/etcd/queue.h"
#include "drivers/etcd/session.h"

#include <stddef.h>
#include <string.h>

#include "drivers/wait.h"

#define LOOK_NS (2 * LB_MS_NS) /* between two looks at the queue */

struct service_options {
    int64_t recheck;
};

static enum lb_outcome call_lock(struct lb_session *session, const struct lb_request *request,
                                 struct etcd_place *place) {
    struct etcd_session *e = etcd_session_of(session);
    Etcdserverpb__LockRequest lock = ETCDSERVERPB__LOCK_REQUEST__INIT;
    place->lease = e->lease;
    place->key_len = etcd_lock_key(request->key, request->key_len, e->lease, place->key);
    lock.name = etcd_bytes(request->key, request->key_len);
    lock.lease = e->lease;
    return etcd_long_start(e, &etcd_lock_method, &lock.base);
}

/* Checks the answer to Lock. LB_OK: the answer grants the lock, and our key is still in the store. */
static enum lb_outcome check_answer(struct lb_session *session, struct etcd_place *place) {
    const struct service_options *options = session->options;
    struct etcd_session *e = etcd_session_of(session);
    enum lb_outcome outcome = etcd_long_end(e);
    if (outcome != LB_OK) {
        /* The lock service does not pass the status on, but it does pass the message on. */
        if (!strstr(e->watch.transfer.message, "lease not found")) return outcome;
        etcd_lease_lost(e);
        return LB_BROKEN;
    }
    const Etcdserverpb__LockResponse *answer = etcd_answer(&e->watch);
    if (!answer->header || answer->key.len != place->key_len ||
        memcmp(answer->key.data, place->key, place->key_len) != 0) {
        return lb_fail(session, LB_UNKNOWN, "etcd: Lock answered another key than ours");
    }
    place->revision = answer->header->revision;
    if (!options->recheck) return LB_OK;
    outcome = etcd_place_find(session, place, &place->revision);
    if (outcome == LB_LOST) {
        etcd_lease_lost(e);
        return LB_BROKEN;
    }
    if (outcome == LB_OK) outcome = etcd_granted(session);
    return outcome == LB_OK ? LB_OK : LB_UNKNOWN; /* unknown: Lock has said that we hold the key */
}

/* After the call was cancelled: waits until the server has deleted our key. */
static enum lb_outcome wait_deleted(struct lb_session *session, const struct etcd_place *place) {
    struct etcd_session *e = etcd_session_of(session);
    int64_t until_ns = lb_after(lb_now(), e->patience_ns), ignored;
    for (;;) {
        enum lb_outcome outcome = etcd_place_find(session, place, &ignored);
        if (outcome == LB_LOST) return LB_OK;
        /* Lock may have granted the key at the last moment; then the server does not delete it. After
         * LB_UNKNOWN the core calls settle, which revokes the key's lease. */
        if (outcome != LB_OK || lb_now() >= until_ns || lb_stopping())
            return lb_fail(session, LB_UNKNOWN, "etcd: a cancelled Lock left its key");
        lb_sleep_until(lb_now() + LOOK_NS);
    }
}

/* After the call was cancelled: LB_OK when our key is gone. On a server with accounts this client deletes the key: the
 * server's own deletion carries no token of the client (etcd 3.4), and is refused. */
static enum lb_outcome leave_queue(struct lb_session *session, const struct etcd_place *place) {
    const struct etcd_server *server = session->server->state;
    if (!server->user[0]) return wait_deleted(session, place);
    enum lb_outcome outcome = etcd_place_leave(session, place);
    return outcome == LB_LOST ? LB_OK : outcome;
}

/* Called when the deadline has passed without an answer to Lock: finds out whether it is our turn. LB_OK:
 * the lock is ours after all; LB_TIMEOUT: it is not, and our key is deleted. */
static enum lb_outcome give_up(struct lb_session *session, const struct lb_request *request,
                               struct etcd_place *place) {
    struct etcd_session *e = etcd_session_of(session);
    int64_t until_ns = lb_after(lb_now(), e->patience_ns);
    while (!e->lost && !lb_stopping() && lb_now() < until_ns) {
        bool behind = false;
        if (etcd_long_wait(e, lb_now() + LOOK_NS)) return check_answer(session, place);
        enum lb_outcome outcome = etcd_place_behind(session, request, place, &behind);
        if (outcome != LB_OK) break;
        if (!behind) continue; /* our key is the first, or not there yet: the answer will come */
        etcd_watch_stop(e);
        outcome = leave_queue(session, place);
        if (outcome != LB_OK) return LB_UNKNOWN;
        session->err.code = 0;
        return LB_TIMEOUT;
    }
    etcd_watch_stop(e);
    /* If the lease is gone, also by the server's word, the key was deleted with it. */
    int64_t ignored;
    if (e->lost && etcd_place_find(session, place, &ignored) == LB_LOST)
        return lb_fail(session, LB_BROKEN, "etcd: the lease ended while we waited");
    return lb_fail(session, LB_UNKNOWN, "etcd: Lock was not answered, nor is our key in the queue");
}

static enum lb_outcome service_acquire(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    const struct etcd_session *e = etcd_session_of(session);
    struct etcd_place *place = grant->data;
    bool once = request->deadline_ns <= lb_now();
    place->lease = place->revision = 0;
    if (request->key_len == 0) return lb_fail(session, LB_REFUSED, "etcd: a lock needs a name");
    if (e->lost || e->lease == 0)
        return lb_fail(session, LB_BROKEN, "etcd: the session's lease has ended");
    enum lb_outcome outcome = call_lock(session, request, place);
    if (outcome != LB_OK) return outcome;
    bool answered = etcd_long_wait(etcd_session_of(session), request->deadline_ns);
    outcome = answered ? check_answer(session, place) : give_up(session, request, place);
    if (outcome != LB_OK) {
        place->revision = 0;
        return outcome == LB_TIMEOUT && once ? LB_BUSY : outcome;
    }
    /* as long as the lease, which its keeper renews */
    return lb_granted(grant, (uint64_t)place->revision, LB_NEVER);
}

static enum lb_outcome service_release(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    const struct service_options *options = session->options;
    struct etcd_session *e = etcd_session_of(session);
    struct etcd_place *place = grant->data;
    Etcdserverpb__UnlockRequest unlock = ETCDSERVERPB__UNLOCK_REQUEST__INIT;
    (void)request;
    if (place->revision == 0 || place->lease != e->lease)
        return lb_fail(session, LB_LOST, "etcd: this session does not hold it");
    enum lb_outcome outcome = options->recheck ? etcd_place_confirm(session, place) : LB_OK;
    if (outcome == LB_LOST) etcd_lease_lost(e);
    if (outcome == LB_OK) {
        unlock.key = etcd_bytes(place->key, place->key_len);
        outcome = etcd_call(&e->call, &etcd_unlock, &unlock.base, &session->err);
    }
    outcome = etcd_released(session, outcome);
    if (outcome == LB_OK || outcome == LB_LOST) {
        place->revision = 0;
        if (e->lost) outcome = LB_LOST;
    }
    return outcome;
}

static const struct lb_option service_options[] = {
    {"recheck", LB_OPT_BOOL, offsetof(struct service_options, recheck), "yes", 0, 0, NULL,
     "look the key up after Lock and before Unlock; plain clients do not (etcd 3.4 grants ended leases)"},
    {0},
};

static const struct lb_algorithm algorithm = {
    .options = service_options,
    .options_bytes = sizeof(struct service_options),
    .grant_bytes = sizeof(struct etcd_place),
    .prepare = etcd_prepare_lease,
    .acquire = service_acquire,
    .release = service_release,
    .settle = etcd_place_settle,
    .residue = etcd_residue,
    .names = etcd_names,
};

const struct lb_lock lock_etcd_lock = {
    .name = "etcd-lock",
    .summary =
        "the server's lock service (v3lock: Lock, Unlock), each answer checked against the key",
    .backend = &backend_etcd,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FENCE | LB_CAP_FAIR | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_FAILOVER | LB_CLAIM_CRASH_RELEASE,
    .waits = "server queue",
    .about =
        {.compatible = "any client of the service (jetcd), etcdctl lock, etcd-mutex",
         .incompatible = ETCD_INCOMPATIBLE,
         .order = "first come, first served (create revision)",
         .token = "create revision of the holder's key",
         .hazards =
             "without the checks of this driver the service grants to dead clients (etcd 3.4) "
             "and unlocks for any client; one lease is one owner: its second Lock succeeds at "
             "once; giving up costs five requests; on a server with accounts a client that gives up has to "
             "delete its key itself, as this driver does: the server is refused (etcd 3.4)",
         LB_TERMS(2, 2, LB_ON_MAJORITY, LB_CRASH_SESSION),
         .crash_slack_ns = 3 * LB_S_NS},
    .algorithm = &algorithm,
};
