/* sock: the bytes of one TCP connection, encrypted by TLS or not, for drivers that speak their protocol themselves.
 *
 * It knows neither lines nor protocols, and opens and closes no socket. Once sock_secure was called, nothing goes over
 * the socket unencrypted. TLS is OpenSSL's, 1.2 or newer, without renegotiation. A socket belongs to one thread. */
#ifndef DRIVERS_SOCK_H
#define DRIVERS_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/base/err.h"
#include "drivers/tls.h"

struct lb_server;
struct lb_facts;

/* The data that all encrypted connections to one server share: the authorities and the client's certificate. */
struct sock_tls;

/* Reads the files that the options name; where tls->ca is NULL, server->ca or else the machine's authorities are
 * trusted. Call it in the backend's open, before any worker is forked. Returns NULL with err (LB_EXIT_USAGE: a file
 * that is no certificate, a build without OpenSSL). */
struct sock_tls *sock_tls_open(const struct lb_server *server, const struct lb_tls *tls,
                               struct lb_err *err);
/* Accepts NULL. */
void sock_tls_close(struct sock_tls *tls);

struct sock { /* zeroed = none; fd is set by whoever connects */
    int fd;
    struct ssl_st *ssl; /* NULL = not encrypted */
    int wanted; /* the events that TLS waits for after EAGAIN; 0 = those that the caller names */
    /* the server asked for a client certificate, and has sent nothing since the handshake */
    bool asked;
    const struct lb_tls *tls; /* the options of the encryption; NULL without ssl */
    bool heard;               /* the peer has sent something */
    uint64_t bytes;           /* sent and received on the wire since sock_take_bytes */
};

/* Encrypts the connection: the handshake, by deadline_ns. host: the URL's, which the certificate must have. Returns
 * 0, or -1 with err. */
int sock_secure(struct sock *sock, const struct sock_tls *tls, const char *host,
                int64_t deadline_ns, struct lb_err *err);

/* Like send(2) with MSG_NOSIGNAL and recv(2) on a socket that does not block. Return the number of bytes; 0 at the end
 * of the connection; -1 with errno (EAGAIN: call sock_wait, then try again; EPROTO: sock_error has the reason). */
ssize_t sock_send(struct sock *sock, const void *data, size_t len);
ssize_t sock_recv(struct sock *sock, void *data, size_t size);

/* Empties OpenSSL's queue of errors of this thread. Call it before a library that does not empty the
 * queue itself: that library would mistake an error of another connection for its own. */
void sock_forget_errors(void);

/* As lb_wait_edge on the socket: waits for one of the events, or for what TLS waits for in its place. */
int sock_wait(struct sock *sock, int events, int64_t deadline_ns);

/* The reason of a failed call, in words; error: the call's errno. Valid until the next call on this
 * thread. */
const char *sock_error(const struct sock *sock, int error);

/* Advice about a peer that ended an unencrypted connection before it sent anything: ": ..." to follow the message, or
 * "". scheme: the URL's scheme that asks for TLS, "rediss". */
const char *sock_advice(const struct sock *sock, const char *scheme);

/* The bytes sent and received on the wire since the last call. */
uint64_t sock_take_bytes(struct sock *sock);

/* Tells the peer that the connection ends, and frees the data of the encryption. Call it before the
 * socket is closed. */
void sock_end(struct sock *sock);

/* Adds facts about the encryption: whether there is one, its protocol, and what was verified. */
void sock_facts(const struct sock *sock, const struct lb_tls *tls, struct lb_facts *facts);

#endif
