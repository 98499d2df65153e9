/* etcd-mutex: the Go client's concurrency.Mutex, which `etcdctl lock` uses: one key per contender
 * on its session's lease, the oldest one holds, each other one watches the key right before it.
 * First come, first served; a release wakes one waiter. 1 + 1 round trips uncontended, at least 4
 * and an event contended. The token is the key's create revision, which a guarded transaction
 * inside etcd can compare.
 *
 * A contended handoff often takes up to 100 ms. The real client watches from the revision that it has
 * just read, and etcd starts watches that begin at or before its present revision only every 100 ms. */
#include "drivers/etcd/queue.h"
#include "drivers/etcd/session.h"

#include "drivers/wait.h"

static enum lb_outcome mutex_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    struct etcd_place *place = grant->data;
    bool once = request->deadline_ns <= lb_now(), first = false;
    enum lb_outcome outcome = etcd_place_join(session, request, place, &first);
    if (outcome != LB_OK) return outcome;
    if (!first) {
        outcome = once ? LB_BUSY : etcd_place_wait(session, request, place);
    }
    if (outcome == LB_OK) outcome = etcd_granted(session);
    if (outcome == LB_OK) {
        /* as long as the session, whose keeper renews it */
        return lb_granted(grant, (uint64_t)place->revision, LB_NEVER);
    }
    return etcd_place_give_up(session, place, outcome);
}

static enum lb_outcome mutex_release(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    struct etcd_place *place = grant->data;
    (void)request;
    enum lb_outcome outcome = etcd_released(session, etcd_place_leave(session, place));
    /* The session's next grant of the key has a key of the same name. */
    if (outcome == LB_OK) place->lease = 0;
    return outcome;
}

/* The bound is half of etcd's 100 ms. Only few handoffs wait for that tick, so percentiles may not show
 * them, but these handoffs are long enough to determine the rate. */
static const struct lb_known_cause mutex_causes[] = {
    {"latency_ns.handoff.max", .above = 50e6,
     .cause = "etcd takes up a watch from a revision that has been read at a tick of 100 ms, so a "
              "waiter may learn of a release up to 100 ms late"},
    {0},
};

static const struct lb_algorithm algorithm = {
    .causes = mutex_causes,
    .grant_bytes = sizeof(struct etcd_place),
    .prepare = etcd_prepare_lease,
    .acquire = mutex_acquire,
    .release = mutex_release,
    .settle = etcd_place_settle,
    .residue = etcd_residue,
    .names = etcd_names,
};

const struct lb_lock lock_etcd_mutex = {
    .name = "etcd-mutex",
    .summary =
        "a key per contender on a lease, each waiter watches the one before it (concurrency.Mutex, "
        "etcdctl lock)",
    .backend = &backend_etcd,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FENCE | LB_CAP_FAIR | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_FAILOVER | LB_CLAIM_CRASH_RELEASE,
    .waits = "watch predecessor",
    .about =
        {.compatible = "etcdctl lock, Go's concurrency.Mutex, etcd-lock",
         .incompatible = ETCD_INCOMPATIBLE,
         .order = "first come, first served (create revision)",
         .token = "create revision of the holder's key",
         .hazards =
             "a holder that is paused for longer than its lease continues; a name that is a "
             "prefix of another one (a, a/b) shares its queue; handoffs wait for etcd's 100 ms "
             "tick of late watches",
         LB_TERMS(1, 1, LB_ON_MAJORITY, LB_CRASH_SESSION),
         .crash_slack_ns = 3 * LB_S_NS},
    .algorithm = &algorithm,
};
