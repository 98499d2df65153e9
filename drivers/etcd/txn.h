/* txn: transactions of etcd: IF all comparisons hold THEN one list of requests ELSE another. */
#ifndef DRIVERS_ETCD_TXN_H
#define DRIVERS_ETCD_TXN_H

#include "drivers/etcd/session.h"

/* One request of a transaction; its fields may be changed until etcd_transact. */
struct etcd_op {
    Etcdserverpb__RequestOp request;
    union {
        Etcdserverpb__PutRequest put;
        Etcdserverpb__RangeRequest range;
        Etcdserverpb__DeleteRangeRequest delete;
    };
};

#define ETCD_COMPARES_MAX 2
#define ETCD_OPS_MAX 3

/* Each list ends before its first element that is not filled. */
struct etcd_transaction {
    Etcdserverpb__Compare compare[ETCD_COMPARES_MAX];
    struct etcd_op success[ETCD_OPS_MAX], failure[ETCD_OPS_MAX];
};

/* The comparison "the key's create revision is this one"; 0: "there is no such key". Here and below the key's bytes are
 * borrowed. */
Etcdserverpb__Compare etcd_created(ProtobufCBinaryData key, int64_t revision);

/* lease: the key's lease; 0 = none */
struct etcd_op etcd_put(ProtobufCBinaryData key, int64_t lease);
struct etcd_op etcd_delete(ProtobufCBinaryData key);
struct etcd_op etcd_look(Etcdserverpb__RangeRequest range);
Etcdserverpb__RangeRequest etcd_get(ProtobufCBinaryData key); /* of one key */

/* Sends the transaction on the client's line. Returns as etcd_call. */
enum lb_outcome etcd_transact(struct etcd_session *e, struct etcd_transaction *txn);

/* The first key-value in the nth part of a transaction's answer, valid as long as the answer; NULL if there is none, or
 * if that part does not answer an etcd_look. */
const Etcdserverpb__KeyValue *etcd_first(const Etcdserverpb__TxnResponse *answer, size_t n);

#endif
