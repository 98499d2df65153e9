/* etcd-chubby: the semantics of Chubby's locks on etcd, from Chubby's paper (OSDI 2006): shared and
 * exclusive mode, a session lease that is kept alive, lock-delay, jeopardy with a grace period. The
 * token is the generation of Chubby's sequencers. The keys are our own: Chubby has no public client
 * to be compatible with.
 *
 * Each holder has two keys below "chubby/NAME\0". The first key is on the session's lease: "w" for the
 * writer, "r/<lease>" for each reader. The second key, the trace, is on the session's second lease,
 * which ends lock_delay later: "wd" or "rd/<lease>". One transaction takes the lock if no key of another
 * client excludes it: a writer's key or trace excludes readers, and every key excludes writers. A
 * release deletes both keys, so the lock is free at once. When a session expires, its trace stays for
 * the lock-delay and excludes other clients, so that late requests of the dead holder meet no new
 * holder. All times are the server's.
 *
 * Waiters queue as in etcd-mutex, below "q"; the first of the queue waits for the holders to go. 1
 * + 1 round trips uncontended. */
#include "drivers/etcd/queue.h"
#include "drivers/etcd/session.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "drivers/key_names.h"
#include "drivers/wait.h"

#define ROOT "chubby/"

struct chubby_options {
    int64_t lock_delay_ns, grace_ns;
};

struct chubby_grant {
    struct etcd_place place; /* in the queue, while we wait */
    int64_t lease, trace;    /* the leases of the session that asked; 0 = none */
    int64_t generation;      /* the holder key's create revision; 0 = not held */
    bool shared;
};

struct key {
    size_t len;
    char bytes[ETCD_KEY_MAX];
};

static ProtobufCBinaryData data_of(const struct key *key) {
    return etcd_bytes(key->bytes, key->len);
}

/* Makes the key "chubby/NAME\0SUFFIX"; with a lease other than 0, "/<lease>" follows. */
static struct key key_of(const char *name, size_t len, const char *suffix, int64_t lease) {
    struct key key = {.len = sizeof ROOT - 1};
    memcpy(key.bytes, ROOT, key.len);
    memcpy(key.bytes + key.len, name, len);
    key.len += len;
    key.bytes[key.len++] =
        '\0'; /* no name contains a zero byte, so the keys of two names never begin alike */
    key.len += (size_t)snprintf(key.bytes + key.len, 8, "%s", suffix);
    if (lease)
        key.len += (size_t)snprintf(key.bytes + key.len, 18, "/%llx", (unsigned long long)lease);
    return key;
}

/* The condition that there is no key in [from, end). */
static Etcdserverpb__Compare none_in(const struct key *from, const struct key *end) {
    Etcdserverpb__Compare compare = etcd_created(data_of(from), 0);
    compare.range_end = data_of(end);
    return compare;
}

static struct key holder_key(const struct lb_request *request, const struct chubby_grant *mine) {
    return key_of(request->key, request->key_len, mine->shared ? "r" : "w",
                  mine->shared ? mine->lease : 0);
}

static struct key trace_key(const struct lb_request *request, const struct chubby_grant *mine) {
    return key_of(request->key, request->key_len, mine->shared ? "rd" : "wd",
                  mine->shared ? mine->lease : 0);
}

/* Transaction: IF no key excludes this client THEN put its keys, ELSE return the keys that exclude it.
 * queued: this client is the first of the queue, and leaves the queue by the transaction; otherwise the
 * queue must be empty. LB_OK: mine->generation is set if the lock is taken; otherwise etcd_answer has
 * the keys that exclude this client. */
