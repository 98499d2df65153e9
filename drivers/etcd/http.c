/* http: see http.h. */
#include "drivers/etcd/http.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/wait.h"

/* By default curl drops a connection that was idle for 118 s. A client may hold a lock for longer, so
 * the limit is ten years. */
#define KEEP_IDLE_S (10L * 365 * 86400)

static int add_header(struct curl_slist **headers, const char *line) {
    struct curl_slist *longer = curl_slist_append(*headers, line);
    if (longer) *headers = longer;
    return longer ? 0 : -1;
}

int http_open(struct http_shared *shared, const struct lb_tls *tls, struct lb_err *err) {
    static const char *const headers[] = {"content-type: application/grpc", "te: trailers",
                                          "accept:", "expect:", NULL};
    if (curl_global_init(CURL_GLOBAL_NOTHING) != 0) {
        return err_set(err, LB_EXIT_MACHINE, "etcd: libcurl cannot be initialised");
    }
    shared->open = true;
    shared->tls = tls;
    for (const char *const *header = headers; *header; header++) {
        if (add_header(&shared->headers, *header) != 0)
            return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    return 0;
}

int http_add_endpoint(struct http_shared *shared, const char *host, const char *address, int port,
                      struct lb_err *err) {
    char line[400];
    if (shared->count == HTTP_ENDPOINTS) return 0;
    struct http_endpoint *endpoint = &shared->endpoint[shared->count++];
    bool is_ipv6 = strchr(host, ':') != NULL;
    snprintf(endpoint->base, sizeof endpoint->base, "%s://%s%s%s:%d",
             shared->tls ? "https" : "http", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", port);
    if (strcmp(host, address) == 0) return 0;
    snprintf(line, sizeof line, strchr(address, ':') ? "%s:%d:[%s]" : "%s:%d:%s", host, port,
             address);
    if (add_header(&endpoint->resolve, line) == 0) return 0;
    return err_set(err, LB_EXIT_MACHINE, "out of memory");
}

void http_close(struct http_shared *shared) {
    if (!shared->open) return;
    for (int i = 0; i < shared->count; i++) curl_slist_free_all(shared->endpoint[i].resolve);
    curl_slist_free_all(shared->headers);
    *shared = (struct http_shared){0};
    curl_global_cleanup();
}

/* Called after curl ran on another fiber than the pump's: wakes the pump if it must now wait for other sockets or for
 * an earlier time. */
static void tell_pump(struct http *http) {
    if (http->parked && (http->stop || http->changed || http->timer_ns < http->looked_ns))
        lb_wake(http->pump);
}

/* The callbacks of curl. They run inside curl's functions, on the pump's fiber or on the fiber that starts
 * a transfer, so they must not wait. */

static curl_socket_t on_open_socket(void *arg, curlsocktype purpose,
                                    struct curl_sockaddr *address) {
    struct http *http = arg;
    (void)purpose;
    if (!http->may_open) {
        /* This transfer should have used the existing connection, which is dead. curl would open a new
         * connection with HTTP/1.1, and might repeat a request that the server has already seen. So curl
         * gets no socket here, and transfer_start decides what to do. */
        http->refused = true;
        return CURL_SOCKET_BAD;
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0) {
        http->may_open = false;
        http->connected = true;
        http->owner->traffic_fd = fd;
    }
    return fd;
}

static int on_close_socket(void *arg, curl_socket_t fd) {
    struct http *http = arg;
    lb_fd_forget(fd);
    http->connected = false;
    http->owner->traffic_fd = -1;
    return close(fd);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg) {
    (void)easy;
    (void)socket_arg;
    struct http *http = arg;
    int i = 0;
    while (i < http->socket_count && http->sockets[i].fd != fd) i++;
    if (what == CURL_POLL_REMOVE) {
        if (i < http->socket_count) http->sockets[i] = http->sockets[--http->socket_count];
    } else {
        if (i == HTTP_SOCKETS) return -1;
        if (i == http->socket_count) http->socket_count++;
        http->sockets[i].fd = fd;
        http->sockets[i].events =
            ((what & CURL_POLL_IN) ? LB_READABLE : 0) | ((what & CURL_POLL_OUT) ? LB_WRITABLE : 0);
    }
    http->changed = true;
    return 0;
}

static int on_timer(CURLM *multi, long wait_ms, void *arg) {
    (void)multi;
    struct http *http = arg;
    http->timer_ns = wait_ms < 0 ? LB_NEVER : lb_now() + wait_ms * LB_MS_NS;
    return 0;
}

static size_t on_body(char *data, size_t one, size_t len, void *arg) {
    struct transfer *transfer = arg;
    (void)one;
    if (transfer->http_status >= 400) return len; /* not gRPC: only the status matters */
    return cut_feed(&transfer->cutter, (const uint8_t *)data, len) == 0 ? len : 0;
}

/* Returns the value of a header line of len bytes, and its length, if the header has this name;
 * otherwise NULL. */
static const char *value_of(const char *line, size_t len, const char *name, size_t *ret_len) {
    size_t name_len = strlen(name);
    if (len <= name_len || strncasecmp(line, name, name_len) != 0 || line[name_len] != ':')
        return NULL;
    const char *value = line + name_len + 1, *end = line + len;
    while (value < end && *value == ' ') value++;
    while (end > value && (end[-1] == '\r' || end[-1] == '\n')) end--;
    *ret_len = (size_t)(end - value);
    return value;
}

/* Stores the TLS version of the connection. */
static void note_encryption(struct transfer *transfer) {
    const struct curl_tlssessioninfo *info = NULL;
    struct http *http = transfer->http;
    if (!http->shared->tls) return;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK) return;
    if (!info || info->backend != CURLSSLBACKEND_OPENSSL || !info->internals) return;
    const SSL *ssl = info->internals;
    snprintf(http->protocol, sizeof http->protocol, "%s", SSL_get_version(ssl));
}

/* Called with the status line, and with each header and trailer. */
static size_t on_header(char *line, size_t one, size_t len, void *arg) {
    struct transfer *transfer = arg;
    const char *value;
    size_t value_len;
    (void)one;
    transfer->http->answered = true;
    if (transfer->http->opener == transfer) { /* the connection works */
        transfer->http->opener = NULL;
        note_encryption(transfer);
    }
    if (len > 9 && strncmp(line, "HTTP/", 5) == 0) {
        const char *code = memchr(line, ' ', len);
        transfer->http_status = code ? atol(code) : 0;
    } else if ((value = value_of(line, len, "grpc-status", &value_len))) {
        transfer->grpc_status = atoi(value);
    } else if ((value = value_of(line, len, "grpc-message", &value_len))) {
        snprintf(transfer->message, sizeof transfer->message, "%.*s", (int)value_len, value);
    }
    return len;
}

/* Ends a transfer, with the result that curl reported or with that of a cancellation, and wakes its fiber. */
static void finish_transfer(struct transfer *transfer, CURLcode result) {
    struct http *http = transfer->http;
    long request = 0;
    curl_multi_remove_handle(http->multi, transfer->easy);
    curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &request);
    transfer->sent = request > 0;
    transfer->busy = false;
    transfer->result = result;
    if (result == CURLE_OK && cut_end(&transfer->cutter) != 0)
        transfer->result = CURLE_PARTIAL_FILE;
    if (http->opener == transfer) http->opener = NULL;
    if (transfer->fiber) lb_wake(transfer->fiber);
}

