/* lease: a session's lease and the fiber that keeps it alive, as etcd's Go client does: every third
 * of its time-to-live. See session.h. */
#include "drivers/etcd/session.h"

#include <stdio.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/injected.h"
#include "drivers/wait.h"

#define RETRY_NS (500 * LB_MS_NS)     /* as the Go client does after a lost connection */
#define GOODBYE_NS (1 * LB_S_NS)      /* how long to wait for the server to end a lease */
#define TTL_MAX_S INT64_C(9000000000) /* etcd's MaxLeaseTTL */
#define ALREADY_THERE 9 /* gRPC's failed precondition: there is a lease of that number */
/* The first four bytes of the number of each lease of ours, as a mark: "lock". */
#define MARK INT64_C(0x6c6f636b)

void etcd_lease_lost(struct etcd_session *e) {
    if (e->lost) return;
    e->lost = true;
    e->keep_due_ns = LB_NEVER;
    if (e->watch.transfer.busy && e->watch.transfer.fiber) lb_wake(e->watch.transfer.fiber);
    lb_session_lost(e->owner);
}

enum lb_outcome etcd_granted(struct lb_session *session) {
    const struct etcd_session *e = etcd_session_of(session);
    if (!e->lost && lb_now() < e->alive_until_ns) return LB_OK;
    return lb_fail(session, LB_UNKNOWN,
                   "etcd: the answer came when the lease was over by our clock");
}

enum lb_outcome etcd_released(const struct lb_session *session, enum lb_outcome outcome) {
    const struct etcd_session *e = etcd_session_of(session);
    bool late = lb_now() >= e->alive_until_ns;
    return outcome == LB_BROKEN && late ? LB_LOST : outcome;
}

/* Limits a time-to-live from an answer to the values that etcd can give. */
static int64_t sane_ttl_s(int64_t ttl_s) {
    return ttl_s < 0 ? 0 : ttl_s > TTL_MAX_S ? TTL_MAX_S : ttl_s;
}

/* Renews a lease once. LB_OK with the lease's new time-to-live; 0 = the server does not know the lease any more. */
static enum lb_outcome renew_one(struct etcd_line *call, int64_t lease, int64_t *ret_ttl_s) {
    Etcdserverpb__LeaseKeepAliveRequest request = ETCDSERVERPB__LEASE_KEEP_ALIVE_REQUEST__INIT;
    struct lb_err err = {0};
    request.id = lease;
    enum lb_outcome outcome = etcd_call(call, &etcd_lease_keep_alive, &request.base, &err);
    if (outcome != LB_OK) return outcome;
    const Etcdserverpb__LeaseKeepAliveResponse *answer = etcd_answer(call);
    *ret_ttl_s = sane_ttl_s(answer->ttl);
    return LB_OK;
}

enum lb_outcome etcd_key_gone(struct lb_session *session) {
    struct etcd_session *e = etcd_session_of(session);
    int64_t ttl_s = 0;
    if (!e->lost && renew_one(&e->call, e->lease, &ttl_s) == LB_OK && ttl_s == 0)
        etcd_lease_lost(e);
    return lb_fail(session, LB_LOST, "etcd: %s before its release",
                   e->lost ? "the lease had ended or was revoked" : "the key was deleted");
}

static void renew(struct etcd_session *e) {
    int64_t lease = e->lease, ttl_s = 0, sent_ns = lb_now();
    enum lb_outcome outcome = LB_OK;
    bool known = true;
    if (lb_is_starved(e->owner)) {
        lb_held_back(e->owner);
        outcome =
            LB_BROKEN; /* nothing is sent; but the lease may have ended, which is checked below */
    }
    if (outcome == LB_OK) {
        outcome = renew_one(&e->keep, lease, &ttl_s);
        known = ttl_s > 0;
    }
    if (e->lease != lease || e->ending) return; /* the session gave the lease up meanwhile */
    if (outcome == LB_OK && known) {
        e->alive_until_ns = lb_after(sent_ns, ttl_s * LB_S_NS);
        lb_session_renewed(e->owner, e->alive_until_ns);
        e->keep_due_ns = sent_ns + ttl_s * LB_S_NS / 3;
        return;
    }
    int64_t hope_ns = e->alive_until_ns, again_ns = lb_now() + RETRY_NS;
    e->keep_due_ns = again_ns < hope_ns ? again_ns : hope_ns;
    if (outcome == LB_OK || lb_now() >= hope_ns) etcd_lease_lost(e);
}

