/* sqlite_connector: the sqlite backend's connector. The backend is embedded: there is no server to
 * reach or to ping. */
#include "drivers/sqlite/sqlite_session.h"

#include <stdlib.h>

static int backend_open(struct lb_server *server, struct lb_err *err) {
    if (!server->dir) return err_set(err, LB_EXIT_MACHINE, "sqlite: no folder for its databases");
    if (!sqlite3_threadsafe()) {
        return err_set(err, LB_EXIT_MACHINE,
                       "sqlite: this library was built without threads (SQLITE_THREADSAFE=0)");
    }
    if (sqlite3_initialize() != SQLITE_OK)
        return err_set(err, LB_EXIT_MACHINE, "sqlite: can't start the library");
    return 0;
}

static int backend_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct sqlite_session *state = session->state;
    const struct sqlite_options *options = session->server->options;
    session->traffic_fd = -1;
    state->db = calloc((size_t)options->open_databases, sizeof *state->db);
    if (!state->db) return err_set(err, LB_EXIT_MACHINE, "sqlite: out of memory");
    if (!session->lock || !session->lock->algorithm->prepare) return 0;
    return session->lock->algorithm->prepare(session, deadline_ns, err);
}

static void backend_disconnect(struct lb_session *session) {
    struct sqlite_session *state = session->state;
    const struct sqlite_options *options = session->server->options;
    for (int64_t i = 0; state->db && i < options->open_databases; i++)
        sqlite_close_db(&state->db[i]);
    free(state->db);
    state->db = NULL;
}

static int backend_describe(struct lb_session *session, struct lb_facts *facts,
                            struct lb_err *err) {
    const struct sqlite_options *options = session->server->options;
    (void)err;
    lb_fact(facts, "version", "%s", sqlite3_libversion());
    lb_fact(facts, "journal_mode", "%s", sqlite_journals[options->journal]);
    lb_fact(facts, "synchronous", "%s", sqlite_synchronous[options->synchronous]);
    lb_fact(facts, "files", "one database a key");
    return 0;
}

static const struct lb_option sqlite_option_table[] = {
    {"journal", LB_OPT_CHOICE, offsetof(struct sqlite_options, journal), "wal", 0, 0, "wal,delete",
     "PRAGMA journal_mode: wal has one writer beside its readers"},
    {"synchronous", LB_OPT_CHOICE, offsetof(struct sqlite_options, synchronous), "full", 0, 0,
     "full,extra,normal,off",
     "PRAGMA synchronous: when a write is flushed; full is SQLite's default"},
    {"open_databases", LB_OPT_INT, offsetof(struct sqlite_options, open_databases), "64", 1, 10000,
     NULL, "databases (one a key) that each client keeps open, with 2 or 3 file descriptors each"},
    {0},
};

static const char *sqlite_library(char *text, size_t size) {
    snprintf(text, size, "sqlite %s", sqlite3_libversion());
    return text;
}

/* Each database is its own file, its log and that log's index. */
static int sqlite_descriptors(const struct lb_session *session, uint32_t keys) {
    const struct sqlite_options *options = session->server->options;
    return 3 *
           (int)((int64_t)keys < options->open_databases ? (int64_t)keys : options->open_databases);
}

const struct lb_connector sqlite_connector = {
    .options = sqlite_option_table,
    .options_bytes = sizeof(struct sqlite_options),
    .session_bytes = sizeof(struct sqlite_session),
    .open = backend_open,
    .connect = backend_connect,
    .disconnect = backend_disconnect,
    .describe = backend_describe,
    .library = sqlite_library,
    .descriptors = sqlite_descriptors,
};
