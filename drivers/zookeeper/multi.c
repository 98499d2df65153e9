/* zk-multi: Curator's InterProcessMultiLock: a zk-lock on each key, taken in the given order and
 * released in reverse. All or none: the keys that it has are released when one can't be had.
 * Clients that take the same keys in different orders may deadlock until the wait of one of them
 * ends: the order is the callers' responsibility, as in Curator. The token is that of the first
 * key. */
#include "drivers/zookeeper/mutex.h"

struct zk_multi {
    int count; /* the number of places that may be held */
    struct zk_place place[LB_KEYS_MAX];
};

/* Gives back the places from the last to the first. Returns the worst outcome: LB_UNKNOWN or
 * LB_BROKEN (a node may still exist), LB_LOST (a node did not exist any more), LB_OK. */
static enum lb_outcome leave_all(struct lb_session *session, struct zk_multi *mine) {
    enum lb_outcome worst = LB_OK;
    for (int i = mine->count - 1; i >= 0; i--) {
        enum lb_outcome outcome = zk_place_leave(session, &mine->place[i]);
        if (worst == LB_OK || (worst == LB_LOST && outcome != LB_OK)) worst = outcome;
    }
    if (worst == LB_OK || worst == LB_LOST) mine->count = 0;
    return worst;
}

static enum lb_outcome zk_multi_acquire(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    struct zk_multi *mine = grant->data;
    const struct lb_key own = {.name = request->key, .len = request->key_len};
    const struct lb_key *keys = request->keys ? request->keys : &own;
    int wanted = request->keys ? request->key_count : 1;
    bool once = request->deadline_ns <= lb_now();
    mine->count = 0;
    for (int i = 0; i < wanted; i++) {
        struct zk_place *place = &mine->place[i];
        enum lb_outcome outcome = zk_place_at(session, place, keys[i].name, keys[i].len, NULL);
        if (outcome == LB_OK)
            outcome = zk_place_take(session, &zk_queue_lock, place, request->deadline_ns);
        if (outcome == LB_OK) {
            mine->count = i + 1;
            continue;
        }
        /* the keys before this one took all the time */
        if (outcome == LB_BUSY && !once) outcome = LB_TIMEOUT;
        struct lb_err why = session->err;
        session->err.code = 0;
        enum lb_outcome left = leave_all(session, mine);
        bool clean = left == LB_OK || left == LB_LOST;
        if (outcome == LB_UNKNOWN) mine->count = i + 1; /* settle must look at this key too */
        if (why.code || clean) session->err = why;
        return clean ? outcome : LB_UNKNOWN;
    }
    grant->token = mine->place[0].czxid;
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static enum lb_outcome zk_multi_release(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    (void)request;
    struct zk_multi *mine = grant->data;
    if (mine->count == 0)
        return lb_fail(session, LB_LOST, "zookeeper: release of a lock that was not held");
    return leave_all(session, mine);
}

static enum lb_outcome zk_multi_settle(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    (void)request;
    struct zk_multi *mine = grant->data;
    for (int i = 0; i < mine->count; i++) {
        enum lb_outcome outcome = zk_place_settle(session, &mine->place[i]);
        if (outcome != LB_OK) return outcome;
    }
    mine->count = 0;
    return LB_OK;
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct zk_multi),
    .acquire = zk_multi_acquire,
    .release = zk_multi_release,
    .settle = zk_multi_settle,
    .residue = zk_residue,
    .names = zk_names,
};

const struct lb_lock lock_zk_multi = {
    .name = "zk-multi",
    .summary = "zk-lock on several keys in order, all or none (Curator's InterProcessMultiLock)",
    ZK_MUTEX_FACTS,
    .caps = ZK_CAPS | LB_CAP_FENCE | LB_CAP_FAIR | LB_CAP_MULTI,
    .keeps = ZK_KEEPS_CONTAINERS,
    .about = {.compatible = "Curator's InterProcessMultiLock and, on each key, InterProcessMutex",
              .order = "first come, first served on each key",
              .token = ZK_TOKEN " of the first key",
              .hazards = ZK_HAZARDS "; a waiter holds the keys before the one that it waits for; "
                                    "callers must agree on the order of keys",
              .acquire_requests = 2,
              .release_requests = 1,
              ZK_ABOUT},
    .algorithm = &algorithm,
};
