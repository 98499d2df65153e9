/* maria_impl: the declarations that the files of the mariadb backend share; the algorithms include only
 * maria_session.h. */
#ifndef DRIVERS_MARIADB_MARIA_IMPL_H
#define DRIVERS_MARIADB_MARIA_IMPL_H

#include "drivers/mariadb/maria_session.h"

#include "drivers/resolve.h"
#include "drivers/tls.h"
#include "drivers/url.h"

/* A host of the URL, with the addresses and the port to connect to. */
struct maria_host {
    const struct resolved *resolved;
    int dial_port;
};

struct maria_server {
    struct url url;
    struct maria_host host[URL_HOSTS_MAX]; /* in the URL's order */
    bool encrypted;                        /* the URL asks for TLS */
    struct lb_tls tls;
};

enum maria_nodes { MARIA_NODES_ONE, MARIA_NODES_ALL };

struct maria_options {
    struct sql_server_options sql;
    int64_t nodes;
};

struct maria_session {
    MYSQL *mysql;
    int host; /* the index of the host in the URL */
    int fd;
    bool dead;      /* the connection is broken: nothing may be sent on it any more */
    bool ended;     /* it is dead because the server said that it ended the session */
    bool timed_out; /* the last wait ended by its deadline or the cut-off */
    MYSQL_STMT *statement[MARIA_STATEMENTS_MAX];
    int statement_count;
};

/* The outcome that follows from an error number of the server or the client library for a
 * statement. */
enum lb_outcome maria_outcome(unsigned number);

/* The exit code of a failed connection, by its error number. */
int maria_connect_exit(unsigned number);

/* Reads a URL (mysql://user:password@host:port[,host:port...]/database) and resolves its hosts, by
 * the routes where there are any. 0, or -1 with err, which shows no password. May block. */
int maria_url(struct maria_server *server, const struct lb_server *routes, const char *text,
              struct lb_err *err);

/* Before a connection: TLS as the URL and the options ask for it, or none; libmariadb's defaults differ between
 * versions. 0, or -1 when out of memory. */
int maria_tls_prepare(MYSQL *mysql, const struct maria_server *server, int64_t deadline_ns);
/* Before each step of connecting, and after the last: keeps the socket from blocking, and puts the URL's host
 * name into the text that libmariadb was given as its host, as large as url.host. */
void maria_tls_step(struct lb_session *session, char *host);
/* mysql_real_connect_cont, whose TLS handshake blocks the thread, but not beyond deadline_ns or the cut-off; then
 * *in_time becomes false. */
int maria_tls_connect_cont(MYSQL **connected, struct lb_session *session, int got,
                           int64_t deadline_ns, bool *in_time);
/* Looks at the server's greeting before libmariadb answers it: unless it verifies the host's name,
 * libmariadb logs in unencrypted where the server does not offer TLS. False = the server offers no
 * TLS, or its greeting had not all come by deadline_ns or the cut-off; the connection must end
 * there. */
bool maria_tls_offered(MYSQL *mysql, const struct maria_server *server, int64_t deadline_ns);
/* To be called before each call of libmariadb that may read or write: clears OpenSSL's queue of
 * errors, which the connections of a thread share, so that an error of one connection does not fail
 * another one. */
void maria_tls_before_call(const struct lb_session *session);
/* For a URL without TLS: from now on this process sends no password in clear, as plugins of libmariadb would. 0, or -1
 * with err. */
int maria_keep_password(struct lb_err *err);
/* Refuses a connection that is not encrypted although it should be, or one to a server that offers no TLS. 0, or -1
 * with err. */
int maria_tls_check(const struct lb_session *session, bool offered, struct lb_err *err);
/* Advice about a failed connection: ": ..." to follow the error's text, or "". */
const char *maria_tls_advice(unsigned number, const char *message,
                             const struct maria_server *server);
void maria_tls_facts(MYSQL *mysql, const struct maria_server *server, struct lb_facts *facts);

/* Returns the argument for a _cont call that must end the operation: that call then fails, and the connection
 * is lost. */
int maria_give_up(MYSQL *mysql);

/* Waits for the events that a _start or _cont call asks for. Returns the argument for the next _cont call. */
int maria_wait(struct lb_session *session, int asked, int64_t deadline_ns);

/* Before each statement: readies the session for it. False, with session->err: there is no connection. */
bool maria_is_up(struct lb_session *session);

/* The last call on the connection failed with this error: sets session->err, marks the connection
 * dead if the error means so, and returns the outcome. */
enum lb_outcome maria_failed(struct lb_session *session, unsigned number, const char *text);

lb_clean_fn maria_clean; /* drivers/clean.h */

#endif
