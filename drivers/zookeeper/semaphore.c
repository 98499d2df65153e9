/* zk-semaphore: Curator's InterProcessSemaphoreV2: a zk-lock at <path>/locks, and a node for each
 * permit that is out at <path>/leases. The client that holds the lock adds its node and waits,
 * while it holds the lock, until there are no more nodes than the bound. So waiters queue at the
 * lock, first come first served, and one of them watches the leases. 5 round trips for a permit, 1
 * to give it back; several permits are taken one after the other, as Curator's acquire(n) does, n
 * times 5.
 *
 * The bound is a convention of the clients, which the server does not know. Two clients that take
 * several permits each may wait for each other, each with a part of its permits. */
#include "drivers/zookeeper/mutex.h"

#include <stdio.h>
#include <string.h>

#include "drivers/key_names.h"

#define LOCKS "locks"
#define LEASES "leases"

#define PERMITS_MAX 64 /* the most permits at once */
#define LEASE_NAME_MAX 64

static const struct zk_queue leases = {.base = "lease-"}; /* no client waits for its turn in it */

struct zk_semaphore {
    struct zk_place lock, lease; /* lease: the lease that is being taken or given back */
    clientid_t session;          /* the session that made the leases below */
    uint32_t count;
    char held[PERMITS_MAX][LEASE_NAME_MAX];
};

struct census {
    const char *own;
    int count;
    bool there;
};

static void count_leases(void *arg, char *const *names, int count) {
    struct census *census = arg;
    census->count = count;
    census->there = false;
    for (int i = 0; i < count && !census->there; i++)
        census->there = strcmp(names[i], census->own) == 0;
}

/* Waits, with our node among the leases, until there are at most `bound` of them. It looks
 * before it sets a watch; Curator sets the watch first, and has to remove it where there was
 * room. */
static enum lb_outcome wait_for_room(struct lb_session *session, struct zk_semaphore *mine,
                                     int bound, int64_t deadline_ns, bool once) {
    struct zk_session *z = zk_session_of(session);
    const char *parent = mine->lease.parent;
    bool watching = false;
    for (;;) {
        struct census census = {.own = mine->lease.name};
        struct zk_watch watch;
        int rc = watching ? zk_watch_children(z, parent, count_leases, &census, &watch)
                          : zk_children(z, parent, count_leases, &census);
        bool wait = rc == ZOK && census.there && census.count > bound && !once;
        if (rc == ZOK && watching && !wait) zk_watch_drop(z, &watch);
        if (rc == ZOK && !wait && !census.there)
            return lb_fail(session, LB_BROKEN, "zookeeper: our lease %s/%s was removed", parent,
                           mine->lease.name);
        if (rc == ZOK && !wait) return census.count <= bound ? LB_OK : LB_BUSY;
        if (wait && watching) rc = zk_watch_wait(z, &watch, deadline_ns);
        watching = true;
        if (rc == ZK_CUT || rc == ZK_DOWN) rc = zk_connected(z, deadline_ns);
        if (rc == ZOK) continue;
        if (rc == ZK_ENDED) return zk_fail(session, rc, "wait in", parent);
        if (lb_now() >= deadline_ns) return once ? LB_BUSY : LB_TIMEOUT;
        return lb_fail(session, LB_UNKNOWN, "zookeeper: no connection while waiting in %s", parent);
    }
}

/* Takes one more permit. Unless it returns LB_UNKNOWN, a failure leaves neither the lock nor
 * this permit's lease behind. */
static enum lb_outcome take_one(struct lb_session *session, const struct lb_request *request,
                                struct zk_semaphore *mine, int bound, bool once) {
    int64_t deadline_ns = request->deadline_ns;
    enum lb_outcome outcome =
        zk_place_at(session, &mine->lock, request->key, request->key_len, LOCKS);
    if (outcome == LB_OK)
        outcome = zk_place_at(session, &mine->lease, request->key, request->key_len, LEASES);
    if (outcome == LB_OK)
        outcome = zk_place_take(session, &zk_queue_lock, &mine->lock, deadline_ns);
    if (outcome != LB_OK) return outcome == LB_BUSY && !once ? LB_TIMEOUT : outcome;
    outcome = zk_place_join(session, &leases, &mine->lease, NULL, deadline_ns);
    if (outcome == LB_OK) {
        outcome = wait_for_room(session, mine, bound, deadline_ns, once);
        if (outcome == LB_UNKNOWN || outcome == LB_BROKEN) {
            zk_place_leave(session, &mine->lease);
        } else if (outcome != LB_OK) {
            outcome = zk_place_give_up(session, &mine->lease, outcome);
        }
    }
    enum lb_outcome unlocked = zk_place_leave(session, &mine->lock);
    if (outcome != LB_OK && outcome != LB_BUSY && outcome != LB_TIMEOUT) return outcome;
    if (unlocked == LB_LOST) return LB_BROKEN; /* the session is over, and the lease with it */
    if (unlocked != LB_OK) return LB_UNKNOWN;
    if (outcome == LB_OK) mine->session = mine->lease.session;
    if (outcome == LB_OK)
        snprintf(mine->held[mine->count++], LEASE_NAME_MAX, "%.*s", LEASE_NAME_MAX - 1,
                 mine->lease.name);
    return outcome;
}

