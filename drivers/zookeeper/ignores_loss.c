/* unsafe-zk-ignores-session-loss: zk-lock in a program that does not listen to its session.
 * Disconnection and expiry are events, and a program without a listener gets neither. It continues
 * with a lock that the server has given to the next client, and its release reports no trouble. As
 * in the Curator issue of the two holders (CURATOR-206): acquire() and release() alone do not
 * tell. */
#include "drivers/zookeeper/mutex.h"

static int stop_listening(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    (void)deadline_ns;
    (void)err;
    zk_session_of(session)->ignores_loss = true;
    return 0;
}

static enum lb_outcome deaf_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    enum lb_outcome outcome = zk_mutex_release(session, request, grant);
    if (outcome != LB_LOST && outcome != LB_BROKEN) return outcome;
    session->err.code = 0;
    return LB_OK;
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct zk_place),
    .prepare = stop_listening,
    .acquire = zk_mutex_acquire,
    .release = deaf_release,
    .settle = zk_mutex_settle,
    .residue = zk_residue,
    .names = zk_names,
};

const struct lb_lock lock_unsafe_zk_ignores_session_loss = {
    .name = "unsafe-zk-ignores-session-loss",
    .summary = "zk-lock whose holder does not hear that its session has expired",
    .backend = &backend_zookeeper,
    .primitive = LB_MUTEX,
    .caps = (ZK_CAPS & ~(unsigned)LB_CAP_SHARE) | LB_CAP_CONTROL,
    .waits = "watch predecessor",
    .keeps = ZK_KEEPS_CONTAINERS,
    .about =
        {.compatible = "Curator's InterProcessMutex, used without a ConnectionStateListener",
         .order = ZK_ORDER,
         .hazards = "two holders after a pause or a disconnection longer than the session",
         .acquire_requests = 2,
         .release_requests = 1,
         .guarantee = LB_NO_GUARANTEE,
         .crash = LB_CRASH_SESSION,
         .crash_slack_ns = ZK_CRASH_SLACK_NS,
         .mistake =
             "Curator's acquire and release without a listener (CURATOR-206): the expiry of the "
             "session is not noticed, and the holder continues beside the next one",
         .exposed_by = "pause",
         .exposed_as = LB_EXPOSED_VIOLATED},
    .expected = zk_ignores_loss_expected,
    .algorithm = &algorithm,
};