static void keep_lease_alive(void *arg) {
    struct etcd_session *e = arg;
    while (!e->ending && !lb_stopping()) {
        lb_sleep_until(e->keep_due_ns);
        if (!e->ending && lb_now() >= e->keep_due_ns) renew(e);
    }
}

/* Takes a lease with a number that this client chooses. LB_OK, its number and time-to-live. */
static enum lb_outcome grant(struct etcd_session *e, int64_t asked_s, int64_t *ret_lease,
                             int64_t *ret_ttl_s, struct lb_err *err) {
    Etcdserverpb__LeaseGrantRequest request = ETCDSERVERPB__LEASE_GRANT_REQUEST__INIT;
    request.ttl = asked_s;
    for (int tries = 3;; tries--) {
        /* The number does not depend on the plan's seed alone, since a lease of an earlier run may
         * still exist. */
        uint64_t number = (rng_u64(&e->owner->rng) ^ (uint64_t)lb_now()) & UINT64_C(0xffffffff);
        request.id = MARK << 32 | (int64_t)number;
        enum lb_outcome outcome = etcd_call(&e->call, &etcd_lease_grant, &request.base, err);
        if (outcome == LB_REFUSED && e->call.status == ALREADY_THERE && tries > 1) {
            err->code = 0;
            continue;
        }
        if (outcome != LB_OK) return outcome;
        const Etcdserverpb__LeaseGrantResponse *answer = etcd_answer(&e->call);
        *ret_lease = answer->id;
        *ret_ttl_s = sane_ttl_s(answer->ttl);
        return LB_OK;
    }
}

/* Takes a lease of the length that the workload states, and keeps it alive from then on; an earlier lease is replaced. */
static int start_lease(struct etcd_session *e, struct lb_err *err) {
    int64_t asked_ns = e->owner->lease_ns > 0 ? e->owner->lease_ns : 10 * LB_S_NS;
    int64_t sent_ns = lb_now();
    int64_t asked_ttl_s = (asked_ns + LB_S_NS - 1) / LB_S_NS; /* etcd counts in seconds */
    e->lost = false;
    /* The server's shortest lease is one and a half election timeouts: 2 s by default. */
    if (grant(e, asked_ttl_s, &e->lease, &e->ttl_s, err) != LB_OK) return -1;
    e->alive_until_ns = lb_after(sent_ns, e->ttl_s * LB_S_NS);
    lb_session_renewed(e->owner, e->alive_until_ns);
    e->keep_due_ns = sent_ns + e->ttl_s * LB_S_NS / 3;
    if (!e->keeper) {
        e->keeper = lb_start_fiber("etcd lease", keep_lease_alive, e);
    } else {
        lb_wake(e->keeper);
    }
    return e->keeper ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory for a fiber");
}

int etcd_prepare_lease(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    (void)deadline_ns; /* each call is limited by e->patience_ns, which depends on the lease */
    return start_lease(etcd_session_of(session), err);
}

enum lb_outcome etcd_lease_drop(struct etcd_session *e, int64_t lease) {
    Etcdserverpb__LeaseRevokeRequest request = ETCDSERVERPB__LEASE_REVOKE_REQUEST__INIT;
    request.id = lease;
    enum lb_outcome outcome =
        etcd_call(&e->call, &etcd_lease_revoke, &request.base, &e->owner->err);
    if (outcome == LB_BROKEN && e->call.status == ETCD_NOT_FOUND) {
        e->owner->err.code = 0;
        return LB_OK;
    }
    return outcome;
}