static enum lb_outcome take_place(struct lb_session *session, const struct lb_request *request,
                                  struct chubby_grant *mine, bool queued) {
    struct etcd_session *e = etcd_session_of(session);
    struct key from = key_of(request->key, request->key_len, mine->shared ? "w" : "r", 0);
    struct key end = key_of(request->key, request->key_len, "x", 0);
    struct key queue = key_of(request->key, request->key_len, "q", 0);
    struct key queue_end = key_of(request->key, request->key_len, "r", 0);
    struct key holder = holder_key(request, mine), trace = trace_key(request, mine);

    Etcdserverpb__RangeRequest in_the_way = etcd_get(data_of(&from));
    in_the_way.range_end = data_of(&end);
    in_the_way.limit = 1;

    struct etcd_transaction txn = {.compare = {none_in(&from, &end)},
                                   .success = {etcd_put(data_of(&holder), e->lease)},
                                   .failure = {etcd_look(in_the_way)}};
    size_t count = 1;
    if (!queued) txn.compare[1] = none_in(&queue, &queue_end);
    if (e->trace) txn.success[count++] = etcd_put(data_of(&trace), e->trace);
    if (queued) txn.success[count] = etcd_delete(etcd_bytes(mine->place.key, mine->place.key_len));
    enum lb_outcome outcome = etcd_transact(e, &txn);
    if (outcome != LB_OK) {
        if (e->call.status == ETCD_NOT_FOUND) etcd_lease_lost(e);
        return outcome;
    }
    const Etcdserverpb__TxnResponse *answer = etcd_answer(&e->call);
    if (!answer->header) return lb_fail(session, LB_UNKNOWN, "etcd: an answer without its header");
    if (answer->succeeded) mine->generation = answer->header->revision;
    return LB_OK;
}

/* Waits until the key that excludes this client is deleted, or for a moment if the answer names no key. */
static enum lb_outcome wait_for_change(struct lb_session *session, int64_t deadline_ns) {
    struct etcd_session *e = etcd_session_of(session);
    const Etcdserverpb__TxnResponse *answer = etcd_answer(&e->call);
    const Etcdserverpb__KeyValue *seen = etcd_first(answer, 0);
    if (!seen)
        return lb_fail(session, LB_UNKNOWN, "etcd: the lock is refused, but no holder is shown");
    return etcd_wait_deleted(session, seen, answer->header->revision, ETCD_FROM_NOW, deadline_ns);
}

static enum lb_outcome wait_in_queue(struct lb_session *session, const struct lb_request *request,
                                     struct chubby_grant *mine) {
    struct etcd_session *e = etcd_session_of(session);
    struct key name = key_of(request->key, request->key_len, "q", 0);
    struct lb_request queue = *request;
    bool first = false;
    queue.key = name.bytes;
    queue.key_len = name.len;
    enum lb_outcome outcome = etcd_place_join(session, &queue, &mine->place, &first);
    if (outcome != LB_OK) return outcome;
    if (!first) outcome = etcd_place_wait(session, &queue, &mine->place, ETCD_FROM_NOW);
    while (outcome == LB_OK) {
        outcome = take_place(session, request, mine, true);
        if (outcome == LB_OK && mine->generation) return LB_OK;
        if (outcome == LB_UNKNOWN) return outcome; /* held, queued or neither: settle makes sure */
        if (e->lost) return lb_fail(session, LB_UNKNOWN, "etcd: the lease ended while we waited");
        if (outcome == LB_OK) outcome = wait_for_change(session, request->deadline_ns);
    }
    return etcd_place_give_up(session, &mine->place, outcome);
}

static enum lb_outcome chubby_acquire(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct etcd_session *e = etcd_session_of(session);
    struct chubby_grant *mine = grant->data;
    bool once = request->deadline_ns <= lb_now();
    mine->lease = mine->generation = 0;
    if (request->key_len == 0) return lb_fail(session, LB_REFUSED, "etcd: a lock needs a name");
    if (e->lost || e->lease == 0) return lb_fail(session, LB_BROKEN, "etcd: the session has ended");
    mine->lease = e->lease;
    mine->trace = e->trace;
    mine->shared = request->shared;
    enum lb_outcome outcome = take_place(session, request, mine, false);
    if (outcome == LB_OK && !mine->generation)
        outcome = once ? LB_BUSY : wait_in_queue(session, request, mine);
    if (outcome == LB_OK) outcome = etcd_granted(session);
    if (outcome != LB_OK) return outcome;
    grant->token = (uint64_t)mine->generation;
    grant->lease_end_ns = LB_NEVER; /* as long as the session, whose keeper renews it */
    return LB_OK;
}

/* Transaction: IF the lock is still ours THEN delete the holder's key and its trace. */
static enum lb_outcome chubby_release(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct etcd_session *e = etcd_session_of(session);
    struct chubby_grant *mine = grant->data;
    struct key holder = holder_key(request, mine), trace = trace_key(request, mine);
    if (mine->generation == 0) return lb_fail(session, LB_LOST, "etcd: it was not held");

    struct etcd_transaction txn = {.compare = {etcd_created(data_of(&holder), mine->generation)},
                                   .success = {etcd_delete(data_of(&holder))}};
    if (mine->trace) txn.success[1] = etcd_delete(data_of(&trace));
    enum lb_outcome outcome = etcd_released(session, etcd_transact(e, &txn));
    if (outcome != LB_OK) return outcome;
    const Etcdserverpb__TxnResponse *answer = etcd_answer(&e->call);
    if (!answer->succeeded) return etcd_key_gone(session);
    mine->generation = 0;
    return LB_OK;
}

