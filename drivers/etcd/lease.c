/* lease: a session's lease and the fiber that keeps it alive, as etcd's Go client does: every third of its
 * time-to-live. See session.h. */
#include "drivers/etcd/session.h"

#ifdef LB_HAVE_ETCD
#include "drivers/wait.h"

#define RETRY_NS (500 * LB_MS_NS) /* as the Go client does after a lost connection */
#define GOODBYE_NS (1 * LB_S_NS)  /* how long to wait for the server to end a lease */

static void lose(struct etcd_session *e) {
    e->lost = true;
    if (e->watch.transfer.busy && e->watch.transfer.fiber) lb_wake(e->watch.transfer.fiber);
}

static void keep(void *arg) {
    struct etcd_session *e = arg;
    int64_t due_ns = lb_now() + e->ttl_s * LB_S_NS / 3;
    while (!e->ending && !e->lost && !lb_stopping()) {
        lb_sleep_until(due_ns);
        if (e->ending || lb_now() < due_ns) continue;
        Etcdserverpb__LeaseKeepAliveRequest request = ETCDSERVERPB__LEASE_KEEP_ALIVE_REQUEST__INIT;
        struct lb_err err = {0};
        int64_t sent_ns = lb_now();
        request.id = e->lease;
        enum lb_outcome outcome = etcd_call(&e->keep, &etcd_lease_keep_alive, &request.base, &err);
        const Etcdserverpb__LeaseKeepAliveResponse *answer = etcd_answer(&e->keep);
        if (outcome != LB_OK) {
            due_ns = lb_now() + RETRY_NS;
        } else if (answer->ttl > 0) {
            e->alive_until_ns = sent_ns + answer->ttl * LB_S_NS;
            due_ns = sent_ns + answer->ttl * LB_S_NS / 3;
        } else {
            lose(e); /* the server knows it no more */
        }
        if (lb_now() >= e->alive_until_ns) lose(e);
    }
}

int etcd_lease_start(struct etcd_session *e, struct lb_err *err) {
    Etcdserverpb__LeaseGrantRequest request = ETCDSERVERPB__LEASE_GRANT_REQUEST__INIT;
    int64_t asked_ns = e->owner->lease_ns > 0 ? e->owner->lease_ns : 10 * LB_S_NS;
    int64_t sent_ns = lb_now();
    e->asked_ttl_s = (asked_ns + LB_S_NS - 1) / LB_S_NS; /* etcd counts in seconds */
    request.ttl = e->asked_ttl_s;
    if (etcd_call(&e->call, &etcd_lease_grant, &request.base, err) != LB_OK) return -1;
    const Etcdserverpb__LeaseGrantResponse *answer = etcd_answer(&e->call);
    e->lease = answer->id;
    e->ttl_s = answer->ttl; /* at least the election time-out and a half: 2 s by default */
    e->alive_until_ns = sent_ns + answer->ttl * LB_S_NS;
    e->keeper = lb_spawn("etcd lease", keep, e);
    return e->keeper ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory for a fiber");
}

enum lb_outcome etcd_lease_drop(struct etcd_session *e, int64_t lease) {
    Etcdserverpb__LeaseRevokeRequest request = ETCDSERVERPB__LEASE_REVOKE_REQUEST__INIT;
    request.id = lease;
    enum lb_outcome outcome = etcd_call(&e->call, &etcd_lease_revoke, &request.base, &e->owner->err);
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
    if (e->lease != 0 && http_revive(&e->http) == 0) etcd_lease_drop(e, e->lease);
    e->lease = 0;
}
#endif
