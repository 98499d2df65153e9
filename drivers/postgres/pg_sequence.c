/* pg-sequence: no lock at all: SELECT nextval(...) of the sequence that has the key's name.
 * Programs draw ids and the numbers of tickets and orders in this way. No other client is given the
 * same number, and nobody waits for another client's commit, since a sequence belongs to no
 * transaction.
 *
 * One round trip. A number that was given out does not come back: a rollback skips it. The
 * server logs 32 numbers ahead, so that a crash skips up to 32. The client for which it logs waits until
 * the log is flushed; the clients that are given the other 32 do not. So a crash before that flush
 * gives out their numbers once more. */
#include "drivers/postgres/pg_impl.h"
#include "drivers/postgres/pg_sql.h"

#include <stdio.h>

#include "drivers/key_names.h"

#define MAKES_MAX 3
#define NAME_BYTES_MAX 63 /* the server cuts off what is longer, and two keys would be one */
#define TEXT_BYTES 1024   /* for a statement with two names, each twice as long by its quotes */

static const struct sql_recipe recipe = {
    .port = &pg_port,
    .statement = {
        /* no row = the key has no sequence */
        [SQL_COUNT] =
            {"SELECT nextval(sequence) FROM to_regclass(quote_ident($1::text)) AS sequence "
             "WHERE sequence IS NOT NULL",
             "k"},
        /* no row = lockbench did not make it */
        [SQL_LOOK] = {"SELECT 1 FROM to_regclass(quote_ident($1::text)) AS sequence "
                      "WHERE obj_description(sequence, 'pg_class') = '" LB_MADE_BY "'",
                      "k"},
        [SQL_LEFT] = {"SELECT count(*) FROM pg_class WHERE relkind = 'S' "
                      "AND pg_table_is_visible(oid) AND starts_with(relname::text, $1::text)",
                      "k"},
    }};

/* The key as a quoted name, to be freed by PQfreemem; NULL, with the session's error: it cannot be one. */
static char *quote_name(struct lb_session *session, const struct lb_request *request) {
    const struct pg_session *state = session->state;
    char *name = NULL;
    if (request->key_len <= NAME_BYTES_MAX)
        name = PQescapeIdentifier(state->conn, request->key, request->key_len);
    if (!name)
        lb_fail(
            session, LB_REFUSED,
            "pg-sequence: the key cannot be the name of a sequence: it has more than %d bytes, or "
            "is no text for the server",
            NAME_BYTES_MAX);
    return name;
}

/* Makes the key's sequence, unless there is one. That one gets no comment: it is other people's. A statement
 * that creates takes no parameters, so that the name is in its text. */
static enum lb_outcome make_sequence(struct lb_session *session, const struct lb_request *request) {
    const struct pg_session *state = session->state;
    char body[TEXT_BYTES], text[2 * TEXT_BYTES];
    char *name = quote_name(session, request);
    if (!name) return LB_REFUSED;
    snprintf(body, sizeof body,
             "BEGIN CREATE SEQUENCE %s; COMMENT ON SEQUENCE %s IS '" LB_MADE_BY "'; "
             "EXCEPTION WHEN duplicate_table OR unique_violation THEN NULL; END",
             name, name);
    PQfreemem(name);
    char *literal = PQescapeLiteral(state->conn, body, strlen(body));
    if (!literal) return lb_fail(session, LB_REFUSED, "pg-sequence: no memory");
    snprintf(text, sizeof text, "DO %s", literal);
    PQfreemem(literal);
    return pg_port.query(session, text, sql_soon(session));
}

static enum lb_outcome drop_sequence(struct lb_session *session, const struct lb_request *request) {
    char text[TEXT_BYTES];
    char *name = quote_name(session, request);
    if (!name) return LB_REFUSED;
    snprintf(text, sizeof text, "DROP SEQUENCE IF EXISTS %s", name);
    PQfreemem(name);
    return pg_port.query(session, text, sql_soon(session));
}