/* Revokes both leases, the trace's too: the session has not expired, so no lock-delay is due. */
static enum lb_outcome chubby_settle(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    struct chubby_grant *mine = grant->data;
    (void)request;
    if (mine->lease == 0) return LB_OK;
    enum lb_outcome outcome =
        mine->trace ? etcd_lease_drop(etcd_session_of(session), mine->trace) : LB_OK;
    return outcome == LB_OK ? etcd_lease_drop(etcd_session_of(session), mine->lease) : outcome;
}

/* The session's grace period is at most the lock-delay: as long as the trace exists no other client can have
 * the lock, so a session in jeopardy may still recover. */
static int chubby_prepare(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct chubby_options *options = session->options;
    struct etcd_session *e = etcd_session_of(session);
    int64_t delay_s = (options->lock_delay_ns + LB_S_NS - 1) / LB_S_NS; /* etcd counts in seconds */
    (void)deadline_ns;
    e->grace_ns = options->grace_ns < delay_s * LB_S_NS ? options->grace_ns : delay_s * LB_S_NS;
    return etcd_lease_start(e, delay_s, err);
}

static int chubby_residue(struct lb_session *session, const char *prefix,
                          struct lb_residue *ret_residue, struct lb_err *err) {
    return etcd_residue_below(session, ROOT, prefix, ret_residue, err);
}

static const struct lb_option chubby_options[] = {
    {"lock_delay", LB_OPT_DURATION, offsetof(struct chubby_options, lock_delay_ns), "5s", 0, 60e9,
     NULL,
     "how long a lock stays closed after its holder's session expired, in whole seconds; 0: no delay"},
    {"grace", LB_OPT_DURATION, offsetof(struct chubby_options, grace_ns), "5s", 0, 60e9, NULL,
     "how long after its lease's end a session without an answer is kept; at most lock_delay"},
    {0},
};

/* Writes the zero byte after the name as \x00, which etcdctl and printf(1) accept. */
static void chubby_names(const struct lb_session *session, const struct lb_request *request,
                         struct lb_names *names) {
    (void)session;
    struct key holder = key_of(request->key, request->key_len, "", 0);
    lb_names_add(names, "key of the one that holds alone", "%s\\x00w", holder.bytes);
    lb_names_add(names, "keys of those that share", "%s\\x00r/<lease in hex>", holder.bytes);
    lb_names_add(names, "keys of those that wait", "%s\\x00q/<lease in hex>", holder.bytes);
}

static const struct lb_algorithm algorithm = {
    .options = chubby_options,
    .options_bytes = sizeof(struct chubby_options),
    .grant_bytes = sizeof(struct chubby_grant),
    .prepare = chubby_prepare,
    .acquire = chubby_acquire,
    .release = chubby_release,
    .settle = chubby_settle,
    .residue = chubby_residue,
    .names = chubby_names,
};

const struct lb_lock lock_etcd_chubby = {
    .name = "etcd-chubby",
    .summary = "Chubby's locks on etcd: shared and exclusive, a delay after a holder's expiry",
    .backend = &backend_etcd,
    .primitive = LB_RWLOCK,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FENCE | LB_CAP_FAIR | LB_CAP_SESSION | LB_CAP_SHARED,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_FAILOVER | LB_CLAIM_CRASH_RELEASE,
    .waits = "watch predecessor",
    .about = {.compatible = "nothing else: Chubby has no public client",
              .order =
                  "first come, first served (create revision); consecutive readers hold together",
              .token = "create revision of the holder's key (the sequencer's generation)",
              .hazards =
                  "after a crash the lock stays closed for lock_delay more; without a check of "
                  "tokens a holder that is paused for longer than lease and delay continues",
              .acquire_requests = 1,
              .release_requests = 1,
              .guarantee = LB_ON_MAJORITY,
              .crash = LB_CRASH_SESSION,
              .crash_slack_ns = 8 * LB_S_NS},
    .algorithm = &algorithm,
};
