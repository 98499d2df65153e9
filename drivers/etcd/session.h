/* session: one client's session with etcd: a lease that a helper fiber keeps alive, and calls.
 *
 * A call is one gRPC request and its answer, as straight-line code: the algorithms build and read
 * protobuf-c messages. A call retries nothing unless its comment says so. */
#ifndef DRIVERS_ETCD_SESSION_H
#define DRIVERS_ETCD_SESSION_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/backends.h"
#include "drivers/driver.h"
#include "drivers/etcd/etcd.pb-c.h"
#include "drivers/etcd/http.h"
#include "drivers/url.h"

/* slab: the memory into which an answer is unpacked; allocated once for a line of calls.
 *
 * protobuf-c allocates each part of a message separately. The slab hands out pieces of one block
 * instead, and takes all of them back at once at the next slab_reset, so that an answer costs no
 * malloc. It never frees a single piece. */

struct slab {
    ProtobufCAllocator allocator; /* for protobuf-c; points at this slab, which must not move */
    uint8_t *base;                /* borrowed from the caller of slab_init */
    size_t size_bytes, used_bytes;
};

struct etcd_options {
    int64_t command_timeout_ns;
    const char *durability; /* what the user states; see facts.h */
    struct lb_tls tls;
};

struct etcd_server {
    struct http_shared http; /* with the endpoints */
    struct lb_tls tls;
    char user[URL_USER_MAX], password[URL_PASSWORD_MAX]; /* "" = none */
    char shown[256]; /* the URL without its password, for messages */
};

/* A request's path, and the type of its answer. */
struct etcd_method {
    const char *path;
    const ProtobufCMessageDescriptor *answer;
};

extern const struct etcd_method etcd_range, etcd_delete_range, etcd_txn, etcd_lease_grant,
    etcd_lease_revoke, etcd_lease_keep_alive, etcd_lease_leases, etcd_lock_method, etcd_unlock,
    etcd_status, etcd_member_list;

/* The status codes of gRPC that the code distinguishes. */
enum {
    ETCD_OK = 0,
    ETCD_NOT_FOUND = 5,
    ETCD_DENIED = 7,
    ETCD_UNREADY = 9, /* failed precondition: authentication is not enabled */
    ETCD_UNAUTHENTICATED = 16
};

/* A line of calls, with one call at a time. A session has three lines: for the client, for the keeper of
 * the lease, and for long calls (a watch, a call of the lock service). */
struct etcd_line {
    struct etcd_session *session;
    struct transfer transfer;
    struct slab slab; /* the memory of the last answer */
    const struct etcd_method *method;
    ProtobufCMessage *answer; /* NULL = none that could be read */
    int status;               /* gRPC's, of the last call; -1 = none came */
    /* streams: called with each answer, also with one that cannot be read, on the pump's fiber */
    void (*seen)(struct etcd_line *line);
};

struct etcd_session {
    struct lb_session *owner;
    struct http http;
    struct etcd_line call, keep, watch;
    struct lb_fiber *keeper;
    /* when the lease is renewed next; LB_NEVER = there is none */
    int64_t keep_due_ns;
    int64_t lease, ttl_s;   /* 0 = none */
    int64_t alive_until_ns; /* the lease lasts at least until then, by lb_now() */
    bool ending;            /* the session is being closed: the keeper is to end */
    int64_t patience_ns;    /* how long a call waits for its answer */
    bool lost;              /* the lease has ended, or may have ended by lb_now() */
    bool watch_hit;         /* the watched key was deleted */
};

static inline struct etcd_session *etcd_session_of(const struct lb_session *session) {
    return session->state;
}

/* The data as a field of a request; borrows the data. */
static inline ProtobufCBinaryData etcd_bytes(const char *data, size_t len) {
    return (ProtobufCBinaryData){.len = len, .data = (uint8_t *)(uintptr_t)data};
}

/* Sends a request and waits for its answer, at most e->patience_ns. LB_OK: etcd_answer returns the answer;
 * LB_BROKEN: nothing was sent, or the server has certainly not carried out the request; LB_UNKNOWN;
 * LB_REFUSED. line->status is gRPC's status if the server gave one. */
enum lb_outcome etcd_call(struct etcd_line *line, const struct etcd_method *method,
                          const ProtobufCMessage *request, struct lb_err *err);

/* Logs in with the URL's user and password, and gets a token that is sent with each further request. Does nothing if
 * the URL has no user. When a token has expired, etcd_call gets a new one by itself. 0, or -1 with err. */
int etcd_authenticate_on(struct etcd_line *line, struct lb_err *err);

/* The same for a request that only reads, on the client's line. A request without an answer is sent again,
 * over a new connection if necessary, until e->patience_ns has passed or the lease has ended. */
