/* queue: see queue.h. */
#include "drivers/etcd/queue.h"

#include <string.h>

#include "drivers/etcd/session.h"
#include "drivers/key_names.h"
#include "drivers/wait.h"

#define AGAIN_NS (50 * LB_MS_NS)

/* A request for the oldest key (by create revision) of those that begin with "name/". */
struct oldest {
    char prefix[ETCD_KEY_MAX], end[ETCD_KEY_MAX];
    Etcdserverpb__RangeRequest range;
};

static void ask_oldest(struct oldest *oldest, const struct lb_request *request) {
    size_t len = etcd_prefix(request->key, request->key_len, oldest->prefix);
    oldest->range = etcd_get(etcd_bytes(oldest->prefix, len));
    oldest->range.range_end =
        etcd_bytes(oldest->end, etcd_prefix_end(oldest->prefix, len, oldest->end));
    oldest->range.sort_target = ETCDSERVERPB__RANGE_REQUEST__SORT_TARGET__CREATE;
    oldest->range.sort_order = ETCDSERVERPB__RANGE_REQUEST__SORT_ORDER__ASCEND;
    oldest->range.limit = 1;
}

/* Transaction: IF our key is not there THEN put it, ELSE get it. In both cases it also gets the oldest key
 * of the queue. */
static enum lb_outcome transact(struct etcd_session *e, const struct lb_request *request,
                                const struct etcd_place *place) {
    ProtobufCBinaryData key = etcd_bytes(place->key, place->key_len);
    struct oldest oldest;
    ask_oldest(&oldest, request);
    struct etcd_op look = etcd_look(oldest.range);
    struct etcd_transaction txn = {.compare = {etcd_created(key, 0)},
                                   .success = {etcd_put(key, place->lease), look},
                                   .failure = {etcd_look(etcd_get(key)), look}};
    return etcd_transact(e, &txn);
}

enum lb_outcome etcd_place_join(struct lb_session *session, const struct lb_request *request,
                                struct etcd_place *place, bool *ret_first) {
    struct etcd_session *e = etcd_session_of(session);
    place->lease = 0;
    if (request->key_len == 0) return lb_fail(session, LB_REFUSED, "etcd: a lock needs a name");
    if (e->lost || e->lease == 0)
        return lb_fail(session, LB_BROKEN, "etcd: the session's lease has ended");
    place->lease = e->lease;
    place->key_len = etcd_lock_key(request->key, request->key_len, e->lease, place->key);
    enum lb_outcome outcome = transact(e, request, place);
    if (outcome != LB_OK) {
        if (e->call.status == ETCD_NOT_FOUND) etcd_lease_lost(e);
        return outcome;
    }
    const Etcdserverpb__TxnResponse *answer = etcd_answer(&e->call);
    const Etcdserverpb__KeyValue *own = answer->succeeded ? NULL : etcd_first(answer, 0);
    const Etcdserverpb__KeyValue *oldest = etcd_first(answer, 1);
    if (!answer->header || (!answer->succeeded && !own)) {
        return lb_fail(session, LB_UNKNOWN,
                       "etcd: a transaction's answer lacks what was asked for");
    }
    place->revision = own ? own->create_revision : answer->header->revision;
    if (place->revision <= 0)
        return lb_fail(session, LB_UNKNOWN, "etcd: an answer without a revision");
    *ret_first = !oldest || oldest->create_revision == place->revision;
    return LB_OK;
}

enum lb_outcome etcd_place_find(struct lb_session *session, const struct etcd_place *place,
                                int64_t *ret_revision) {
    struct etcd_session *e = etcd_session_of(session);
    Etcdserverpb__RangeRequest get = etcd_get(etcd_bytes(place->key, place->key_len));
    enum lb_outcome outcome = etcd_read(e, &etcd_range, &get.base);
    if (outcome != LB_OK) return outcome;
    const Etcdserverpb__RangeResponse *answer = etcd_answer(&e->call);
    if (answer->n_kvs == 0)
        return lb_fail(session, LB_LOST, "etcd: our key is gone, and so is its lease");
    *ret_revision = answer->kvs[0]->create_revision;
    return LB_OK;
}

enum lb_outcome etcd_place_confirm(struct lb_session *session, const struct etcd_place *place) {
    int64_t revision = 0;
    enum lb_outcome outcome = etcd_place_find(session, place, &revision);
    if (outcome != LB_OK || revision == place->revision) return outcome;
    return lb_fail(session, LB_LOST, "etcd: our key is gone, another has its name");
}

enum lb_outcome etcd_place_behind(struct lb_session *session, const struct lb_request *request,
                                  const struct etcd_place *place, bool *ret_behind) {
    struct etcd_session *e = etcd_session_of(session);
    struct oldest oldest;
    int64_t revision = 0;
    enum lb_outcome outcome = etcd_place_find(session, place, &revision);
    *ret_behind = false;
    if (outcome != LB_OK) return outcome == LB_LOST ? LB_OK : outcome;
    ask_oldest(&oldest, request);
    outcome = etcd_read(e, &etcd_range, &oldest.range.base);
    if (outcome != LB_OK) return outcome;
    const Etcdserverpb__RangeResponse *answer = etcd_answer(&e->call);
    *ret_behind = answer->n_kvs > 0 && answer->kvs[0]->create_revision < revision;
    return LB_OK;
}

