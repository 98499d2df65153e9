/* fuzz_etcd: an etcd that may be none. HTTP/2 is libcurl's: this stands in the place of drivers/etcd/http.c, and brings each
 * transfer frames of gRPC. The first byte of an answer says how the transfer ends: below 17 with that status of gRPC,
 * otherwise as TRANSFER_* say, or with a connection that broke. The first byte of all chooses the lock,
 * and whether there is an account. */
#include "bench/tests/fuzz/lock_life.h"
#include "drivers/etcd/http.h"
#include "drivers/wait.h"

#define ACCOUNT_FROM 3 /* a first byte from here on: with a user and a password */

enum { STATUSES = 17, TRANSFER_NO_STATUS = 'n', TRANSFER_OPEN = 'o', TRANSFER_NO_GRPC = 'h' };

extern const struct lb_lock lock_etcd_mutex, lock_etcd_lock;

/* ---- in the place of http.c ---- */

int http_open(struct http_shared *shared, const struct lb_tls *tls, struct lb_err *err) {
    (void)tls, (void)err;
    shared->open = true;
    return 0;
}

int http_add_endpoint(struct http_shared *shared, const char *host, const char *address, int port,
                      struct lb_err *err) {
    (void)host, (void)address, (void)port, (void)err;
    shared->count = 1;
    return 0;
}

void http_close(struct http_shared *shared) {
    shared->open = false;
}

int http_init(struct http *http, const struct http_shared *shared, int endpoint,
              struct lb_session *owner, struct lb_err *err) {
    (void)endpoint, (void)err;
    http->shared = shared;
    http->owner = owner;
    http->running = true;
    return 0;
}

void http_done(struct http *http) {
    http->running = false;
}

int http_revive(struct http *http) {
    http->running = true;
    return 0;
}

int http_token(struct http *http, const char *token) {
    (void)http;
    return strlen(token) < 1000 ? 0 : -1;
}

int transfer_init(struct transfer *transfer, struct http *http, size_t in_size, size_t out_size,
                  struct lb_err *err) {
    static CURL *easy; /* asked for errors that it has not */
    if (!easy) easy = curl_easy_init();
    transfer->http = http;
    transfer->easy = easy;
    transfer->out = malloc(in_size + out_size);
    if (!transfer->out) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    transfer->out_size = out_size;
    transfer->cutter.buffer = transfer->out + out_size;
    transfer->cutter.size = in_size;
    return 0;
}

void transfer_done(struct transfer *transfer) {
    free(transfer->out);
    transfer->out = NULL;
}

static void end_transfer(struct transfer *transfer, uint8_t how) {
    transfer->busy = how == TRANSFER_OPEN;
    if (how < STATUSES) transfer->grpc_status = how;
    if (how == TRANSFER_NO_GRPC) transfer->http_status = 404;
    if (how >= STATUSES && how != TRANSFER_NO_STATUS && how != TRANSFER_OPEN &&
        how != TRANSFER_NO_GRPC)
        transfer->result = CURLE_RECV_ERROR;
}

void transfer_start(struct transfer *transfer, const char *path, size_t len, cut_fn *each,
                    void *arg, int64_t deadline_ns) {
    (void)path, (void)len, (void)deadline_ns;
    struct cutter *cutter = &transfer->cutter;
    size_t size = 0;
    const uint8_t *answer = fuzzed_server_answer(&size);
    cutter->used = 0;
    cutter->each = each;
    cutter->arg = arg;
    transfer->fiber = lb_self();
    transfer->http_status = 200;
    transfer->grpc_status = -1;
    transfer->message[0] = transfer->problem[0] = '\0';
    transfer->sent = answer != NULL;
    transfer->result = answer ? CURLE_OK : CURLE_COULDNT_CONNECT;
    transfer->busy = answer && size == 0; /* no answer in time */
    if (!answer || size == 0) return;
    if (cut_feed(cutter, answer + 1, size - 1) != 0) transfer->result = CURLE_WRITE_ERROR;
    end_transfer(transfer, answer[0]);
    if (!transfer->busy && transfer->result == CURLE_OK && cut_end(cutter) != 0)
        transfer->result = CURLE_PARTIAL_FILE;
}

bool transfer_wait(struct transfer *transfer, int64_t deadline_ns, const bool *stop) {
    (void)stop;
    if (transfer->busy) lb_sleep_until(deadline_ns);
    return !transfer->busy;
}

void transfer_cancel(struct transfer *transfer) {
    if (transfer->busy) transfer->result = CURLE_ABORTED_BY_CALLBACK;
    transfer->busy = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct lb_lock *const locks[] = {&lock_etcd_mutex, &lock_etcd_lock};
    if (size == 0) return 0;
    fuzzed_server_begin(data + 1, size - 1);
    lock_life(locks[data[0] % (sizeof locks / sizeof *locks)],
              data[0] < ACCOUNT_FROM ? "etcd://127.0.0.1:2379" : "etcd://me:secret@127.0.0.1:2379");
    return 0;
}
