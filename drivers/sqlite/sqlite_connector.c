/* sqlite_connector: the sqlite backend's connector. The backend is embedded: there is no server to
 * reach or to ping. */
#include "drivers/sqlite/sqlite_session.h"

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
    if (!session->lock || !session->lock->algorithm->prepare) return 0;
    return session->lock->algorithm->prepare(session, deadline_ns, err);
}

static void backend_disconnect(struct lb_session *session) {
    struct sqlite_session *state = session->state;
    for (int i = 0; i < SQLITE_DATABASES; i++) sqlite_close_db(&state->db[i]);
}

static int backend_describe(struct lb_session *session, struct lb_facts *facts,
                            struct lb_err *err) {
    const struct sqlite_options *options = session->server->options;
    (void)err;
    lb_fact(facts, "version", "%s", sqlite3_libversion());
    lb_fact(facts, "journal_mode", "%s", sqlite_journals[options->journal]);
    lb_fact(facts, "synchronous", "%s", sqlite_synchronous[options->synchronous]);
    return 0;
}

static const struct lb_option sqlite_option_table[] = {
    {"journal", LB_OPT_CHOICE, offsetof(struct sqlite_options, journal), "wal", 0, 0, "wal,delete",
     "PRAGMA journal_mode: wal has one writer beside its readers"},
    {"synchronous", LB_OPT_CHOICE, offsetof(struct sqlite_options, synchronous), "full", 0, 0,
     "full,extra,normal,off",
     "PRAGMA synchronous: when a write is flushed; full is SQLite's default"},
    {0},
};

static const char *sqlite_library(char *text, size_t size) {
    snprintf(text, size, "sqlite %s", sqlite3_libversion());
    return text;
}

/* Each database is its own file, its log and that log's index. */
static int sqlite_descriptors(const struct lb_session *session, uint32_t keys) {
    (void)session;
    return 3 * (int)(keys < SQLITE_DATABASES ? keys : SQLITE_DATABASES);
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
