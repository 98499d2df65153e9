/* call: requests and answers over a line. See session.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/etcd/session.h"
#include "drivers/wait.h"

static size_t frame_length(const uint8_t *head) {
    return (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
}

int cut_feed(struct cutter *cutter, const uint8_t *data, size_t len) {
    while (len > 0) {
        size_t whole = CUT_HEAD_BYTES;
        if (cutter->used >= CUT_HEAD_BYTES) whole += frame_length(cutter->buffer);
        size_t take = whole - cutter->used < len ? whole - cutter->used : len;
        memcpy(cutter->buffer + cutter->used, data, take);
        cutter->used += take;
        data += take;
        len -= take;
        if (cutter->used < CUT_HEAD_BYTES) continue;
        whole = CUT_HEAD_BYTES + frame_length(cutter->buffer);
        /* we never ask for compression */
        if (cutter->buffer[0] != 0 || whole > cutter->size) return -1;
        if (cutter->used < whole) continue;
        cutter->used = 0;
        if (cutter->each(cutter->arg, cutter->buffer + CUT_HEAD_BYTES, whole - CUT_HEAD_BYTES) < 0)
            return -1;
    }
    return 0;
}

int cut_end(const struct cutter *cutter) {
    return cutter->used == 0 ? 0 : -1;
}

void cut_head(uint8_t out[CUT_HEAD_BYTES], size_t len) {
    out[0] = 0;
    out[1] = (uint8_t)(len >> 24);
    out[2] = (uint8_t)(len >> 16);
    out[3] = (uint8_t)(len >> 8);
    out[4] = (uint8_t)len;
}

#define ALIGNMENT_BYTES 16

static void *slab_alloc(void *data, size_t bytes) {
    struct slab *slab = data;
    size_t start = (slab->used_bytes + ALIGNMENT_BYTES - 1) & ~(size_t)(ALIGNMENT_BYTES - 1);
    if (start > slab->size_bytes || bytes > slab->size_bytes - start) return NULL;
    slab->used_bytes = start + bytes;
    return slab->base + start;
}

static void slab_free(void *data, void *block) {
    (void)data;
    (void)block;
}

/* Hands out the size_bytes at base from now on. */
static void slab_init(struct slab *slab, void *base, size_t size_bytes) {
    *slab = (struct slab){{slab_alloc, slab_free, NULL}, base, size_bytes, 0};
    slab->allocator.allocator_data = slab;
}

/* Takes back all that was handed out. */
static void slab_reset(struct slab *slab) {
    slab->used_bytes = 0;
}

#define AGAIN_NS (50 * LB_MS_NS) /* between two tries of a read */

const struct etcd_method etcd_range = {"/etcdserverpb.KV/Range",
                                       &etcdserverpb__range_response__descriptor};
const struct etcd_method etcd_delete_range = {"/etcdserverpb.KV/DeleteRange",
                                              &etcdserverpb__delete_range_response__descriptor};
const struct etcd_method etcd_txn = {"/etcdserverpb.KV/Txn",
                                     &etcdserverpb__txn_response__descriptor};
static const struct etcd_method watch_method = {"/etcdserverpb.Watch/Watch",
                                                &etcdserverpb__watch_response__descriptor};
const struct etcd_method etcd_lease_grant = {"/etcdserverpb.Lease/LeaseGrant",
                                             &etcdserverpb__lease_grant_response__descriptor};
const struct etcd_method etcd_lease_revoke = {"/etcdserverpb.Lease/LeaseRevoke",
                                              &etcdserverpb__lease_revoke_response__descriptor};
const struct etcd_method etcd_lease_keep_alive = {
    "/etcdserverpb.Lease/LeaseKeepAlive", &etcdserverpb__lease_keep_alive_response__descriptor};
const struct etcd_method etcd_lease_leases = {"/etcdserverpb.Lease/LeaseLeases",
                                              &etcdserverpb__lease_leases_response__descriptor};
const struct etcd_method etcd_lock_method = {"/v3lockpb.Lock/Lock",
                                             &etcdserverpb__lock_response__descriptor};
const struct etcd_method etcd_unlock = {"/v3lockpb.Lock/Unlock",
                                        &etcdserverpb__unlock_response__descriptor};
const struct etcd_method etcd_status = {"/etcdserverpb.Maintenance/Status",
                                        &etcdserverpb__status_response__descriptor};
const struct etcd_method etcd_member_list = {"/etcdserverpb.Cluster/MemberList",
                                             &etcdserverpb__member_list_response__descriptor};
static const struct etcd_method authenticate = {"/etcdserverpb.Auth/Authenticate",
                                                &etcdserverpb__authenticate_response__descriptor};

