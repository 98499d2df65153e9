/* zk-rwlock: Curator's InterProcessReadWriteLock: readers' nodes "__READ__", writers' "__WRIT__",
 * in one queue. A writer watches the node right before it, as in zk-lock. A reader waits for the
 * first writer of the queue, if that writer is before it. So a writer that goes wakes all readers
 * behind it, including those behind a second writer, which then wait for the second. First come,
 * first served: a reader that comes after a waiting writer waits, so neither starves. Re-entry is
 * counted in the client. A writer may read as well: its reader's node gets the writer's own
 * sequence, so that it stays in front when the writer goes (Curator up to 5.4 puts it at the end,
 * where the next writer overtakes it). A reader may not write as well: with Curator it would wait
 * for itself for ever. */
#include "drivers/zookeeper/mutex.h"

static const struct zk_queue readers = {.base = "__READ__", .ahead = zk_ahead_read};
static const struct zk_queue writers = {.base = "__WRIT__", .ahead = zk_ahead_write};

struct zk_read_write {
    struct zk_place write, read;
    uint32_t writes, reads; /* how often each is held */
};

static enum lb_outcome take_place(struct lb_session *session, const struct lb_request *request,
                                  struct zk_read_write *mine) {
    struct zk_place *place = request->shared ? &mine->read : &mine->write;
    if (!request->shared && mine->reads > 0)
        return lb_fail(session, LB_REFUSED, "zookeeper: a reader can't become a writer");
    enum lb_outcome outcome = zk_place_at(session, place, request->key, request->key_len, NULL);
    if (outcome != LB_OK) return outcome;
    if (request->shared && mine->writes > 0) {
        const char *sequence = zk_order_read_write(mine->write.name);
        return zk_place_join(session, &readers, place, sequence, request->deadline_ns);
    }
    return zk_place_take(session, request->shared ? &readers : &writers, place,
                         request->deadline_ns);
}

static enum lb_outcome zk_rw_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    struct zk_read_write *mine = grant->data;
    uint32_t *count = request->shared ? &mine->reads : &mine->writes;
    if (request->held == 0) {
        mine->reads = mine->writes = 0;
        mine->read.name[0] = mine->write.name[0] = '\0';
        mine->read.session.client_id = mine->write.session.client_id = 0;
    }
    if (*count == 0) {
        enum lb_outcome outcome = take_place(session, request, mine);
        if (outcome != LB_OK) return outcome;
    } else if (!zk_place_held(session, request->shared ? &mine->read : &mine->write)) {
        return lb_fail(session, LB_LOST, "zookeeper: the session of the first acquire is over");
    }
    (*count)++;
    /* A reader that began while it wrote holds the writer's token. */
    return lb_granted(grant, mine->writes > 0 ? mine->write.czxid : mine->read.czxid, LB_NEVER);
}

static enum lb_outcome zk_rw_release(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    struct zk_read_write *mine = grant->data;
    uint32_t *count = request->shared ? &mine->reads : &mine->writes;
    if (*count > 1) {
        (*count)--;
        return LB_OK;
    }
    enum lb_outcome outcome = zk_place_leave(session, request->shared ? &mine->read : &mine->write);
    if (outcome == LB_OK || outcome == LB_LOST) *count = 0;
    return outcome;
}

static enum lb_outcome zk_rw_settle(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    (void)request;
    struct zk_read_write *mine = grant->data;
    enum lb_outcome outcome = zk_place_settle(session, &mine->read);
    if (outcome == LB_OK) outcome = zk_place_settle(session, &mine->write);
    if (outcome == LB_OK) mine->reads = mine->writes = 0;
    return outcome;
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct zk_read_write),
    .acquire = zk_rw_acquire,
    .release = zk_rw_release,
    .settle = zk_rw_settle,
    .residue = zk_residue,
    .names = zk_names,
};

const struct lb_lock lock_zk_rwlock = {
    .name = "zk-rwlock",
    .summary =
        "readers and writers in one queue of ephemeral nodes (Curator's InterProcessReadWriteLock)",
    .backend = &backend_zookeeper,
    .primitive = LB_RWLOCK,
    .caps = ZK_CAPS | LB_CAP_FENCE | LB_CAP_FAIR | LB_CAP_SHARED | LB_CAP_REENTRANT,
    .claims = ZK_CLAIMS,
    .waits = "writers watch predecessor, readers the first writer",
    .keeps = ZK_KEEPS_CONTAINERS,
    .about = {.compatible = "Curator's InterProcessReadWriteLock",
              .order =
                  "first come, first served, readers together; neither readers nor writers starve",
              .token = ZK_TOKEN "; a reader's lies between its writers'",
              .hazards = ZK_HAZARDS
              "; a reader can't become a writer; a writer that leaves wakes all readers",
              ZK_ABOUT(2, 1)},
    .algorithm = &algorithm,
};