/* Asks curl which transfers have ended, and finishes them. */
static void collect_finished(struct http *http) {
    int left;
    const CURLMsg *note;
    while ((note = curl_multi_info_read(http->multi, &left))) {
        char *private = NULL;
        CURLcode result = note->data.result;
        if (note->msg != CURLMSG_DONE) continue;
        curl_easy_getinfo(note->easy_handle, CURLINFO_PRIVATE, &private);
        finish_transfer((struct transfer *)(void *)private, result);
    }
}

static void run_pump(void *arg) {
    struct http *http = arg;
    int running;
    while (!http->stop && !lb_stopping()) {
        struct lb_poll polls[HTTP_SOCKETS];
        int count = http->socket_count;
        for (int i = 0; i < count; i++) {
            polls[i] =
                (struct lb_poll){.fd = http->sockets[i].fd, .events = http->sockets[i].events};
        }
        http->looked_ns = http->timer_ns;
        http->changed = false;
        http->parked = true;
        int ready = lb_wait_any(polls, count, http->timer_ns);
        http->parked = false;
        if (http->stop) break;
        for (int i = 0; i < count && ready > 0; i++) {
            int bits = ((polls[i].ready & LB_READABLE) ? CURL_CSELECT_IN : 0) |
                       ((polls[i].ready & LB_WRITABLE) ? CURL_CSELECT_OUT : 0) |
                       ((polls[i].ready & LB_HANGUP) ? CURL_CSELECT_ERR : 0);
            if (bits) curl_multi_socket_action(http->multi, polls[i].fd, bits, &running);
        }
        if (http->timer_ns <= lb_now()) {
            http->timer_ns = LB_NEVER;
            curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        collect_finished(http);
    }
    http->running = false;
}

int http_init(struct http *http, const struct http_shared *shared, int endpoint,
              struct lb_session *owner, struct lb_err *err) {
    http->shared = shared;
    http->endpoint = &shared->endpoint[endpoint];
    http->owner = owner;
    http->headers = shared->headers;
    http->timer_ns = LB_NEVER;
    owner->traffic_fd = -1;
    http->multi = curl_multi_init();
    if (!http->multi) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    return http_revive(http) == 0 ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory for a fiber");
}

static void join_pump(struct http *http) {
    if (!http->pump) return;
    http->stop = true;
    tell_pump(http);
    lb_join(http->pump);
    http->pump = NULL;
}

int http_revive(struct http *http) {
    if (http->running) return 0;
    join_pump(http);
    http->stop = false;
    http->pump = lb_start_fiber("etcd pump", run_pump, http);
    http->running = http->pump != NULL;
    return http->pump ? 0 : -1;
}

int http_token(struct http *http, const char *token) {
    char line[1024];
    struct curl_slist *own = NULL;
    for (const struct curl_slist *at = http->shared->headers; at; at = at->next) {
        if (add_header(&own, at->data) != 0) goto failed;
    }
    if ((size_t)snprintf(line, sizeof line, "token: %s", token) >= sizeof line ||
        add_header(&own, line) != 0)
        goto failed;
    if (http->headers != http->shared->headers) {
        struct curl_slist *last = http->headers;
        while (last->next) last = last->next;
        last->next = http->retired;
        http->retired = http->headers;
    }
    http->headers = own;
    return 0;
failed:
    curl_slist_free_all(own);
    return -1;
}

void http_done(struct http *http) {
    if (!http->multi) return;
    join_pump(http);
    curl_multi_cleanup(http->multi); /* closes the connections */
    http->multi = NULL;
    if (http->headers != http->shared->headers) curl_slist_free_all(http->headers);
    curl_slist_free_all(http->retired);
    http->retired = NULL;
    http->owner->traffic_fd = -1;
}

/* Sets all options of TLS, because libcurl's defaults differ between distributions. */
static void set_tls(CURL *easy, const struct lb_tls *tls) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, tls->verify != LB_TLS_NONE ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, tls->verify == LB_TLS_FULL ? 2L : 0L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (tls->ca) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, tls->ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, (char *)NULL);
    }
    curl_easy_setopt(easy, CURLOPT_SSLCERT, tls->cert);
    curl_easy_setopt(easy, CURLOPT_SSLKEY, lb_tls_key(tls));
}