int etcd_line_init(struct etcd_line *line, struct etcd_session *e, size_t in_bytes,
                   size_t out_bytes, struct lb_err *err) {
    size_t slab_bytes =
        in_bytes + 2048; /* an unpacked message takes its bytes, and memory for structs */
    const struct etcd_server *server = e->owner->server->state;
    void *memory = malloc(slab_bytes);
    /* Each line may have to log in again, when the token has ended. */
    size_t login_bytes = strlen(server->user) + strlen(server->password) + 32;
    if (out_bytes < login_bytes) out_bytes = login_bytes;
    line->session = e;
    slab_init(&line->slab, memory, memory ? slab_bytes : 0);
    if (!memory) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    return transfer_init(&line->transfer, &e->http, in_bytes, out_bytes, err);
}

void etcd_line_done(struct etcd_line *line) {
    transfer_done(&line->transfer);
    free(line->slab.base);
    line->slab.base = NULL;
}

/* Writes the request into the transfer's buffer. Returns its length, or 0 if it does not fit. */
static size_t encode_request(struct etcd_line *line, const ProtobufCMessage *request) {
    struct transfer *transfer = &line->transfer;
    size_t len = protobuf_c_message_get_packed_size(request);
    if (len + CUT_HEAD_BYTES > transfer->out_size) return 0;
    cut_head(transfer->out, len);
    protobuf_c_message_pack(request, transfer->out + CUT_HEAD_BYTES);
    return len + CUT_HEAD_BYTES;
}

static int on_message(void *arg, const uint8_t *message, size_t len) {
    struct etcd_line *line = arg;
    slab_reset(&line->slab);
    line->answer =
        protobuf_c_message_unpack(line->method->answer, &line->slab.allocator, len, message);
    if (line->seen) line->seen(line);
    return 0;
}

/* The outcome that follows from gRPC's status. The status shows whether the server may have carried out the request. */
static enum lb_outcome outcome_of(int status) {
    switch (status) {
    case ETCD_OK:
        return LB_OK;
    case 3: /* invalid argument, wrong password too */
    case ETCD_DENIED:
    case ETCD_UNREADY:
    case 12: /* unimplemented */
    case ETCD_UNAUTHENTICATED:
        return LB_REFUSED;
    case ETCD_NOT_FOUND: /* the lease */
    case 8:              /* resource exhausted: too many requests, or no space; nothing was done */
    case 11:             /* out of range: a compacted revision */
        return LB_BROKEN;
    default: /* unavailable, time-out, internal, ...: the server may have carried out the request */
        return LB_UNKNOWN;
    }
}

static enum lb_outcome fail_call(const struct etcd_line *line, enum lb_outcome outcome,
                                 const char *why, struct lb_err *err) {
    const struct etcd_server *server = line->session->owner->server->state;
    err_set(err, outcome == LB_REFUSED ? LB_EXIT_USAGE : LB_EXIT_MACHINE, "etcd at %s: %s: %s",
            server->shown, strrchr(line->method->path, '/') + 1, why);
    return outcome;
}

/* Advice about a failed connection: ": ..." to follow the error's text, or "". */
static const char *advice(const struct transfer *transfer, const char *why) {
    const char *known = lb_tls_advice(why, transfer->http->shared->tls);
    if (*known || transfer->http->answered || transfer->result == CURLE_COULDNT_CONNECT)
        return known;
    return transfer->http->shared->tls
               ? ": does the server speak TLS at this port? If it asks for a client certificate, set tls_cert to one that it trusts"
               : ": if the server speaks TLS, write etcds://";
}

/* What an operator has to type before the server does it: ": ...", or "". */
static const char *remedy(const struct etcd_line *line) {
    const char *said = line->transfer.message;
    return line->status == ETCD_DENIED
               ? ": etcdctl role grant-permission ROLE --prefix=true readwrite PREFIX (of its keys: " LB_MARK
                 ")"
           : strstr(said, "database space exceeded")
               ? ": etcdctl compaction REVISION, etcdctl defrag, then etcdctl alarm disarm"
               : "";
}

/* The outcome of a transfer that is over. Sets err unless the outcome is LB_OK. */
static enum lb_outcome transfer_outcome(struct etcd_line *line, struct lb_err *err) {
    struct transfer *transfer = &line->transfer;
    if (transfer->result != CURLE_OK) {
        long error = 0;
        curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &error);
        const char *why = transfer->result == CURLE_COULDNT_CONNECT && error ? strerror((int)error)
                          : transfer->problem[0]                             ? transfer->problem
                                                 : curl_easy_strerror(transfer->result);
        char text[CURL_ERROR_SIZE + 420]; /* the advice may name a file */
        snprintf(text, sizeof text, "%s%s", why, advice(transfer, why));
        return fail_call(line, transfer->sent ? LB_UNKNOWN : LB_BROKEN, text, err);
    }
    line->status = transfer->grpc_status;
    if (line->status > 0) {
        char text[sizeof transfer->message + 160];
        snprintf(text, sizeof text, "%s%s", transfer->message[0] ? transfer->message : "an error",
                 remedy(line));
        return fail_call(line, outcome_of(line->status), text, err);
    }
    if (transfer->http_status != 200)
        return fail_call(line, LB_REFUSED, "this is not etcd's v3 API", err);
    if (line->status < 0 || !line->answer)
        return fail_call(line, LB_UNKNOWN, "the answer cannot be read", err);
    return LB_OK;
}

