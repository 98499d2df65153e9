/* maria_tls: TLS with libmariadb.
 *
 * libmariadb compares the certificate with the host to which it connects. It gets an address instead of a name, because
 * it would look a name up on the small stack of its own coroutine and block the thread. It reads the host's text twice,
 * for the connection and for the handshake; between the two, maria_tls_step replaces the address by the name. A version
 * of libmariadb that kept a copy of the address would compare the certificate with the address: it might refuse a good
 * connection, but would not accept a wrong one.
 *
 * The handshake of libmariadb waits in poll(), not in the engine, and its limit is for each read: all clients of the
 * thread wait with the client that connects. So another thread ends the connection when the limit for connecting or the
 * cut-off has come. */
#define _GNU_SOURCE /* sem_clockwait */
#include "drivers/mariadb/maria_impl.h"

#include <errmsg.h>
#include <errno.h>
#include <fcntl.h>
#include <mysqld_error.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>

#include "drivers/facts.h"
#include "drivers/sock.h"
#include "drivers/wait.h"

#define SECURE_TRANSPORT_REQUIRED 3159 /* not in the header of every version */

int maria_tls_prepare(MYSQL *mysql, const struct maria_server *server, int64_t deadline_ns) {
    const struct lb_tls *tls = &server->tls;
    my_bool enforce = server->encrypted, verify = enforce && tls->verify == LB_TLS_FULL;
    const char *ca = tls->verify == LB_TLS_NONE ? NULL : tls->ca;
    /* libmariadb 3.3 takes these seconds for milliseconds in the handshake, the only place where it does not
     * leave the waiting to us. */
    int64_t left_ms = (deadline_ns - lb_now()) / LB_MS_NS;
    unsigned limit_ms = left_ms < 1 ? 1 : left_ms > 600000 ? 600000 : (unsigned)left_ms;
    if (enforce && mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &limit_ms) != 0) return -1;
    if (enforce && mysql_ssl_set(mysql, lb_tls_key(tls), tls->cert, ca, NULL, NULL) != 0) return -1;
    if (mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &enforce) != 0) return -1;
    return mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify) != 0 ? -1 : 0;
}

/* OpenSSL's reads and writes wait in the kernel if the socket blocks, and libmariadb leaves the
 * socket blocking (its own calls ask not to wait). All clients of the thread would wait with this
 * one. */