int transfer_init(struct transfer *transfer, struct http *http, size_t in_size, size_t out_size,
                  struct lb_err *err) {
    transfer->http = http;
    transfer->easy = curl_easy_init();
    transfer->out = malloc(in_size + out_size);
    if (!transfer->easy || !transfer->out) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    transfer->out_size = out_size;
    transfer->cutter.buffer = transfer->out + out_size;
    transfer->cutter.size = in_size;
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->problem);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, http);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, http);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* no proxy, even if the environment names one: a proxy would be measured too */
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, KEEP_IDLE_S);
    /* answers are small; by default each handle would take 16 KB */
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 4096L);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
    curl_easy_setopt(easy, CURLOPT_RESOLVE, http->endpoint->resolve);
    if (http->shared->tls) set_tls(easy, http->shared->tls);
    return 0;
}

void transfer_done(struct transfer *transfer) {
    transfer_cancel(transfer);
    if (transfer->easy) curl_easy_cleanup(transfer->easy);
    free(transfer->out);
    transfer->easy = NULL;
    transfer->out = NULL;
}

/* Hands the transfer to curl and lets it send. */
static void hand_to_curl(struct transfer *transfer) {
    struct http *http = transfer->http;
    int running;
    http->refused = false;
    transfer->busy = true;
    CURLMcode added = curl_multi_add_handle(http->multi, transfer->easy);
    if (added != CURLM_OK) {
        finish_transfer(transfer, CURLE_FAILED_INIT);
        return;
    }
    curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    collect_finished(http);
    tell_pump(http);
}