static int fail(const struct lb_session *session, struct lb_err *err) {
    return err_set(err, LB_EXIT_MACHINE, "pg-sequence: %s", session->err.text);
}

/* A sequence of other people's is refused: no number that a run draws can be given back. */
static int sequence_arm(struct lb_session *session, const struct lb_request *request,
                        struct lb_err *err) {
    struct sql_answer answer = {0};
    if (make_sequence(session, request) != LB_OK) return fail(session, err);
    sql_use(session, request);
    if (sql_run(session, SQL_LOOK, sql_soon(session), &answer) != LB_OK) return fail(session, err);
    if (answer.rows > 0) return 0;
    return err_set(
        err, LB_EXIT_USAGE,
        "pg-sequence: the database has a SEQUENCE %s that lockbench did not make, so it is "
        "left alone: name another key, or, if lockbench made it, give it the comment '%s'",
        request->key, LB_MADE_BY);
}

static int sequence_disarm(struct lb_session *session, const struct lb_request *request,
                           struct lb_err *err) {
    return drop_sequence(session, request) == LB_OK ? 0 : fail(session, err);
}

static enum lb_outcome sequence_acquire(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    struct sql_answer answer = {0};
    sql_use(session, request);
    for (int makes = 0;; makes++) {
        enum lb_outcome outcome = sql_run(session, SQL_COUNT, sql_soon(session), &answer);
        if (outcome != LB_OK) return outcome;
        if (answer.rows > 0) break;
        if (makes == MAKES_MAX)
            return lb_fail(session, LB_REFUSED,
                           "pg-sequence: its sequence is missing again after each CREATE SEQUENCE: "
                           "keep other programs from dropping it");
        outcome = make_sequence(session, request);
        if (outcome != LB_OK) return outcome;
    }
    grant->token = (uint64_t)answer.number[0];
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static enum lb_outcome sequence_release(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    (void)session, (void)request, (void)grant; /* all was done by nextval */
    return LB_OK;
}

static int sequence_residue(struct lb_session *session, const char *prefix,
                            struct lb_residue *ret_residue, struct lb_err *err) {
    if (sql_count_left(session, prefix, ret_residue, err) != 0) return -1;
    if (ret_residue->count)
        snprintf(ret_residue->example, sizeof ret_residue->example, "a sequence %.100s...", prefix);
    return 0;
}

static void sequence_names(const struct lb_session *session, const struct lb_request *request,
                           struct lb_names *names) {
    (void)session;
    lb_names_add(names, "sequence", "%s", request->key);
}

static const struct lb_algorithm sequence_algorithm = {
    .session_bytes = SQL_SESSION_BYTES,
    .setup = sql_setup,
    .prepare = sql_prepare,
    .arm = sequence_arm,
    .disarm = sequence_disarm,
    .acquire = sequence_acquire,
    .release = sequence_release,
    .residue = sequence_residue,
    .names = sequence_names,
};

const struct lb_lock lock_pg_sequence = {
    .name = "pg-sequence",
    .summary = "no lock, one statement: SELECT nextval of a sequence",
    .backend = &backend_postgres,
    .primitive = LB_OPTIMISTIC,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_ATOMIC,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "never",
    .durability_class = "log",
    .durability_note =
        "one number of 33 waits for the log to be flushed; the others are answered before or after",
    .about =
        {.compatible = "every client that calls nextval with the sequence",
         .order = "none",
         .token = "the sequence's number",
         .hazards =
             "gives unique numbers that grow, and guards nothing else; what was given out does "
             "not come back: a rollback skips a number, and a crash of the server up to 32; a "
             "crash before the log is flushed gives out the last numbers once more",
         .acquire_requests = 1,
         .release_requests = 0,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_AT_ONCE},
    .algorithm = &sequence_algorithm,
    .recipe = &recipe,
};
