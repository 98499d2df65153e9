/* http: HTTP transfers of one etcd session over libcurl's multi interface, driven by the engine's
 * waits.
 *
 * All transfers of a session are streams of one HTTP/2 connection. A helper fiber reads; any fiber
 * of the session starts a transfer. This module handles requests and bytes, and does not look into
 * etcd's messages. Everything runs on the session's thread. */
#ifndef DRIVERS_ETCD_HTTP_H
#define DRIVERS_ETCD_HTTP_H

#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/driver.h"
#include "drivers/tls.h"

/* cutter: cuts the bytes of an answer into gRPC's length-prefixed messages, however the network
 * split them. It does not look into a message. */

#define CUT_HEAD_BYTES 5 /* a flag for compression, and the length, big-endian */

/* Called with each complete message; must not call cut_feed. A negative result stops the cutter. */
typedef int cut_fn(void *arg, const uint8_t *message, size_t len);

struct cutter {
    uint8_t *buffer; /* the caller's */
    size_t size, used;
    cut_fn *each;
    void *arg;
};

/* Takes in len bytes. 0, or -1: a message is longer than the buffer or compressed, or each
 * returned a negative number. */
int cut_feed(struct cutter *cutter, const uint8_t *data, size_t len);

/* Called when the answer has ended. 0, or -1 if it ended within a message. */
int cut_end(const struct cutter *cutter);

/* Writes the head of a message of len bytes. */
void cut_head(uint8_t out[CUT_HEAD_BYTES], size_t len);

#define HTTP_SOCKETS 8

#define HTTP_ENDPOINTS 8

/* One member of the cluster. Its URL has the host's name, which TLS compares with the certificate; the name has been
 * looked up already. */
struct http_endpoint {
    char base[256];             /* "https://host:port" */
    struct curl_slist *resolve; /* "host:port:address" for curl; NULL where the host is a number */
};

/* Shared by all sessions of a cluster; read-only once open. */
struct http_shared {
    struct http_endpoint endpoint[HTTP_ENDPOINTS];
    int count;
    bool open;
    const struct lb_tls *tls;   /* NULL = unencrypted; borrowed */
    struct curl_slist *headers; /* of each request */
};

/* A curl handle with its buffers, for one transfer at a time over the session's connection. A session has
 * one for each line of calls. */
struct transfer {
    struct http *http;
    CURL *easy;
    bool without_token; /* set before the start of a request that asks for a token */
    bool busy;          /* started, and neither finished nor cancelled */
    bool sent;          /* set when it is over or cancelled: the request may have left this host */
    CURLcode result;
    long http_status;
    int grpc_status; /* from the trailers; -1 = none came */
    char message[200];
    struct lb_fiber *fiber; /* woken at each message and at the end; may be NULL */
    struct cutter cutter;   /* its buffer takes one message of the answer */
    uint8_t *out;           /* the request's body */
    size_t out_size;
    char problem[CURL_ERROR_SIZE];
};

struct http {
    const struct http_shared *shared;
    const struct http_endpoint *endpoint; /* the member that this session talks to */
    struct lb_session *owner;             /* traffic_fd, more_bytes */
    CURLM *multi;
    struct lb_fiber *pump;
    bool stop, running, parked; /* the pump must end; the pump has not ended; the pump waits */
    bool answered;              /* HTTP from the server has been read at least once */
    bool connected;             /* there is a connection; a further transfer uses it, too */
    bool changed;               /* the set of sockets has changed since the pump looked */
    bool may_open;              /* curl may open one socket */
    bool refused;               /* curl wanted a socket without may_open: the old one was dead */
    struct transfer *opener;    /* the transfer that opens the connection; others wait for it */
    struct curl_slist *headers; /* of each request: shared->headers, or a copy with a token */
    struct curl_slist *retired; /* earlier headers, which a transfer may still use */
    char protocol[16];          /* of the TLS connection; "" = none */
    /* when curl must be called again, by lb_now(); LB_NEVER = not at all */
    int64_t timer_ns;
    int64_t looked_ns; /* until when the pump sleeps */
    int socket_count;
    struct {
        int fd, events;
    } sockets[HTTP_SOCKETS];
};

/* Called once in a run, before any worker is forked. tls: NULL = unencrypted. 0, or -1 with err; http_close cleans up
 * either way. */
int http_open(struct http_shared *shared, const struct lb_tls *tls, struct lb_err *err);
/* Adds an endpoint; beyond HTTP_ENDPOINTS it returns 0 and leaves the endpoint out. host: a number
 * or a name; address: its number. 0, or -1 with err. */
int http_add_endpoint(struct http_shared *shared, const char *host, const char *address, int port,
                      struct lb_err *err);
void http_close(struct http_shared *shared);

/* Starts a session's pump; the session uses only that endpoint. 0, or -1 with err. http_done cleans up
 * either way; it accepts a zeroed struct, and may be called twice. */
int http_init(struct http *http, const struct http_shared *shared, int endpoint,
              struct lb_session *owner, struct lb_err *err);
void http_done(struct http *http);

/* Starts the pump again after a cut-off has ended it, for the last requests of a fiber that the cut-off
 * does not end. 0, or -1. */
int http_revive(struct http *http);

/* Sends this token with each further request, in place of an earlier one. 0, or -1 when it is too long or
 * memory ran out. */
int http_token(struct http *http, const char *token);

/* Makes a transfer with room for in_size bytes of one message and out_size of a request. 0, or -1
 * with err. */
int transfer_init(struct transfer *transfer, struct http *http, size_t in_size, size_t out_size,
                  struct lb_err *err);
void transfer_done(struct transfer *transfer);

/* Posts the first len bytes of transfer->out to path and returns at once, with transfer->busy set,
 * or cleared if it is over already. May wait until deadline_ns for the connection that another
 * transfer is opening. each(arg) is called with the answer's messages on the pump's fiber: it may
 * not wait. */
void transfer_start(struct transfer *transfer, const char *path, size_t len, cut_fn *each,
                    void *arg, int64_t deadline_ns);

/* Waits until the transfer is over. false at the deadline, at the cut-off and when *stop is set
 * (and the fiber woken): then it must be cancelled. */
bool transfer_wait(struct transfer *transfer, int64_t deadline_ns, const bool *stop);

/* Gives up a transfer that is not over: resets its stream. */
void transfer_cancel(struct transfer *transfer);

#endif