void transfer_start(struct transfer *transfer, const char *path, size_t len, cut_fn *each,
                    void *arg, int64_t deadline_ns) {
    struct http *http = transfer->http;
    char url[512];
    snprintf(url, sizeof url, "%s%s", http->endpoint->base, path);
    transfer->http_status = 0;
    transfer->grpc_status = -1;
    transfer->message[0] = transfer->problem[0] = '\0';
    transfer->cutter.used = 0;
    transfer->cutter.each = each;
    transfer->cutter.arg = arg;
    transfer->sent = false;
    transfer->result = CURLE_OPERATION_TIMEDOUT;
    curl_easy_setopt(transfer->easy, CURLOPT_URL, url);
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER,
                     transfer->without_token ? http->shared->headers : http->headers);
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE, (long)len);
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, transfer->out);
    transfer->fiber = lb_self();
    for (;;) {
        while (http->opener) {
            if (!http->running || lb_stopping() || lb_now() >= deadline_ns) return;
            /* rare: the first requests after a lost connection */
            lb_sleep_until(lb_now() + LB_MS_NS);
        }
        bool join = http->connected;
        /* "Prior knowledge" is only for the transfer that opens the connection. If another transfer asks
         * for it, curl 7.88.1 begins HTTP/2 anew on that connection, and the server hangs up. Any other
         * setting for HTTP/2 uses the connection as it is. */
        bool agreed = join || http->shared->tls; /* under TLS both sides agree on it (ALPN) */
        curl_easy_setopt(
            transfer->easy, CURLOPT_HTTP_VERSION,
            (long)(agreed ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
        http->may_open = !join;
        if (!join) http->opener = transfer;
        hand_to_curl(transfer);
        if (transfer->busy || transfer->sent || !join || !http->refused) return;
        /* The connection was dead before anything was sent, so the transfer starts again on a new one.
         * The two members are set here because curl does not call on_close_socket if it gives up a
         * socket that is still connecting. */
        http->connected = false;
        http->owner->traffic_fd = -1;
    }
}

bool transfer_wait(struct transfer *transfer, int64_t deadline_ns, const bool *stop) {
    while (transfer->busy) {
        if (!transfer->http->running || (stop && *stop) || lb_stopping() || lb_now() >= deadline_ns)
            return false;
        lb_sleep_until(deadline_ns);
    }
    return true;
}

void transfer_cancel(struct transfer *transfer) {
    if (!transfer->busy) return;
    int running;
    transfer->fiber = NULL;
    finish_transfer(transfer, CURLE_ABORTED_BY_CALLBACK);
    /* Lets curl send the reset of the stream now. */
    curl_multi_socket_action(transfer->http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    collect_finished(transfer->http);
    tell_pump(transfer->http);
}