enum lb_outcome etcd_read(struct etcd_session *e, const struct etcd_method *method,
                          const ProtobufCMessage *request);

/* The answer of a call that returned LB_OK, a message of method->answer's type; valid until the
 * line's next. */
static inline const void *etcd_answer(const struct etcd_line *line) {
    return line->answer;
}

/* Opens a line with room for in_bytes of one answer and out_bytes of a request. 0, or -1 with
 * err. */
int etcd_line_init(struct etcd_line *line, struct etcd_session *e, size_t in_bytes,
                   size_t out_bytes, struct lb_err *err);
void etcd_line_done(struct etcd_line *line);

/* Watches one key for its deletion, from a revision on. One watch at a time. */
enum lb_outcome etcd_watch_start(struct etcd_session *e, ProtobufCBinaryData key, int64_t revision);
/* Waits until the key is deleted. LB_OK; LB_TIMEOUT: the deadline has passed; LB_BROKEN: the watch or the
 * lease has ended, or the cut-off came. */
enum lb_outcome etcd_watch_wait(struct etcd_session *e, int64_t deadline_ns);
void etcd_watch_stop(struct etcd_session *e);

/* Begins a call whose answer has no time limit, on the watch's line. LB_OK, LB_BROKEN (the session is
 * over) or LB_REFUSED. etcd_long_wait waits for the answer. */
enum lb_outcome etcd_long_start(struct etcd_session *e, const struct etcd_method *method,
                                const ProtobufCMessage *request);
/* Whether the call has finished by the deadline. False also at the cut-off and when the lease has
 * ended. */
bool etcd_long_wait(struct etcd_session *e, int64_t deadline_ns);
/* The outcome of a long call that has finished, as for etcd_call. */
enum lb_outcome etcd_long_end(struct etcd_session *e);

/* At the session's end, with little patience: stops keeping the lease alive, and revokes it if the server can be
 * reached, which deletes all its keys. Does nothing if there is no lease. */
void etcd_lease_end(struct etcd_session *e);
/* Revokes any lease, which deletes its keys. LB_OK: the lease does not exist any more. */
enum lb_outcome etcd_lease_drop(struct etcd_session *e, int64_t lease);
/* The lease has ended: notifies all fibers that wait or hold. */
void etcd_lease_lost(struct etcd_session *e);
/* LB_OK, or LB_UNKNOWN if the lease had ended by our clock when the server's
 * answer was read: we may have been paused since the answer was sent, and another client may have
 * been admitted. */
enum lb_outcome etcd_granted(struct lb_session *session);
/* The outcome of a release whose requests had this outcome. LB_LOST if none was sent (LB_BROKEN) and, by our
 * clock, the lease has ended: another client may hold the lock. */
enum lb_outcome etcd_released(const struct lb_session *session, enum lb_outcome outcome);
/* To be called when a release finds that the lock's key is gone: asks the server whether the lease is, too. Returns
 * LB_LOST, with the reason in the session's error. */
enum lb_outcome etcd_key_gone(struct lb_session *session);
/* lb_algorithm.prepare of locks whose keys hang on their session's lease. */
int etcd_prepare_lease(struct lb_session *session, int64_t deadline_ns, struct lb_err *err);

/* Counts the things that are left on the server: keys that begin with the prefix, and leases that lockbench
 * made, except this session's own. The leases of another lockbench on the same server count too. */
lb_residue_fn etcd_residue;

/* Removes the things that lockbench left on the server; see drivers/clean.h. */
lb_clean_fn etcd_clean;
/* The part of etcd_clean that removes leases. */
int etcd_clean_leases(struct etcd_session *e, struct lb_cleaning *cleaning, struct lb_err *err);

/* txn: transactions of etcd: IF all comparisons hold THEN one list of requests ELSE another. */

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

/* keys: pure functions on the keys that etcd's Go client (concurrency.Mutex) makes. */

#define ETCD_ROOT_MAX 16 /* the most bytes before and after a name */
#define ETCD_KEY_MAX (LB_KEY_MAX + ETCD_ROOT_MAX + 1 + 16) /* name, slash, lease in hex */

/* Writes "name/" into out (ETCD_KEY_MAX bytes, not a string). Returns its length. */
size_t etcd_prefix(const char *name, size_t len, char *out);

/* Writes "name/<lease in hex>" into out (ETCD_KEY_MAX bytes, not a string). Returns its length. */
size_t etcd_lock_key(const char *name, size_t len, int64_t lease, char *out);

/* Writes the first key after all keys that begin with prefix into out (len bytes, at least 1). Returns its
 * length. A prefix of bytes 0xff only has no such key: then out is a zero byte, which means "to the end". */
size_t etcd_prefix_end(const char *prefix, size_t len, char *out);

#endif
