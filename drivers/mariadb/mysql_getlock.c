/* mysql-getlock: MariaDB's and MySQL's user lock: GET_LOCK(name, seconds) to wait in the server's
 * metadata-lock queue, RELEASE_LOCK(name) to free. Compatible with every client that calls these
 * functions with the same name.
 *
 * One round trip each. The lock belongs to the connection: a dead client's is freed when the server
 * notices the closed socket, at once on one host; a waiter's within a second. It belongs to one
 * server: it is not replicated, and Galera's other nodes do not know it. It gives no fencing token.
 * It is re-entrant: the server counts. The queue is near first-come, not promised, so "fair" is not
 * claimed. Names: MariaDB compares them byte by byte (10.11), up to 192 bytes; MySQL takes 64
 * characters and ignores case, so there keys that differ only by case are one lock. A longer key is
 * refused, not cut. MySQL's timeouts are whole seconds, so a timed wait may end up to a second late
 * there. Where a limit of the server's own ends a wait earlier (max_statement_time), the wait begins
 * again, at the queue's end. */
#include <string.h>

#include "drivers/key_names.h"
#include "drivers/mariadb/maria_sql.h"

#define MARIADB_NAME_BYTES 192
#define MYSQL_NAME_CHARS 64
#define YEAR_S 31536000

const char *getlock_name_problem(const char *name, size_t len, bool is_mariadb) {
    if (len == 0) return "is empty";
    if (is_mariadb) return len > MARIADB_NAME_BYTES ? "is longer than MariaDB's 192 bytes" : NULL;
    size_t chars = 0;
    for (size_t i = 0; i < len; i++) chars += ((unsigned char)name[i] & 0xc0) != 0x80; /* UTF-8 */
    return chars > MYSQL_NAME_CHARS ? "is longer than MySQL's 64 characters" : NULL;
}

double getlock_seconds(int64_t deadline_ns, int64_t now_ns, bool is_mariadb) {
    if (deadline_ns == LB_NEVER) return YEAR_S;
    if (deadline_ns <= now_ns) return 0;
    int64_t left_ns = deadline_ns - now_ns;
    if (left_ns > YEAR_S * LB_S_NS) return YEAR_S;
    if (!is_mariadb) {
        /* rounded up: MySQL takes whole seconds */
        int64_t whole_s = (left_ns + LB_S_NS - 1) / LB_S_NS;
        return (double)whole_s;
    }
    int64_t whole_us = left_ns / LB_US_NS;
    return (double)whole_us / 1e6;
}

#define ASK_MARIADB                                                                                \
    "SELECT (SELECT COUNT(*) FROM " MARIA_NUMBERS                                                  \
    " WHERE IS_USED_LOCK(CONCAT(?, seq)) IS NOT NULL) + "                                          \
    "(IS_USED_LOCK(?) IS NOT NULL)"
/* The same, and the clients that wait for a lock; only for a server without other users. */
#define ASK_WAITING                                                                                \
    ASK_MARIADB " + (SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock')"
#define ASK_MYSQL                                                                                       \
    "SELECT COUNT(*) FROM performance_schema.metadata_locks WHERE object_type = 'USER LEVEL LOCK' AND " \
    "LEFT(object_name, CHAR_LENGTH(?)) = ?"

/* The prepared statements' parameters are bound to these once. */
struct getlock_session {
    MYSQL_STMT *get, *release, *left;
    bool is_mariadb;
    double seconds;
    unsigned long name_len;
    char name[LB_KEY_MAX + 1];
    struct maria_row row;
};

static int getlock_prepare(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct getlock_session *mine = session->lock_state;
    MYSQL_BIND args[] = {maria_text(mine->name, &mine->name_len), maria_real(&mine->seconds)};
    mine->is_mariadb = maria_is_mariadb(session);
    mine->get = maria_prepare(session, "SELECT GET_LOCK(?, ?)", args, &mine->row, deadline_ns, err);
    if (!mine->get) return -1;
    mine->release =
        maria_prepare(session, "SELECT RELEASE_LOCK(?)", args, &mine->row, deadline_ns, err);
    return mine->release ? 0 : -1;
}

/* Runs one of the two functions on the request's key. LB_OK: *ret_answer is 1, 0, or -1 for
 * NULL. */
static enum lb_outcome run_on_key(struct lb_session *session, MYSQL_STMT *statement,
                                  const struct lb_request *request, int64_t answer_by_ns,
                                  int *ret_answer) {
    struct getlock_session *mine = session->lock_state;
    const char *problem = getlock_name_problem(request->key, request->key_len, mine->is_mariadb);
    if (problem)
        return lb_fail(session, LB_REFUSED, "mariadb: lock name '%.40s...' %s", request->key,
                       problem);
    memcpy(mine->name, request->key, request->key_len);
    mine->name_len = request->key_len;
    enum lb_outcome outcome = maria_run(session, statement, &mine->row, answer_by_ns);
    if (outcome != LB_OK) return outcome;
    if (!mine->row.found) return lb_fail(session, LB_BROKEN, "mariadb: an answer without a row");
    *ret_answer = mine->row.is_null[0] ? -1 : (int)mine->row.number[0];
    return LB_OK;
}