static void start_transfer(struct etcd_line *line, const struct etcd_method *method, size_t len,
                           int64_t deadline_ns) {
    line->method = method;
    line->answer = NULL;
    line->status = -1;
    line->session->owner->commands++;
    transfer_start(&line->transfer, method->path, len, on_message, line, deadline_ns);
}

static int64_t answer_deadline(const struct etcd_session *e) {
    return lb_after(lb_now(), e->patience_ns);
}

static enum lb_outcome call_once(struct etcd_line *line, const struct etcd_method *method,
                                 const ProtobufCMessage *request, struct lb_err *err) {
    struct etcd_session *e = line->session;
    line->method = method;
    size_t len = encode_request(line, request);
    if (len == 0) return fail_call(line, LB_REFUSED, "the request is too long", err);
    if (!e->http.running || lb_stopping())
        return fail_call(line, LB_BROKEN, "the session is over", err);
    int64_t deadline_ns = answer_deadline(e);
    /* The lease's keeper waits for an answer no longer than the lease lasts. */
    int64_t hope_ns = e->alive_until_ns;
    if (line == &e->keep && hope_ns < deadline_ns) deadline_ns = hope_ns;
    start_transfer(line, method, len, deadline_ns);
    if (!transfer_wait(&line->transfer, deadline_ns, line == &e->keep ? &e->ending : NULL)) {
        transfer_cancel(&line->transfer);
        return fail_call(line, line->transfer.sent ? LB_UNKNOWN : LB_BROKEN, "no answer in time",
                         err);
    }
    return transfer_outcome(line, err);
}

int etcd_authenticate_on(struct etcd_line *line, struct lb_err *err) {
    struct etcd_server *server = line->session->owner->server->state;
    if (!server->user[0]) return 0;
    Etcdserverpb__AuthenticateRequest request = ETCDSERVERPB__AUTHENTICATE_REQUEST__INIT;
    request.name = server->user;
    request.password = server->password;
    line->transfer.without_token = true; /* etcd refuses a login that carries an expired token */
    struct lb_err why = {0};
    enum lb_outcome outcome = call_once(line, &authenticate, &request.base, &why);
    line->transfer.without_token = false;
    /* The server has no accounts, perhaps because it has just lost its data. */
    if (outcome != LB_OK && line->status == ETCD_UNREADY)
        return err_set(err, LB_EXIT_MACHINE,
                       "%s: leave user and password out of the URL, or enable it", why.text);
    if (outcome != LB_OK) return err_set(err, why.code, "%s", why.text);
    const Etcdserverpb__AuthenticateResponse *answer = etcd_answer(line);
    if (answer->token && http_token(&line->session->http, answer->token) == 0) return 0;
    return err_set(err, LB_EXIT_MACHINE, "etcd at %s: the token is too long", server->shown);
}

/* Whether the last answer on the line was that our token has expired. Then the server has done nothing. */
static bool token_ended(const struct etcd_line *line) {
    const struct etcd_server *server = line->session->owner->server->state;
    return server->user[0] && line->status == ETCD_UNAUTHENTICATED;
}

enum lb_outcome etcd_call(struct etcd_line *line, const struct etcd_method *method,
                          const ProtobufCMessage *request, struct lb_err *err) {
    struct lb_err why = {0};
    enum lb_outcome outcome = call_once(line, method, request, &why);
    if (outcome == LB_REFUSED && token_ended(line)) {
        why.code = 0;
        if (etcd_authenticate_on(line, &why) == 0) outcome = call_once(line, method, request, &why);
    }
    if (outcome != LB_OK) err_set(err, why.code, "%s", why.text);
    return outcome;
}

enum lb_outcome etcd_read(struct etcd_session *e, const struct etcd_method *method,
                          const ProtobufCMessage *request) {
    int64_t deadline_ns = answer_deadline(e);
    for (;;) {
        enum lb_outcome outcome = etcd_call(&e->call, method, request, &e->owner->err);
        if (outcome == LB_OK) e->owner->err.code = 0;
        if (outcome != LB_BROKEN && outcome != LB_UNKNOWN) return outcome;
        if (e->lost || lb_stopping() || lb_now() + AGAIN_NS >= deadline_ns) return outcome;
        lb_sleep_until(lb_now() + AGAIN_NS);
    }
}

