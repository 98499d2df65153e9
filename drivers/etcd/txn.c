/* txn: see txn.h. */
#include "drivers/etcd/txn.h"

Etcdserverpb__Compare etcd_created(ProtobufCBinaryData key, int64_t revision) {
    Etcdserverpb__Compare compare = ETCDSERVERPB__COMPARE__INIT;
    compare.target = ETCDSERVERPB__COMPARE__COMPARE_TARGET__CREATE;
    compare.result = ETCDSERVERPB__COMPARE__COMPARE_RESULT__EQUAL;
    compare.key = key;
    compare.target_union_case = ETCDSERVERPB__COMPARE__TARGET_UNION_CREATE_REVISION;
    compare.create_revision = revision;
    return compare;
}

static struct etcd_op op_of(Etcdserverpb__RequestOp__RequestCase kind) {
    struct etcd_op op = {.request = ETCDSERVERPB__REQUEST_OP__INIT};
    op.request.request_case = kind;
    return op;
}

struct etcd_op etcd_put(ProtobufCBinaryData key, int64_t lease) {
    struct etcd_op op = op_of(ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_PUT);
    op.put = (Etcdserverpb__PutRequest)ETCDSERVERPB__PUT_REQUEST__INIT;
    op.put.key = key;
    op.put.lease = lease;
    return op;
}

struct etcd_op etcd_delete(ProtobufCBinaryData key) {
    struct etcd_op op = op_of(ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE);
    op.delete = (Etcdserverpb__DeleteRangeRequest)ETCDSERVERPB__DELETE_RANGE_REQUEST__INIT;
    op.delete.key = key;
    return op;
}

struct etcd_op etcd_look(Etcdserverpb__RangeRequest range) {
    struct etcd_op op = op_of(ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_RANGE);
    op.range = range;
    return op;
}

Etcdserverpb__RangeRequest etcd_get(ProtobufCBinaryData key) {
    Etcdserverpb__RangeRequest range = ETCDSERVERPB__RANGE_REQUEST__INIT;
    range.key = key;
    return range;
}

/* Completes the message of each request where it stays, and lists them. Returns how many there are. */
static size_t list_requests(struct etcd_op *ops, Etcdserverpb__RequestOp **ret_list) {
    size_t count = 0;
    for (; count < ETCD_OPS_MAX && ops[count].request.request_case; count++) {
        struct etcd_op *op = &ops[count];
        ret_list[count] = &op->request;
        if (op->request.request_case == ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_PUT)
            op->request.request_put = &op->put;
        else if (op->request.request_case == ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_RANGE)
            op->request.request_range = &op->range;
        else
            op->request.request_delete_range = &op->delete;
    }
    return count;
}

enum lb_outcome etcd_transact(struct etcd_session *e, struct etcd_transaction *txn) {
    Etcdserverpb__Compare *compares[ETCD_COMPARES_MAX];
    Etcdserverpb__RequestOp *successes[ETCD_OPS_MAX], *failures[ETCD_OPS_MAX];
    Etcdserverpb__TxnRequest request = ETCDSERVERPB__TXN_REQUEST__INIT;
    size_t count = 0;
    for (; count < ETCD_COMPARES_MAX && txn->compare[count].target_union_case; count++)
        compares[count] = &txn->compare[count];
    request.n_compare = count;
    request.compare = compares;
    request.n_success = list_requests(txn->success, successes);
    request.success = successes;
    request.n_failure = list_requests(txn->failure, failures);
    request.failure = failures;
    return etcd_call(&e->call, &etcd_txn, &request.base, &e->owner->err);
}

const Etcdserverpb__KeyValue *etcd_first(const Etcdserverpb__TxnResponse *answer, size_t n) {
    if (n >= answer->n_responses ||
        answer->responses[n]->response_case != ETCDSERVERPB__RESPONSE_OP__RESPONSE_RESPONSE_RANGE)
        return NULL;
    const Etcdserverpb__RangeResponse *range = answer->responses[n]->response_range;
    return range->n_kvs > 0 ? range->kvs[0] : NULL;
}
