/* sock: see sock.h. The bytes of TLS go through a BIO of our own, since OpenSSL's own one for sockets would let a
 * closed connection end the program by SIGPIPE. */
#include "drivers/sock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "drivers/driver.h"
#include "drivers/facts.h"
#include "drivers/wait.h"

static ssize_t plain_send(struct sock *sock, const void *data, size_t len) {
    ssize_t sent = send(sock->fd, data, len, MSG_NOSIGNAL);
    if (sent > 0) sock->bytes += (uint64_t)sent;
    return sent;
}

static ssize_t plain_recv(struct sock *sock, void *data, size_t size) {
    ssize_t got = recv(sock->fd, data, size, 0);
    if (got > 0) sock->bytes += (uint64_t)got;
    sock->heard |= got > 0;
    return got;
}

#ifdef LB_OPENSSL

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct sock_tls {
    SSL_CTX *context;
    BIO_METHOD *method;
    struct lb_tls options; /* with their defaults filled in */
};

static _Thread_local char reason[256];

/* --- the BIO --- */

static int bio_write(BIO *bio, const char *data, int len) {
    struct sock *sock = BIO_get_data(bio);
    ssize_t sent = plain_send(sock, data, (size_t)len);
    BIO_clear_retry_flags(bio);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
    return (int)sent;
}