enum lb_outcome etcd_wait_deleted(struct lb_session *session, const Etcdserverpb__KeyValue *seen,
                                  int64_t revision, int64_t deadline_ns) {
    struct etcd_session *e = etcd_session_of(session);
    char key[ETCD_KEY_MAX];
    size_t len = seen->key.len;
    if (len == 0 || len >= sizeof key || revision <= 0)
        return lb_fail(session, LB_UNKNOWN, "etcd: the answer has no key that can be watched");
    memcpy(key, seen->key.data, len);
    enum lb_outcome outcome = etcd_watch_start(e, etcd_bytes(key, len), revision);
    if (outcome == LB_OK) outcome = etcd_watch_wait(e, deadline_ns);
    etcd_watch_stop(e);
    session->wakeups++;
    if (outcome == LB_TIMEOUT || outcome == LB_REFUSED) return outcome;
    if (e->lost) return lb_fail(session, LB_UNKNOWN, "etcd: the lease ended while we waited");
    if (lb_stopping()) return lb_fail(session, LB_UNKNOWN, "etcd: cut off while waiting");
    /* The key was deleted, or the watch broke. In both cases the caller looks again; after a broken watch
     * not at once. */
    if (outcome == LB_BROKEN) lb_sleep_until(lb_now() + AGAIN_NS);
    return LB_OK;
}

enum lb_outcome etcd_place_wait(struct lb_session *session, const struct lb_request *request,
                                const struct etcd_place *place) {
    struct etcd_session *e = etcd_session_of(session);
    struct oldest
        newest; /* asks for the newest key that is older than ours: the one right before it */
    ask_oldest(&newest, request);
    newest.range.sort_order = ETCDSERVERPB__RANGE_REQUEST__SORT_ORDER__DESCEND;
    newest.range.max_create_revision = place->revision - 1;
    for (;;) {
        enum lb_outcome outcome = etcd_read(e, &etcd_range, &newest.range.base);
        if (outcome != LB_OK) return outcome;
        const Etcdserverpb__RangeResponse *answer = etcd_answer(&e->call);
        if (answer->n_kvs == 0) return etcd_place_confirm(session, place);
        if (lb_now() >= request->deadline_ns) return LB_TIMEOUT;
        if (!answer->header)
            return lb_fail(session, LB_UNKNOWN, "etcd: an answer without its header");
        outcome = etcd_wait_deleted(session, answer->kvs[0], answer->header->revision,
                                    request->deadline_ns);
        if (outcome != LB_OK) return outcome;
    }
}

enum lb_outcome etcd_place_leave(struct lb_session *session, const struct etcd_place *place) {
    struct etcd_session *e = etcd_session_of(session);
    int64_t deadline_ns = lb_after(lb_now(), e->patience_ns);
    Etcdserverpb__DeleteRangeRequest request = ETCDSERVERPB__DELETE_RANGE_REQUEST__INIT;
    request.key = etcd_bytes(place->key, place->key_len);
    bool sent = false;
    if (place->lease == 0)
        return lb_fail(session, LB_LOST, "etcd: release of a lock that was not held");
    for (;;) {
        enum lb_outcome outcome =
            etcd_call(&e->call, &etcd_delete_range, &request.base, &session->err);
        const Etcdserverpb__DeleteRangeResponse *answer = etcd_answer(&e->call);
        if (outcome == LB_OK && (answer->deleted > 0 || (sent && lb_now() < e->alive_until_ns))) {
            /* No client deletes the key of another client whose lease lasts. So after a lost answer, our
             * own request has deleted the key. */
            session->err.code = 0;
            return LB_OK;
        }
        if (outcome == LB_OK && !sent) return etcd_key_gone(session);
        if (outcome == LB_REFUSED) return outcome;
        if (outcome == LB_UNKNOWN) sent = true;
        if (outcome == LB_OK || lb_stopping() || lb_now() + AGAIN_NS >= deadline_ns) {
            return sent ? LB_UNKNOWN : LB_BROKEN;
        }
        lb_sleep_until(lb_now() + AGAIN_NS);
    }
}

enum lb_outcome etcd_place_give_up(struct lb_session *session, const struct etcd_place *place,
                                   enum lb_outcome outcome) {
    /* The key has ended with its session, so nothing was held and nothing is left. */
    if (outcome == LB_LOST) return LB_BROKEN;
    enum lb_outcome left = etcd_place_leave(session, place);
    if (left != LB_OK && left != LB_LOST) return LB_UNKNOWN;
    if (outcome == LB_BUSY || outcome == LB_TIMEOUT) session->err.code = 0;
    return outcome == LB_UNKNOWN ? LB_BROKEN : outcome; /* our key is surely gone */
}

enum lb_outcome etcd_place_settle(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    const struct etcd_place *place = grant->data;
    (void)request;
    if (place->lease == 0) return LB_OK;
    return etcd_lease_drop(etcd_session_of(session), place->lease);
}

void etcd_names(const struct lb_session *session, const struct lb_request *request,
                struct lb_names *names) {
    char prefix[ETCD_KEY_MAX];
    (void)session;
    size_t len = etcd_prefix(request->key, request->key_len, prefix);
    lb_names_add(names, "keys of holder and waiters", "%.*s<lease in hex>", (int)len, prefix);
}
