/* pg_impl: the declarations that the files of the postgres backend share; the algorithms include only
 * pg_session.h. */
#ifndef DRIVERS_POSTGRES_PG_IMPL_H
#define DRIVERS_POSTGRES_PG_IMPL_H

#include "drivers/postgres/pg_session.h"

#define PG_KEYWORDS_MAX 64

/* A URL as libpq wants it: parallel arrays, ended by NULL. */
struct pg_conninfo {
    PQconninfoOption *parsed; /* owns the texts */
    const char *keyword[PG_KEYWORDS_MAX];
    const char *value[PG_KEYWORDS_MAX];
    char *hosts, *addresses; /* of a host with a name: once for each address, with commas between */
    char *ports;             /* of routes */
    /* whether sessions of the server are shared by clients (a pooler); found out at the first connection,
     * before there are threads */
    enum { PG_POOLED_UNKNOWN, PG_POOLED_NO, PG_POOLED_YES } pooled;
};

#define PG_STATEMENTS_MAX 32 /* of a lock */

struct pg_session {
    PGconn *conn;
    int fd;
    bool dead;  /* the connection is broken: nothing may be sent on it any more */
    bool ended; /* it is dead because the server said that it ended the session */
    bool read;  /* something was read since the last statement was sent */
    /* behind a pooler, where another client may get the server session with a prepared statement:
     * the text that is sent in place of each name */
    struct {
        const char *name, *sql; /* the caller's, static */
    } statement[PG_STATEMENTS_MAX];
    int statement_count;
};

/* Reads a URL by libpq's own rules (postgresql://user:password@host:port/database?sslmode=...).
 * 0, or -1 with err (LB_EXIT_USAGE), which shows no password; pg_conninfo_done frees, also after
 * -1. */
int pg_conninfo_parse(struct pg_conninfo *info, const char *url, struct lb_err *err);
/* Adds the addresses to dial: those of the host, looked up, or the server's routes. 0, or -1 with err. */
int pg_conninfo_dial(struct pg_conninfo *info, const struct lb_server *server, struct lb_err *err);
void pg_conninfo_done(struct pg_conninfo *info);

/* The value of a keyword in the URL; NULL = none. The second function adds a keyword and borrows
 * the texts. */
const char *pg_conninfo_value(const struct pg_conninfo *info, const char *keyword);
void pg_conninfo_add(struct pg_conninfo *info, const char *keyword, const char *value);

/* The outcome that follows from the server's SQLSTATE for a statement. */
enum lb_outcome pg_outcome(const char *sqlstate);
/* Advice about an error with this SQLSTATE, to follow the error's text; "" = none is known. */
const char *pg_advice(const char *sqlstate);

/* Advice about a failed connection, by its SQLSTATE and the error's line: ": ..." to follow the line, or "". */
const char *pg_connect_advice(const char *sqlstate, const char *line);
/* The exit code of a failed connection, by its SQLSTATE ("" if the server was not reached). */
int pg_connect_exit(const char *sqlstate);

/* Takes the SQLSTATE and the one telling line out of libpq's message about a failed connection,
 * which is several lines long and was made with PQERRORS_VERBOSE. sqlstate: "" if there is none in
 * it. */
void pg_connect_message(const char *message, char ret_sqlstate[6], char *ret_line, size_t size);

lb_clean_fn pg_clean; /* drivers/clean.h */

#endif