static void unblock_socket(MYSQL *mysql) {
    int fd = (int)mysql_get_socket(mysql), flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
    if (flags >= 0 && !(flags & O_NONBLOCK)) fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void maria_tls_step(struct lb_session *session, char *host) {
    const struct maria_session *state = session->state;
    const struct maria_server *server = session->server->state;
    if (!server->encrypted) return;
    unblock_socket(state->mysql);
    strcpy(host, server->url.host[state->host]);
}

#define GUARD_LOOK_NS (50 * LB_MS_NS) /* how often the deadline and the cut-off are looked at */

struct guard {
    sem_t done;
    int fd;
    int64_t deadline_ns;
    const _Atomic int64_t *cutoff_ns;
    bool fired;
};

static void *guard_run(void *arg) {
    struct guard *guard = arg;
    for (int64_t now_ns; (now_ns = lb_now()) < guard->deadline_ns;) {
        if (guard->cutoff_ns && now_ns >= *guard->cutoff_ns) break;
        int64_t until_ns = now_ns + GUARD_LOOK_NS;
        struct timespec until = {until_ns / LB_S_NS, until_ns % LB_S_NS};
        if (sem_clockwait(&guard->done, CLOCK_MONOTONIC, &until) == 0) return NULL;
    }
    guard->fired = true;
    shutdown(guard->fd, SHUT_RDWR);
    return NULL;
}

int maria_tls_connect_cont(MYSQL **connected, struct lb_session *session, int got,
                           int64_t deadline_ns, bool *in_time) {
    const struct maria_session *state = session->state;
    const struct maria_server *server = session->server->state;
    struct guard guard = {.fd = (int)mysql_get_socket(state->mysql),
                          .deadline_ns = deadline_ns,
                          .cutoff_ns = lb_cutoff()};
    pthread_t thread;
    bool guarded = server->encrypted && guard.fd >= 0 && !mysql_get_ssl_cipher(state->mysql) &&
                   sem_init(&guard.done, 0, 0) == 0 &&
                   pthread_create(&thread, NULL, guard_run, &guard) == 0;
    int asked = mysql_real_connect_cont(connected, state->mysql, got);
    if (!guarded) return asked;
    sem_post(&guard.done);
    pthread_join(thread, NULL);
    sem_destroy(&guard.done);
    if (guard.fired) *in_time = false;
    return asked;
}

/* As in libmariadb's mysql/client_plugin.h, which includes a header that Debian does not have. */
struct authentication {
    MYSQL_CLIENT_PLUGIN_HEADER
    int (*authenticate_user)(void *channel, MYSQL *mysql);
};
#define AUTHENTICATION 2 /* a type */
#define AUTHENTICATION_VERSION 0x0100
#define CR_ERROR 0 /* of authenticate_user: the error is set */

/* Stands in the place of libmariadb's plugins that send the password in clear to whoever asks for it. */
static int keep_password(void *channel, MYSQL *mysql) {
    (void)channel;
    mysql->net.last_errno = CR_AUTH_PLUGIN_ERR;
    snprintf(mysql->net.last_error, sizeof mysql->net.last_error,
             "the server asks for the password in clear: write mysqls://");
    return CR_ERROR;
}

int maria_keep_password(struct lb_err *err) {
    static const char *const names[] = {"mysql_clear_password", "dialog"};
    static struct authentication plugins[2];
    static bool kept;
    MYSQL *mysql = kept ? NULL : mysql_init(NULL);
    for (int i = 0; mysql && i < 2; i++) {
        plugins[i] = (struct authentication){.type = AUTHENTICATION,
                                             .interface_version = AUTHENTICATION_VERSION,
                                             .name = names[i],
                                             .author = "lockbench",
                                             .desc = "sends no password",
                                             .license = "",
                                             .authenticate_user = keep_password};
        struct st_mysql_client_plugin *plugin = (struct st_mysql_client_plugin *)&plugins[i];
        kept = mysql_client_register_plugin(mysql, plugin) != NULL;
    }
    if (mysql) mysql_close(mysql);
    return kept ? 0 : err_set(err, LB_EXIT_MACHINE, "mariadb: out of memory");
}

#define CLIENT_SSL_BIT 0x08 /* of the second byte of the server's capabilities */

/* Looks at the greeting, which stays unread in the socket: 1 = the server speaks TLS, or it greets
 * with an error; 0 = the greeting has not all come; -1 = the server does not speak TLS. The
 * greeting's form, by MariaDB's documentation: four bytes of header, the version of the protocol,
 * that of the server as text with a NUL, 13 bytes, the capabilities. */
static int look_at_greeting(int fd) {
    unsigned char bytes[512];
    ssize_t got = recv(fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    /* 1 leaves the message about other failures to libmariadb. ENOTCONN: the connection is still
     * being made. */
    if (got < 0) return errno == EAGAIN || errno == EINTR || errno == ENOTCONN ? 0 : 1;
    if (got == 0) return 1;
    if (got < 5) return 0;
    if (bytes[4] == 0xff) return 1;
    const unsigned char *end = memchr(bytes + 5, 0, (size_t)got - 5);
    if (!end) return got == (ssize_t)sizeof bytes ? -1 : 0;
    size_t at = (size_t)(end - bytes) + 1 + 13 + 1;
    if (at >= (size_t)got) return 0;
    return bytes[at] & CLIENT_SSL_BIT ? 1 : -1;
}

bool maria_tls_offered(MYSQL *mysql, const struct maria_server *server, int64_t deadline_ns) {
    int fd = (int)mysql_get_socket(mysql), seen = 1;
    while (server->encrypted && (seen = look_at_greeting(fd)) == 0 && lb_now() < deadline_ns &&
           !lb_stopping())
        lb_sleep_until(lb_now() + LB_MS_NS);
    return seen > 0;
}

void maria_tls_before_call(const struct lb_session *session) {
    const struct maria_server *server = session->server->state;
    if (server->encrypted) sock_forget_errors();
}

int maria_tls_check(const struct lb_session *session, bool offered, struct lb_err *err) {
    const struct maria_session *state = session->state;
    const struct maria_server *server = session->server->state;
    if (!server->encrypted || (offered && mysql_get_ssl_cipher(state->mysql))) return 0;
    return err_set(
        err, LB_EXIT_MACHINE,
        "mariadb at %s:%d: the server does not speak TLS: give it a certificate (ssl_cert, ssl_key)",
        server->url.host[state->host], server->url.port[state->host]);
}

static const char *libmariadb_unverified(const struct maria_server *server) {
    static _Thread_local char text[500];
    snprintf(text, sizeof text, ": %s, or it has expired, or the URL's host is not in it",
             lb_tls_unsigned(&server->tls));
    return text;
}

const char *maria_tls_advice(unsigned number, const char *message,
                             const struct maria_server *server) {
    switch (number) {
    case CR_SSL_CONNECTION_ERROR:
        if (strstr(message, "verify failed")) return libmariadb_unverified(server);
        if (strstr(message, "Validation of SSL server certificate"))
            return ": the URL's host is not in the certificate: write one that is";
        if (strstr(message, "not support"))
            return ": give the server a certificate (ssl_cert, ssl_key)";
        return lb_tls_advice(message, &server->tls);
    case CR_SERVER_LOST:
        return server->encrypted
                   ? ": if the server asks for a client certificate, set tls_cert to one that it trusts"
                   : "";
    case SECURE_TRANSPORT_REQUIRED:
        return ": write mysqls://";
    case ER_ACCESS_DENIED_ERROR:
        if (!server->encrypted)
            return ": check the user and password of the URL; where the account requires TLS write mysqls://";
        if (!server->tls.cert)
            return ": check the user and password of the URL; where the account requires a certificate set tls_cert";
        return ": check the user and password of the URL, and the certificate of tls_cert";
    case CR_AUTH_PLUGIN_CANNOT_LOAD:
        return ": the account logs in by a plugin that this libmariadb lacks; give the account "
               "another plugin";
    default:
        return "";
    }
}

void maria_tls_facts(MYSQL *mysql, const struct maria_server *server, struct lb_facts *facts) {
    const char *protocol = NULL, *cipher = mysql_get_ssl_cipher(mysql);
    if (!cipher || mariadb_get_infov(mysql, MARIADB_CONNECTION_TLS_VERSION, &protocol) != 0)
        protocol = cipher ? "TLS" : NULL;
    lb_facts_encryption(facts, &server->tls, protocol);
}