/* Gives back all permits, the last one first. Returns the worst outcome: LB_UNKNOWN or LB_BROKEN (a node may still
 * exist), LB_LOST (a node did not exist any more), LB_OK. */
static enum lb_outcome give_back_permits(struct lb_session *session, struct zk_semaphore *mine) {
    enum lb_outcome worst = LB_OK;
    mine->lease.session = mine->session;
    while (mine->count > 0) {
        memcpy(mine->lease.name, mine->held[mine->count - 1], LEASE_NAME_MAX);
        enum lb_outcome outcome = zk_place_leave(session, &mine->lease);
        if (outcome != LB_OK && outcome != LB_LOST) return outcome; /* the rest stays, for settle */
        if (outcome == LB_LOST) worst = LB_LOST;
        mine->count--;
    }
    return worst;
}

static enum lb_outcome zk_semaphore_acquire(struct lb_session *session,
                                            const struct lb_request *request,
                                            struct lb_grant *grant) {
    struct zk_semaphore *mine = grant->data;
    uint32_t wanted = request->permits ? request->permits : 1;
    uint32_t bound = request->bound ? request->bound : 1;
    bool once = request->deadline_ns <= lb_now();
    mine->count = 0;
    if (wanted > bound || wanted > PERMITS_MAX)
        return lb_fail(session, LB_REFUSED, "zookeeper: %u permits of %u, at most %d at once",
                       wanted, bound, PERMITS_MAX);
    while (mine->count < wanted) {
        enum lb_outcome outcome = take_one(session, request, mine, (int)bound, once);
        if (outcome == LB_OK) continue;
        if (outcome == LB_UNKNOWN) return outcome; /* settle gives back what it has */
        struct lb_err why = session->err;
        session->err.code = 0;
        enum lb_outcome left = give_back_permits(session, mine);
        if (left != LB_OK && left != LB_LOST) return LB_UNKNOWN;
        session->err = why;
        return outcome;
    }
    grant->lease_end_ns = LB_NEVER;
    return zk_granted(session);
}

static enum lb_outcome zk_semaphore_release(struct lb_session *session,
                                            const struct lb_request *request,
                                            struct lb_grant *grant) {
    (void)request;
    struct zk_semaphore *mine = grant->data;
    if (mine->count == 0)
        return lb_fail(session, LB_LOST, "zookeeper: release of a permit that was not held");
    return give_back_permits(session, mine);
}

static enum lb_outcome zk_semaphore_settle(struct lb_session *session,
                                           const struct lb_request *request,
                                           struct lb_grant *grant) {
    (void)request;
    struct zk_semaphore *mine = grant->data;
    enum lb_outcome outcome = zk_place_settle(session, &mine->lock);
    if (outcome == LB_OK) outcome = zk_place_settle(session, &mine->lease);
    if (outcome == LB_OK) outcome = give_back_permits(session, mine);
    return outcome == LB_LOST ? LB_OK : outcome;
}

static void zk_semaphore_names(const struct lb_session *session, const struct lb_request *request,
                               struct lb_names *names) {
    char path[ZK_PARENT_MAX];
    (void)session;
    if (zk_path_of(ZK_ROOT, request->key, request->key_len, path, sizeof path) != 0) return;
    lb_names_add(names, "znode of those who ask", "%s/" LOCKS, path);
    lb_names_add(names, "znode of those who hold", "%s/" LEASES, path);
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct zk_semaphore),
    .acquire = zk_semaphore_acquire,
    .release = zk_semaphore_release,
    .settle = zk_semaphore_settle,
    .residue = zk_residue,
    .names = zk_semaphore_names,
};

const struct lb_lock lock_zk_semaphore = {
    .name = "zk-semaphore",
    .summary = "a lock, and a node for each permit that is held (Curator's "
               "InterProcessSemaphoreV2)",
    .backend = &backend_zookeeper,
    .primitive = LB_SEMAPHORE,
    .caps = ZK_CAPS | LB_CAP_FAIR | LB_CAP_PERMITS,
    .claims = ZK_CLAIMS,
    .waits = "watch predecessor, the first of them the permits",
    .keeps =
        "three container nodes for each key, as Curator does; the server removes those that stay "
        "empty",
    .about = {.compatible = "Curator's InterProcessSemaphoreV2",
              .order = ZK_ORDER,
              .hazards = ZK_HAZARDS
              "; a try is refused while another client is acquiring; two clients that take "
              "several permits each may wait for each other",
              ZK_ABOUT(5, 1)},
    .algorithm = &algorithm,
};
