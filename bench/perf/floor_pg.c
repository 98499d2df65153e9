/* floor_pg: the bare loop's clients of PostgreSQL. libpq connects and prepares the statements; then the loop sends the
 * messages of the protocol itself, those that libpq's PQsendQueryPrepared() sends: Bind, Describe, Execute, Sync. See
 * floor.h. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/perf/floor.h"

/* The answer begins with BindComplete and the description of the row; an error has 'E' in its place. */
#define ANSWER "2\0\0\0\4T"
#define TAKE "take" /* names of the prepared statements */
#define FREE "free"

/* A message with its length, which counts itself and all that follows it. Returns the bytes. */
static size_t put_message(char *to, char type, const void *body, size_t len) {
    to[0] = type;
    to[1] = to[2] = to[3] = 0;
    to[4] = (char)(len + 4); /* below 128 */
    memcpy(to + 5, body, len);
    return len + 5;
}

/* The statement with one parameter of a few bytes, as text. Returns the bytes. */
static size_t put_command(char *to, const char *statement, const char *parameter) {
    /* formats: all text; one parameter; three of the four bytes of its length */
    static const char before[7] = {0, 0, 0, 1, 0, 0, 0};
    char body[64] = ""; /* the unnamed portal */
    size_t len = 1, parameter_len = strlen(parameter);
    len += strlen(strcpy(body + len, statement)) + 1;
    memcpy(body + len, before, sizeof before);
    len += sizeof before;
    body[len++] = (char)parameter_len;
    memcpy(body + len, parameter, parameter_len);
    len += parameter_len + 2; /* formats of the results: all text */
    size_t used = put_message(to, 'B', body, len);
    used += put_message(to + used, 'D', "P", 2);
    used += put_message(to + used, 'E', "\0\0\0\0", 5); /* all rows of the unnamed portal */
    return used + put_message(to + used, 'S', "", 0);
}

static int prepare(PGconn *conn, const char *name, const char *text) {
    PGresult *result = PQprepare(conn, name, text, 0, NULL);
    int failed = PQresultStatus(result) != PGRES_COMMAND_OK;
    PQclear(result);
    return failed;
}

static PGconn *open_client(struct floor_client *client, const struct floor_server *server,
                           int index) {
    char port[12], key[12];
    snprintf(port, sizeof port, "%d", server->port);
    snprintf(key, sizeof key, "%d", index);
    PGconn *conn = PQsetdbLogin("127.0.0.1", port, NULL, NULL, server->database, server->user,
                                server->password);
    if (PQstatus(conn) != CONNECTION_OK ||
        prepare(conn, TAKE, "SELECT pg_advisory_lock($1)") != 0 ||
        prepare(conn, FREE, "SELECT pg_advisory_unlock($1)") != 0)
        return conn;
    client->fd = PQsocket(conn);
    client->take_len = put_command(client->take, TAKE, key);
    client->free_len = put_command(client->free, FREE, key);
    return conn;
}

int floor_pg(const struct floor_server *server, struct floor_figures *ret_figures,
             struct lb_err *err) {
    struct floor_client *clients = calloc((size_t)server->connections, sizeof *clients);
    PGconn **conns = calloc((size_t)server->connections, sizeof(PGconn *));
    const struct floor_ask ask = {.clients = clients,
                                  .count = server->connections,
                                  .taken = ANSWER,
                                  .freed = ANSWER,
                                  .answer_len = sizeof ANSWER - 1,
                                  .in_order = server->in_order,
                                  .warmup_ns = server->warmup_ns,
                                  .duration_ns = server->duration_ns};
    int opened = 0, failed = 0;
    if (!clients || !conns) failed = err_set(err, LB_EXIT_MACHINE, "out of memory");
    while (!failed && opened < ask.count) {
        PGconn *conn = open_client(&clients[opened], server, opened);
        conns[opened] = conn;
        if (!clients[opened++].take_len)
            failed = err_set(err, LB_EXIT_MACHINE, "bare loop: %s", PQerrorMessage(conn));
    }
    if (!failed) failed = floor_run(&ask, ret_figures, err);
    while (opened-- > 0) PQfinish(conns[opened]);
    free(conns);
    free(clients);
    return failed;
}
