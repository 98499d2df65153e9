/* maria_impl: what the files of the mariadb backend share; the algorithms include maria_session.h
 * only. */
#ifndef DRIVERS_MARIADB_MARIA_IMPL_H
#define DRIVERS_MARIADB_MARIA_IMPL_H

#include "drivers/mariadb/maria_session.h"

#include "drivers/url.h"

#define MARIA_ADDRESSES_MAX 4

struct maria_server {
    struct url url;
    char address[MARIA_ADDRESSES_MAX][64]; /* the host, resolved */
    int address_count;
};

struct maria_options {
    int64_t answer_timeout_ns;
};

struct maria_session {
    MYSQL *mysql;
    int fd;
    bool dead;      /* nothing may be sent any more */
    bool ended;     /* ... since the server said so */
    bool timed_out; /* the last wait ended by its deadline or the cut-off */
    MYSQL_STMT *statement[MARIA_STATEMENTS_MAX];
    int statement_count;
};

/* The outcome that follows from an error number of the server or the client library for a
 * statement. */
enum lb_outcome maria_outcome(unsigned number);

/* The exit code of a failed connection, by its error number. */
int maria_connect_exit(unsigned number);

/* Reads and resolves a URL (mysql://user:password@host:port/database). 0, or -1 with err, which
 * shows no password. May block. */
int maria_url(struct maria_server *server, const char *text, struct lb_err *err);

/* Waits for what a _start or _cont call asks for; gives what to hand to _cont. */
int maria_wait(struct lb_session *session, int asked, int64_t deadline_ns);

/* Marks the connection dead. libmariadb may have closed the socket already. */
void maria_die(struct lb_session *session);

/* The last call on the connection failed with this error: session->err, outcome, and dead if it
 * is. */
enum lb_outcome maria_failed(struct lb_session *session, unsigned number, const char *text);

lb_connect_fn maria_connect;
lb_disconnect_fn maria_disconnect;
lb_clean_fn maria_clean; /* drivers/clean.h */

#endif
