/* store: a guarded value beside a lock: the key NAME:guarded, on no lease, with "token value" in
 * it. A transaction writes the key if its mod revision is still the one that was read (0 = there is no
 * key). See drivers/store.h. */
#include "drivers/etcd/session.h"

#include <string.h>

#define BEHIND ":guarded"

struct name {
    char bytes[LB_KEY_MAX + sizeof BEHIND];
    size_t len;
};

static struct name name_of(const struct lb_request *request) {
    struct name name = {.len = request->key_len + sizeof BEHIND - 1};
    memcpy(name.bytes, request->key, request->key_len);
    memcpy(name.bytes + request->key_len, BEHIND, sizeof BEHIND);
    return name;
}

static enum lb_outcome read_guarded(struct lb_session *session, const struct lb_request *request,
                                    struct store_entry *ret_entry) {
    struct etcd_session *e = etcd_session_of(session);
    struct name name = name_of(request);
    Etcdserverpb__RangeRequest range = etcd_get(etcd_bytes(name.bytes, name.len));
    enum lb_outcome outcome = etcd_call(&e->call, &etcd_range, &range.base, &session->err);
    if (outcome != LB_OK) return outcome;
    const Etcdserverpb__RangeResponse *answer = etcd_answer(&e->call);
    if (answer->n_kvs == 0) return LB_OK;
    const Etcdserverpb__KeyValue *found = answer->kvs[0];
    if (!store_parse((const char *)found->value.data, found->value.len, ret_entry)) {
        return lb_fail(session, LB_REFUSED, "etcd: %.200s holds something else", name.bytes);
    }
    ret_entry->version = (uint64_t)found->mod_revision;
    return LB_OK;
}

static enum lb_outcome write_guarded(struct lb_session *session, const struct lb_request *request,
                                     const struct store_entry *entry) {
    struct etcd_session *e = etcd_session_of(session);
    struct name name = name_of(request);
    char text[STORE_TEXT_MAX];
    int len = store_text(entry, text);

    Etcdserverpb__Compare same = ETCDSERVERPB__COMPARE__INIT;
    same.target = ETCDSERVERPB__COMPARE__COMPARE_TARGET__MOD;
    same.result = ETCDSERVERPB__COMPARE__COMPARE_RESULT__EQUAL;
    same.key = etcd_bytes(name.bytes, name.len);
    same.target_union_case = ETCDSERVERPB__COMPARE__TARGET_UNION_MOD_REVISION;
    same.mod_revision = (int64_t)entry->version;

    struct etcd_transaction txn = {.compare = {same}, .success = {etcd_put(same.key, 0)}};
    txn.success[0].put.value = etcd_bytes(text, (size_t)len);
    enum lb_outcome outcome = etcd_transact(e, &txn);
    if (outcome != LB_OK) return outcome;
    return ((const Etcdserverpb__TxnResponse *)etcd_answer(&e->call))->succeeded ? LB_OK : LB_BUSY;
}

static int delete_guarded(struct lb_session *session, const struct lb_request *request,
                          struct lb_err *err) {
    struct etcd_session *e = etcd_session_of(session);
    struct name name = name_of(request);
    Etcdserverpb__DeleteRangeRequest delete = ETCDSERVERPB__DELETE_RANGE_REQUEST__INIT;
    delete.key = etcd_bytes(name.bytes, name.len);
    return etcd_call(&e->call, &etcd_delete_range, &delete.base, err) == LB_OK ? 0 : -1;
}

const struct store_cas etcd_store = {.store = {.install = store_cas_install,
                                               .write = store_cas_write,
                                               .read = store_cas_read,
                                               .drop = delete_guarded},
                                     .get = read_guarded,
                                     .put = write_guarded};