static int bio_read(BIO *bio, char *data, int size) {
    struct sock *sock = BIO_get_data(bio);
    ssize_t got = plain_recv(sock, data, (size_t)size);
    BIO_clear_retry_flags(bio);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
    return (int)got;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

/* --- what connections share --- */

/* Called when the server asks for a client certificate. */
static int on_asked(SSL *ssl, void *arg) {
    struct sock *sock = SSL_get_app_data(ssl);
    (void)arg;
    sock->asked = true;
    return 1;
}

struct sock_tls *sock_tls_open(const struct lb_server *server, const struct lb_tls *tls,
                               struct lb_err *err) {
    struct sock_tls *shared = calloc(1, sizeof *shared);
    if (shared) shared->context = SSL_CTX_new(TLS_client_method());
    if (shared)
        shared->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "lockbench");
    if (!shared || !shared->context || !shared->method) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto failed;
    }
    BIO_meth_set_write(shared->method, bio_write);
    BIO_meth_set_read(shared->method, bio_read);
    BIO_meth_set_ctrl(shared->method, bio_ctrl);
    shared->options = lb_tls_of(tls, server->ca);
    SSL_CTX_set_min_proto_version(shared->context, TLS1_2_VERSION);
    SSL_CTX_set_options(shared->context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(shared->context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_cert_cb(shared->context, on_asked, NULL);
    SSL_CTX_set_verify(shared->context,
                       tls->verify == LB_TLS_NONE ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    if (lb_tls_load(&shared->options, server->backend->name, shared->context, err) == 0)
        return shared;
failed:
    sock_tls_close(shared);
    return NULL;
}

void sock_tls_close(struct sock_tls *tls) {
    if (!tls) return;
    SSL_CTX_free(tls->context);
    BIO_meth_free(tls->method);
    free(tls);
}

/* --- one socket --- */

/* Turns the result of SSL_read, SSL_write or SSL_connect into the result of a system call. */
static ssize_t as_errno(struct sock *sock, int returned) {
    if (returned > 0) {
        sock->wanted = 0;
        return returned;
    }
    int error = errno, kind = SSL_get_error(sock->ssl, returned);
    sock->wanted = kind == SSL_ERROR_WANT_WRITE ? LB_WRITABLE : LB_READABLE;
    if (kind == SSL_ERROR_ZERO_RETURN) return 0;
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
        errno = EAGAIN;
    } else if (kind == SSL_ERROR_SYSCALL && ERR_peek_error() == 0) {
        if (error == 0 || error == EAGAIN)
            return 0; /* the peer closed the socket without TLS's close_notify */
        errno = error;
    } else {
        bool farewell = ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
        snprintf(reason, sizeof reason, "%s", lb_tls_reason("a failure of TLS"));
        if (farewell) return 0;
        errno = EPROTO;
    }
    return -1;
}

static ssize_t tls_send(struct sock *sock, const void *data, size_t len) {
    ERR_clear_error(); /* SSL_get_error looks at the whole queue of the thread */
    errno = 0;
    ssize_t sent =
        as_errno(sock, SSL_write(sock->ssl, data, len < INT32_MAX ? (int)len : INT32_MAX));
    if (sent == 0) errno = EPIPE;
    return sent == 0 ? -1 : sent;
}

static ssize_t tls_recv(struct sock *sock, void *data, size_t size) {
    ERR_clear_error(); /* SSL_get_error looks at the whole queue of the thread */
    errno = 0;
    ssize_t got =
        as_errno(sock, SSL_read(sock->ssl, data, size < INT32_MAX ? (int)size : INT32_MAX));
    if (got > 0) sock->asked = false;
    if (got != 0 || !sock->asked) return got;
    errno = ECONNRESET; /* so that sock_error has something to explain */
    return -1;
}

static const char *tls_error(const struct sock *sock, int error) {
    if (sock->asked && error != EPROTO) {
        /* With TLS 1.3 a server refuses a client certificate after the handshake, and the reset of the connection may
         * overtake the reason. */
        snprintf(
            reason, sizeof reason, "%s%s", strerror(error),
            sock->tls->cert
                ? ": the server may not trust the client certificate of tls_cert"
                : ": the server asked for a client certificate: if it needs one, set tls_cert");
        return reason;
    }
    if (error != EPROTO) return strerror(error);
    char text[sizeof reason];
    memcpy(text, reason, sizeof text);
    snprintf(reason, sizeof reason, "TLS: %.150s%s", text, lb_tls_advice(text, sock->tls));
    return reason;
}

static int refuse(struct sock *sock, int error, struct lb_err *err) {
    long verified = SSL_get_verify_result(sock->ssl);
    if (error == ETIMEDOUT || error == 0)
        return err_set(err, LB_EXIT_MACHINE, "TLS: %s: does the server speak TLS at this port?",
                       error ? "no answer to the greeting in time"
                             : "the server closed the connection at the greeting");
    if (error != EPROTO) return err_set(err, LB_EXIT_MACHINE, "TLS: %s", strerror(error));
    bool checked = SSL_get_verify_mode(sock->ssl) != SSL_VERIFY_NONE;
    const char *why =
        checked && verified != X509_V_OK ? X509_verify_cert_error_string(verified) : reason;
    return err_set(err, LB_EXIT_MACHINE, "TLS: %s%s", why, lb_tls_advice(why, sock->tls));
}

static int set_host(SSL *ssl, const char *host, enum lb_tls_verify verify) {
    unsigned char address[16];
    bool number = inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
    if (!number && SSL_set_tlsext_host_name(ssl, host) != 1) return -1;
    if (verify != LB_TLS_FULL) return 0;
    X509_VERIFY_PARAM *wanted = SSL_get0_param(ssl);
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return (number ? X509_VERIFY_PARAM_set1_ip_asc(wanted, host)
                   : X509_VERIFY_PARAM_set1_host(wanted, host, 0)) == 1
               ? 0
               : -1;
}

int sock_secure(struct sock *sock, const struct sock_tls *tls, const char *host,
                int64_t deadline_ns, struct lb_err *err) {
    BIO *bio = BIO_new(tls->method);
    sock->ssl = SSL_new(tls->context);
    if (!sock->ssl || !bio || set_host(sock->ssl, host, tls->options.verify) != 0) {
        BIO_free(bio);
        return err_set(err, LB_EXIT_MACHINE, "TLS: out of memory");
    }
    SSL_set_app_data(sock->ssl, sock);
    sock->tls = &tls->options;
    BIO_set_data(bio, sock);
    BIO_set_init(bio, 1);
    SSL_set_bio(sock->ssl, bio, bio);
    int error = EAGAIN;
    while (error == EAGAIN) {
        ERR_clear_error();
        errno = 0;
        ssize_t done = as_errno(sock, SSL_connect(sock->ssl));
        if (done > 0) {
            sock->wanted = 0;
            lb_fd_forget(
                sock->fd); /* later waits are mostly for reading, so the fd registers anew */
            return 0;
        }
        error = done == 0 ? 0 : errno;
        if (error == EAGAIN && sock_wait(sock, LB_READABLE, deadline_ns) <= 0) error = ETIMEDOUT;
    }
    return refuse(sock, error, err);
}

static void tls_end(struct sock *sock) {
    if (SSL_is_init_finished(sock->ssl)) SSL_shutdown(sock->ssl);
    ERR_clear_error();
    SSL_free(sock->ssl);
}

#else /* a build without OpenSSL: sock_tls_open refuses, so that no socket is encrypted */

#define tls_send(sock, data, len) -1
#define tls_recv(sock, data, size) -1
#define tls_error(sock, error) ""
#define tls_end(sock) (void)0
#define SSL_get_version(ssl) NULL
#define ERR_clear_error() (void)0

struct sock_tls *sock_tls_open(const struct lb_server *server, const struct lb_tls *tls,
                               struct lb_err *err) {
    (void)tls;
    err_set(err, LB_EXIT_MACHINE,
            "%s: this lockbench was built without OpenSSL, so without TLS: install libssl-dev",
            server->backend->name);
    return NULL;
}

void sock_tls_close(struct sock_tls *tls) {
    (void)tls;
}

int sock_secure(struct sock *sock, const struct sock_tls *tls, const char *host,
                int64_t deadline_ns, struct lb_err *err) {
    (void)sock, (void)tls, (void)host, (void)deadline_ns;
    return err_set(err, LB_EXIT_MACHINE, "built without OpenSSL");
}

#endif

ssize_t sock_send(struct sock *sock, const void *data, size_t len) {
    return sock->ssl ? tls_send(sock, data, len) : plain_send(sock, data, len);
}

ssize_t sock_recv(struct sock *sock, void *data, size_t size) {
    return sock->ssl ? tls_recv(sock, data, size) : plain_recv(sock, data, size);
}

int sock_wait(struct sock *sock, int events, int64_t deadline_ns) {
    if (sock->ssl && sock->wanted) events = sock->wanted;
    return lb_wait_edge(sock->fd, events, deadline_ns);
}

const char *sock_error(const struct sock *sock, int error) {
    return sock->ssl ? tls_error(sock, error) : strerror(error);
}

void sock_forget_errors(void) {
    ERR_clear_error();
}

void sock_end(struct sock *sock) {
    if (sock->ssl) tls_end(sock);
    sock->ssl = NULL;
}

void sock_facts(const struct sock *sock, const struct lb_tls *tls, struct lb_facts *facts) {
    lb_facts_encryption(facts, tls, sock->ssl ? SSL_get_version(sock->ssl) : NULL);
}

const char *sock_advice(const struct sock *sock, const char *scheme) {
    static _Thread_local char text[80];
    if (sock->ssl || sock->heard) return "";
    snprintf(text, sizeof text, ": if the server wants TLS, write %s://", scheme);
    return text;
}

uint64_t sock_take_bytes(struct sock *sock) {
    uint64_t bytes = sock->bytes;
    sock->bytes = 0;
    return bytes;
}
