/* maria_connector: the mariadb backend's connector: opening, describing, pinging. The rest is in
 * maria_connect and maria_run. */
#include "drivers/facts.h"
#include "drivers/mariadb/maria_impl.h"
#include "drivers/sql_lock.h"

#include <string.h>

static int maria_open(struct lb_server *server, struct lb_err *err) {
    if (server->url_count != 1) {
        return err_set(err, LB_EXIT_USAGE, "mariadb takes one URL, not %d", server->url_count);
    }
    if (mysql_library_init(0, NULL, NULL) != 0)
        return err_set(err, LB_EXIT_MACHINE, "mariadb: out of memory");
    const struct maria_options *options = server->options;
    struct maria_server *state = server->state;
    if (maria_url(state, server, server->urls[0], err) != 0) return -1;
    state->encrypted =
        strcmp(state->url.scheme, "mysqls") == 0 || strcmp(state->url.scheme, "mariadbs") == 0;
    state->tls = lb_tls_of(&options->tls, server->ca);
    if (state->encrypted && state->tls.verify == LB_TLS_CA && !state->tls.ca)
        return err_set(
            err, LB_EXIT_USAGE,
            "mariadb.tls_verify = ca needs mariadb.tls_ca: libmariadb looks at no authority "
            "without it");
    return lb_tls_check(&options->tls, state->encrypted, "mariadb", "mysqls://", err);
}

/* Adds the failures that a committed row survives. After a crash the server rolls back a commit that is
 * missing in the binary log, so both logs must be flushed. */
static void describe_durability(struct lb_facts *facts) {
    const char *flush = lb_facts_value(facts, "innodb_flush_log_at_trx_commit"),
               *method = lb_facts_value(facts, "innodb_flush_method"),
               *binary = lb_facts_value(facts, "log_bin"),
               *sync = lb_facts_value(facts, "sync_binlog");
    if (!flush) {
        lb_facts_durability(facts, NULL, "not told: no innodb_flush_log_at_trx_commit is shown");
        return;
    }
    bool has_binary = binary && strcmp(binary, "ON") == 0;
    bool first = strcmp(flush, "1") == 0 && !(method && strcmp(method, "nosync") == 0) &&
                 (!has_binary || (sync && strcmp(sync, "1") == 0));
    lb_facts_durability(facts, first ? "disk" : "log",
                        "InnoDB log, %son disk before each commit returns "
                        "(innodb_flush_log_at_trx_commit=%s, %s%s)",
                        first ? "" : "not ", flush, has_binary ? "sync_binlog=" : "no binary log",
                        has_binary ? sync ? sync : "?" : "");
}

static int maria_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    static const char settings[] =
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'version_comment', "
        "'innodb_flush_log_at_trx_commit', 'innodb_flush_method', 'sync_binlog', 'log_bin', 'max_connections', 'thread_handling', "
        "'lock_wait_timeout', 'innodb_lock_wait_timeout', 'wait_timeout', 'max_prepared_stmt_count', "
        "'innodb_buffer_pool_size', 'wsrep_on')";
    MYSQL_RES *result = NULL;
    if (maria_query(session, settings, maria_answer_by(session), &result) != LB_OK) {
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    }
    MYSQL_ROW row;
    while (result && (row = mysql_fetch_row(result)) != NULL) {
        if (row[0] && row[1]) lb_fact(facts, row[0], "%s", row[1]);
    }
    mysql_free_result(result);
    const char *version = lb_facts_value(facts, "version");
    char number[64];
    snprintf(number, sizeof number, "%s", version ? version : "");
    if (!maria_is_mariadb(session)) lb_fact(facts, "version", "mysql %s", number);
    describe_durability(facts);
    const struct maria_session *state = session->state;
    maria_tls_facts(state->mysql, session->server->state, facts);
    return 0;
}

/* COM_PING: the protocol's own empty round trip; the server parses nothing. */
static enum lb_outcome maria_ping(struct lb_session *session, int64_t deadline_ns) {
    struct maria_session *state = session->state;
    if (!maria_is_up(session)) return LB_BROKEN;
    session->commands++;
    int failed = 0;
    int asked = mysql_ping_start(&failed, state->mysql);
    while (asked)
        asked = mysql_ping_cont(&failed, state->mysql, maria_wait(session, asked, deadline_ns));
    return failed ? maria_failed(session, mysql_errno(state->mysql), mysql_error(state->mysql))
                  : LB_OK;
}

static const struct lb_option maria_options[] = {
    {"answer_timeout", LB_OPT_DURATION, offsetof(struct maria_options, answer_timeout_ns), "5s",
     1e6, 600e9, NULL,
     "longest wait for an answer, beyond the time a lock may be waited for; then the outcome is unknown"},
    {"nodes", LB_OPT_CHOICE, offsetof(struct maria_options, nodes), "one", 0, 0, "one,all",
     "of a URL with several hosts (Galera): one = all clients use the first that serves; all = "
     "client i begins with host i modulo the number of hosts"},
    LB_TLS_OPTIONS(struct maria_options, tls),
    {0},
};

static const char *maria_library(char *text, size_t size) {
    snprintf(text, size, "libmariadb %s", mysql_get_client_info());
    return text;
}

const struct lb_connector mariadb_connector = {
    .options = maria_options,
    .options_bytes = sizeof(struct maria_options),
    .server_bytes = sizeof(struct maria_server),
    .session_bytes = sizeof(struct maria_session),
    .open = maria_open,
    .connect = maria_connect,
    .disconnect = maria_disconnect,
    .describe = maria_describe,
    .ping = maria_ping,
    .library = maria_library,
    .clean = maria_clean,
};
