/* etcd-key: one key for all contenders: the client whose transaction creates it, on its session's lease, holds;
 * the others watch that key, and all of them try again when it is deleted. The lock of npm's etcd3 and Python's
 * etcd3.
 *
 * 1 + 1 round trips uncontended. A waiter that gives up has written nothing, so it leaves nothing behind. But each
 * release wakes every waiter: each tries a transaction and sets a watch, and only one succeeds. This lock is here for
 * comparison with etcd-mutex. Nobody queues, so waiters may starve. The token is the key's create revision.
 *
 * A waiter watches from the revision after the one that it has read: etcd starts such a watch at once unless another
 * write came first. */
#include "drivers/etcd/queue.h"
#include "drivers/etcd/session.h"

#include "drivers/key_names.h"

struct key_grant {
    int64_t lease;    /* the lease of the key, if the key exists; 0 = nothing was sent */
    int64_t revision; /* the key's create revision; 0 = not held */
};

/* Transaction: IF there is no key THEN put it, ELSE get it. LB_OK: the key is ours, or *ret_seen is the holder's key,
 * valid as long as the answer. */
static enum lb_outcome create_key(struct lb_session *session, const struct lb_request *request,
                                  struct key_grant *mine, const Etcdserverpb__KeyValue **ret_seen,
                                  int64_t *ret_revision) {
    struct etcd_session *e = etcd_session_of(session);
    ProtobufCBinaryData key = etcd_bytes(request->key, request->key_len);
    struct etcd_transaction txn = {.compare = {etcd_created(key, 0)},
                                   .success = {etcd_put(key, e->lease)},
                                   .failure = {etcd_look(etcd_get(key))}};
    enum lb_outcome outcome = etcd_transact(e, &txn);
    if (outcome != LB_OK) {
        if (e->call.status == ETCD_NOT_FOUND) etcd_lease_lost(e);
        return outcome;
    }
    const Etcdserverpb__TxnResponse *answer = etcd_answer(&e->call);
    const Etcdserverpb__KeyValue *seen = answer->succeeded ? NULL : etcd_first(answer, 0);
    if (!answer->header || answer->header->revision <= 0 || (!answer->succeeded && !seen))
        return lb_fail(session, LB_UNKNOWN,
                       "etcd: a transaction's answer lacks what was asked for");
    *ret_revision = answer->header->revision;
    *ret_seen = seen;
    if (answer->succeeded) mine->revision = answer->header->revision;
    return LB_OK;
}

static enum lb_outcome key_acquire(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    struct etcd_session *e = etcd_session_of(session);
    struct key_grant *mine = grant->data;
    bool once = request->deadline_ns <= lb_now();
    mine->lease = mine->revision = 0;
    if (request->key_len == 0) return lb_fail(session, LB_REFUSED, "etcd: a lock needs a name");
    for (;;) {
        const Etcdserverpb__KeyValue *seen = NULL;
        int64_t revision = 0;
        if (e->lost || e->lease == 0)
            return lb_fail(session, LB_BROKEN, "etcd: the session's lease has ended");
        mine->lease = e->lease;
        enum lb_outcome outcome = create_key(session, request, mine, &seen, &revision);
        if (outcome == LB_OK && !seen) outcome = etcd_granted(session);
        if (outcome != LB_OK) return outcome;
        if (!seen) break;
        if (once) return LB_BUSY;
        if (lb_now() >= request->deadline_ns) return LB_TIMEOUT;
        /* etcd starts a watch from the next revision at once unless another write came first. */
        outcome = etcd_wait_deleted(session, seen, revision < INT64_MAX ? revision + 1 : 0,
                                    request->deadline_ns);
        if (outcome == LB_UNKNOWN) return LB_BROKEN; /* a waiter has written nothing */
        if (outcome != LB_OK) return outcome;
    }
    /* as long as the session, whose keeper renews it */
    return lb_granted(grant, (uint64_t)mine->revision, LB_NEVER);
}

/* Transaction: IF the key is still the one that we created THEN delete it. */
static enum lb_outcome key_release(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    struct etcd_session *e = etcd_session_of(session);
    struct key_grant *mine = grant->data;
    if (mine->revision == 0) return lb_fail(session, LB_LOST, "etcd: it was not held");

    ProtobufCBinaryData key = etcd_bytes(request->key, request->key_len);
    struct etcd_transaction txn = {.compare = {etcd_created(key, mine->revision)},
                                   .success = {etcd_delete(key)}};
    enum lb_outcome outcome = etcd_released(session, etcd_transact(e, &txn));
    if (outcome != LB_OK) return outcome;
    mine->revision = 0;
    if (!((const Etcdserverpb__TxnResponse *)etcd_answer(&e->call))->succeeded)
        return etcd_key_gone(session);
    return LB_OK;
}

/* Revokes the key's lease. A request that is still on its way fails without the lease. */
static enum lb_outcome key_settle(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    const struct key_grant *mine = grant->data;
    (void)request;
    return mine->lease ? etcd_lease_drop(etcd_session_of(session), mine->lease) : LB_OK;
}

static void key_names(const struct lb_session *session, const struct lb_request *request,
                      struct lb_names *names) {
    (void)session;
    lb_names_add(names, "key of the holder, which waiters watch", "%.*s", (int)request->key_len,
                 request->key);
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct key_grant),
    .prepare = etcd_prepare_lease,
    .acquire = key_acquire,
    .release = key_release,
    .settle = key_settle,
    .residue = etcd_residue,
    .names = key_names,
};

const struct lb_lock lock_etcd_key = {
    .name = "etcd-key",
    .summary = "one key on a lease that all waiters watch: each release wakes all of them (npm's "
               "and Python's etcd3)",
    .backend = &backend_etcd,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FENCE | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_FAILOVER | LB_CLAIM_CRASH_RELEASE,
    .waits = "all waiters watch the key",
    .about = {.compatible = "every client that creates the same key if it is absent: the locks of "
                            "npm's etcd3 and Python's etcd3, with their prefix in the name (by "
                            "their transaction; no test runs them)",
              .incompatible = "etcd-mutex, etcd-lock, etcdctl lock: a key for each contender; they "
                              "and this one can be held at once",
              .order = "none",
              .token = "create revision of the key",
              .hazards =
                  "a holder that is paused for longer than its lease continues; each release "
                  "wakes every waiter: N requests for one grant; waiters may starve",
              LB_TERMS(1, 1, LB_ON_MAJORITY, LB_CRASH_SESSION),
              .crash_slack_ns = 3 * LB_S_NS},
    .algorithm = &algorithm,
};