enum lb_outcome etcd_long_start(struct etcd_session *e, const struct etcd_method *method,
                                const ProtobufCMessage *request) {
    struct etcd_line *line = &e->watch;
    line->method = method;
    line->seen = NULL;
    size_t len = encode_request(line, request);
    if (len == 0) return fail_call(line, LB_REFUSED, "the request is too long", &e->owner->err);
    if (!e->http.running || lb_stopping())
        return fail_call(line, LB_BROKEN, "the session is over", &e->owner->err);
    start_transfer(line, method, len, answer_deadline(e));
    return LB_OK;
}

bool etcd_long_wait(struct etcd_session *e, int64_t deadline_ns) {
    return transfer_wait(&e->watch.transfer, deadline_ns, &e->lost);
}

enum lb_outcome etcd_long_end(struct etcd_session *e) {
    enum lb_outcome outcome = transfer_outcome(&e->watch, &e->owner->err);
    /* With LB_BROKEN the core opens a new session, which gets a new token. */
    return outcome == LB_REFUSED && token_ended(&e->watch) ? LB_BROKEN : outcome;
}

/* Handles an answer of a watch: it reports that the key was deleted, or that the watch has ended. */
static void on_event(struct etcd_line *line) {
    struct etcd_session *e = line->session;
    const Etcdserverpb__WatchResponse *answer = (const void *)line->answer;
    if (!answer) {
        /* The answer can't be read: after a delay a server may report more deletions at once than the memory can take.
         * The waiter is woken, and looks at the key itself. */
        e->watch_hit = true;
        lb_wake(line->transfer.fiber);
        return;
    }
    for (size_t i = 0; i < answer->n_events; i++) {
        if (answer->events[i]->type == ETCDSERVERPB__EVENT__EVENT_TYPE__DELETE) e->watch_hit = true;
    }
    if (answer->canceled) line->status = 1; /* compacted meanwhile, or the server is going down */
    if (e->watch_hit || answer->canceled) lb_wake(line->transfer.fiber);
}

enum lb_outcome etcd_watch_start(struct etcd_session *e, ProtobufCBinaryData key,
                                 int64_t revision) {
    Etcdserverpb__WatchCreateRequest__FilterType no_puts[] = {
        ETCDSERVERPB__WATCH_CREATE_REQUEST__FILTER_TYPE__NOPUT};
    Etcdserverpb__WatchCreateRequest create = ETCDSERVERPB__WATCH_CREATE_REQUEST__INIT;
    Etcdserverpb__WatchRequest request = ETCDSERVERPB__WATCH_REQUEST__INIT;
    create.key = key;
    create.start_revision = revision;
    create.n_filters = 1;
    create.filters = no_puts;
    request.request_union_case = ETCDSERVERPB__WATCH_REQUEST__REQUEST_UNION_CREATE_REQUEST;
    request.create_request = &create;
    e->watch.method = &watch_method;
    e->watch.seen = on_event;
    e->watch_hit = false;
    size_t len = encode_request(&e->watch, &request.base);
    if (len == 0)
        return fail_call(&e->watch, LB_REFUSED, "the request is too long", &e->owner->err);
    /* The client's side of the stream is closed at once. The server watches nevertheless, and a
     * stream with one watch needs no further request. */
    start_transfer(&e->watch, &watch_method, len, answer_deadline(e));
    return LB_OK;
}

enum lb_outcome etcd_watch_wait(struct etcd_session *e, int64_t deadline_ns) {
    struct etcd_line *line = &e->watch;
    while (!e->watch_hit) {
        if (e->lost || line->status > 0 || !line->transfer.busy || !e->http.running ||
            lb_stopping()) {
            return LB_BROKEN;
        }
        if (lb_now() >= deadline_ns) return LB_TIMEOUT;
        lb_sleep_until(deadline_ns);
    }
    return LB_OK;
}

void etcd_watch_stop(struct etcd_session *e) {
    transfer_cancel(&e->watch.transfer);
}

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

size_t etcd_prefix(const char *name, size_t len, char *out) {
    memcpy(out, name, len);
    out[len] = '/';
    return len + 1;
}

size_t etcd_lock_key(const char *name, size_t len, int64_t lease, char *out) {
    char hex[17];
    size_t used = etcd_prefix(name, len, out);
    int digits = snprintf(hex, sizeof hex, "%llx", (unsigned long long)lease);
    memcpy(out + used, hex, (size_t)digits);
    return used + (size_t)digits;
}

size_t etcd_prefix_end(const char *prefix, size_t len, char *out) {
    while (len > 0 && (unsigned char)prefix[len - 1] == 0xff) len--;
    if (len == 0) {
        out[0] = '\0';
        return 1;
    }
    memcpy(out, prefix, len);
    out[len - 1]++;
    return len;
}