void etcd_lease_end(struct etcd_session *e) {
    e->ending = true;
    if (e->keeper) {
        lb_wake(e->keeper);
        lb_join(e->keeper);
        e->keeper = NULL;
    }
    e->patience_ns = GOODBYE_NS;
    e->keep_due_ns = LB_NEVER;
    if (e->lease != 0 && http_revive(&e->http) == 0) etcd_lease_drop(e, e->lease);
    e->lease = 0;
}

/* Calls visit with each lease that lockbench made, but not with the session's own. A visit of -1, with err,
 * ends it. */
static int visit_leases(struct etcd_session *e,
                        int (*visit)(struct etcd_session *e, int64_t lease, void *arg,
                                     struct lb_err *err),
                        void *arg, struct lb_err *err) {
    struct etcd_line line = {0};
    Etcdserverpb__LeaseLeasesRequest request = ETCDSERVERPB__LEASE_LEASES_REQUEST__INIT;
    int failed = -1;
    if (etcd_line_init(&line, e, 256 * 1024, 64, err) == 0 &&
        etcd_call(&line, &etcd_lease_leases, &request.base, err) == LB_OK) {
        const Etcdserverpb__LeaseLeasesResponse *answer = etcd_answer(&line);
        failed = 0;
        for (size_t i = 0; i < answer->n_leases && !failed; i++) {
            int64_t id = answer->leases[i]->id;
            if (id >> 32 == MARK && id != e->lease) failed = visit(e, id, arg, err);
        }
    }
    etcd_line_done(&line);
    return failed;
}

static int count_lease(struct etcd_session *e, int64_t lease, void *arg, struct lb_err *err) {
    (void)e, (void)err;
    lb_left(arg, 1, "lease %llx", (unsigned long long)lease);
    return 0;
}

static int clean_lease(struct etcd_session *e, int64_t lease, void *arg, struct lb_err *err) {
    if (!lb_clean_found(arg, "lease", "%llx", (unsigned long long)lease)) return 0;
    if (etcd_lease_drop(e, lease) == LB_OK) return 0;
    return err_set(err, LB_EXIT_MACHINE, "etcd: lease %llx can't be revoked: %s",
                   (unsigned long long)lease, e->owner->err.text);
}

int etcd_clean_leases(struct etcd_session *e, struct lb_cleaning *cleaning, struct lb_err *err) {
    return visit_leases(e, clean_lease, cleaning, err);
}

int etcd_residue(struct lb_session *session, const char *prefix, struct lb_residue *residue,
                 struct lb_err *err) {
    struct etcd_session *e = etcd_session_of(session);
    char from[ETCD_KEY_MAX], end[ETCD_KEY_MAX];
    size_t len = (size_t)snprintf(from, sizeof from, "%s", prefix);
    Etcdserverpb__RangeRequest range = ETCDSERVERPB__RANGE_REQUEST__INIT;
    if (len == 0) from[len++] = '\0'; /* every key */
    range.key = etcd_bytes(from, len);
    range.range_end = etcd_bytes(end, etcd_prefix_end(from, len, end));
    if (from[0] == '\0') range.range_end = etcd_bytes(from, 1);
    range.limit = 1;
    range.keys_only = 1;
    if (etcd_call(&e->call, &etcd_range, &range.base, err) != LB_OK) return -1;
    const Etcdserverpb__RangeResponse *answer = etcd_answer(&e->call);
    const ProtobufCBinaryData key = answer->n_kvs ? answer->kvs[0]->key : etcd_bytes("", 0);
    lb_left(residue, (uint64_t)answer->count, "key %.*s", key.len < 120 ? (int)key.len : 120,
            (const char *)key.data);
    return session->only ? 0 : visit_leases(e, count_lease, residue, err);
}