/* Frees the lock. A release that was killed or refused has freed nothing, and the session still
 * holds the lock. The outcome is unknown then, so the session is closed, which frees the lock. */
static enum lb_outcome unlock(struct lb_session *session, const struct lb_request *request,
                              enum lb_outcome if_not_held) {
    const struct getlock_session *mine = session->lock_state;
    int answer = 0;
    enum lb_outcome outcome =
        run_on_key(session, mine->release, request, sql_answer_by(session), &answer);
    if (outcome == LB_BROKEN && maria_ended(session)) return LB_LOST; /* ended while we held it */
    if (outcome == LB_BUSY || outcome == LB_TIMEOUT || outcome == LB_REFUSED) return LB_UNKNOWN;
    if (outcome != LB_OK) return outcome;
    return answer == 1 ? LB_OK
                       : if_not_held; /* 0: another client has the lock; NULL: nobody has it */
}

/* Waits in the server's queue until the deadline (LB_BUSY: another client had the lock all the time), or until a limit
 * of the server's own (LB_TIMEOUT). */
static enum lb_outcome wait_in_queue(struct lb_session *session, const struct lb_request *request,
                                     int64_t now_ns) {
    struct getlock_session *mine = session->lock_state;
    int64_t until_ns = request->deadline_ns > now_ns ? request->deadline_ns : now_ns;
    int answer = 0;
    mine->seconds = getlock_seconds(until_ns, now_ns, mine->is_mariadb);
    enum lb_outcome outcome =
        run_on_key(session, mine->get, request, sql_answer_after(session, until_ns), &answer);
    /* A time limit may have struck after the grant. */
    if (outcome == LB_TIMEOUT && unlock(session, request, LB_OK) == LB_UNKNOWN) return LB_UNKNOWN;
    if (outcome != LB_OK) return outcome;
    if (answer < 0) {
        return lb_fail(session, LB_TIMEOUT,
                       "mariadb: GET_LOCK answered NULL: the statement was killed");
    }
    return answer == 1 ? LB_OK : LB_BUSY;
}

static enum lb_outcome getlock_acquire(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    int64_t now_ns = lb_now();
    bool once = request->deadline_ns <= now_ns;
    enum lb_outcome outcome = wait_in_queue(session, request, now_ns);
    while ((outcome == LB_TIMEOUT || outcome == LB_BUSY) &&
           sql_wait_again(session, request->deadline_ns))
        outcome = wait_in_queue(session, request, lb_now());
    if (outcome == LB_BUSY && !once) return LB_TIMEOUT;
    if (outcome != LB_OK) return outcome;
    return lb_granted(grant, 0, LB_NEVER);
}

static enum lb_outcome getlock_release(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    (void)grant;
    return unlock(session, request, LB_LOST);
}

/* Not every server has a list of user locks. The names of a run are the prefix and a number: the
 * server is asked for each of them, for the prefix itself, and for clients that wait for any
 * name. */
static int count_left(struct lb_session *session, const char *prefix, uint64_t *ret_count,
                      struct lb_err *err) {
    struct getlock_session *mine = session->lock_state;
    MYSQL_BIND args[] = {maria_text(mine->name, &mine->name_len),
                         maria_text(mine->name, &mine->name_len)};
    if (!mine->left) {
        const char *sql = !mine->is_mariadb ? ASK_MYSQL : session->only ? ASK_MARIADB : ASK_WAITING;
        mine->left = maria_prepare(session, sql, args, &mine->row, sql_answer_by(session), err);
        if (!mine->left) return -1;
    }
    mine->name_len = strlen(prefix);
    memcpy(mine->name, prefix, mine->name_len);
    if (maria_run(session, mine->left, &mine->row, sql_answer_by(session)) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    *ret_count = (uint64_t)mine->row.number[0];
    return 0;
}

static int getlock_residue(struct lb_session *session, const char *prefix,
                           struct lb_residue *residue, struct lb_err *err) {
    return sql_count_down(session, prefix, count_left,
                          "a user lock, or a session that waits for one", residue, err);
}

static void getlock_names(const struct lb_session *session, const struct lb_request *request,
                          struct lb_names *names) {
    (void)session;
    lb_names_add(names, "name for GET_LOCK", "%s", request->key);
}

static const struct lb_algorithm algorithm = {
    .session_bytes = sizeof(struct getlock_session),
    .prepare = getlock_prepare,
    .acquire = getlock_acquire,
    .release = getlock_release,
    .residue = getlock_residue,
    .names = getlock_names,
};

const struct lb_lock lock_mysql_getlock = {
    .name = "mysql-getlock",
    .summary = "GET_LOCK and RELEASE_LOCK on MariaDB or MySQL",
    .backend = &backend_mariadb,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "server queue",
    .durability_class = "memory",
    .durability_note =
        "in the server's memory: nothing is written, flushing does not matter; a failover forgets it",
    .about =
        {.compatible = "any client of the server that calls GET_LOCK with the same name",
         .order = "the server's queue: nearly first come, first served, not promised",
         .hazards =
             "one server only: not replicated, each node of Galera has its own; a client library that "
             "reconnects by itself loses it without notice; behind a transaction pooler it leaks",
         LB_TERMS(1, 1, LB_ON_ONE_NODE, LB_CRASH_AT_ONCE)},
    .algorithm = &algorithm,
};
