/* sql_lock: the code that the SQL algorithms share: it prepares and runs statements, adds and removes
 * the rows of keys, and counts the rows that are left. See sql_lock.h. */
#include "drivers/sql_lock.h"

#include <stdio.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/key_names.h"
#include "drivers/wait.h"

#define PATIENCE_NS LB_S_NS
#define MANY_NS (60 * LB_S_NS) /* for a statement about many keys */
#define LOOK_NS (20 * LB_MS_NS)

const struct lb_option sql_poll_options[] = {
    BACKOFF_OPTIONS(struct sql_options, poll, "1ms", "64ms"),
    {0},
};

const char *sql_role_name(enum sql_role role) {
    static const char *const names[SQL_ROLES] = {
        "lb_begin", "lb_lock", "lb_lock_until", "lb_lock_now", "lb_commit",      "lb_rollback",
        "lb_take",  "lb_free", "lb_renew",      "lb_read",     "lb_write",       "lb_count",
        "lb_sweep", "lb_add",  "lb_remove",     "lb_add_many", "lb_remove_many", "lb_left"};
    return names[role];
}

int64_t *sql_number(struct sql_values *values, char letter) {
    static const char letters[] = "nlwmvx";
    int64_t *const numbers[] = {&values->number,  &values->lease_us, &values->wait_us,
                                &values->wait_ms, &values->version,  &values->value};
    return numbers[strchr(letters, letter) - letters];
}

int64_t sql_answer_after(const struct lb_session *session, int64_t wait_until_ns) {
    const struct sql_server_options *options = session->server->options;
    return lb_after(wait_until_ns, options->answer_timeout_ns);
}

int64_t sql_answer_by(const struct lb_session *session) {
    return sql_answer_after(session, lb_now());
}

bool sql_ended_early(int64_t deadline_ns) {
    return deadline_ns >= lb_after(lb_now(), LB_MS_NS);
}

/* The pause is short: this client has lost its place in the server's queue and should queue again soon. */
bool sql_wait_again(struct lb_session *session, int64_t deadline_ns) {
    static const struct backoff_options pause = {
        .min_ns = LB_MS_NS, .max_ns = LB_MS_NS, .factor = 1, .jitter = 0.5};
    struct backoff backoff;
    backoff_start(&backoff, &pause);
    if (!sql_ended_early(deadline_ns) || !backoff_sleep(&backoff, session, deadline_ns))
        return false;
    session->err.code = 0;
    return true;
}

bool sql_has(const struct lb_session *session, enum sql_role role) {
    const struct sql_session *mine = session->lock_state;
    return mine->recipe && mine->recipe->statement[role].text;
}

static int prepare_statement(struct lb_session *session, enum sql_role role, int64_t deadline_ns,
                             struct lb_err *err) {
    struct sql_session *mine = session->lock_state;
    const struct sql_port *port = mine->recipe->port;
    if (port->prepare && port->prepare(session, role, deadline_ns, err) != 0) return -1;
    mine->ready |= 1u << role;
    return 0;
}

/* Stores the recipe and prepares the statements that are used often. 0, or -1 with err. */
static int prepare_often_used(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct sql_session *mine = session->lock_state;
    mine->recipe = session->lock->recipe;
    mine->values.owner_len = SQL_OWNER_CHARS;
    for (int role = 0; role < SQL_SELDOM; role++) {
        bool wanted = mine->recipe->statement[role].text && !(mine->ready & 1u << role);
        if (wanted && prepare_statement(session, role, deadline_ns, err) != 0) return -1;
    }
    return 0;
}

/* Runs texts that need no answer; err has the first failure. False if the connection is dead. */
static bool run_texts(struct lb_session *session, const char *const *texts, int64_t deadline_ns,
                      struct lb_err *err) {
    const struct sql_recipe *recipe = session->lock->recipe;
    for (; texts && *texts; texts++) {
        enum lb_outcome outcome = recipe->port->query(session, *texts, deadline_ns, NULL);
        if (outcome != LB_OK && !err->code) err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
        session->err.code = 0;
        if (outcome == LB_BROKEN || outcome == LB_UNKNOWN) return false;
    }
    return true;
}

/* The argument of look_at_stranger: the lock's recipe, and the error to fill. */
struct stranger_look {
    const struct sql_recipe *recipe;
    struct lb_err *err;
};

static void look_at_stranger(void *arg, const char *name, const char *what) {
    const struct stranger_look *look = arg;
    for (int role = 0; role < SQL_ROLES; role++) {
        const char *text = look->recipe->statement[role].text;
        if (!text || !strstr(text, name)) continue;
        err_set(
            look->err, LB_EXIT_USAGE,
            "the database has a %s %s that lockbench did not make, so it is left alone: rename it, use "
            "another database or schema, or, if lockbench made it, give it the comment '%s'",
            what, name, LB_MADE_BY);
        return;
    }
}

int sql_setup(struct lb_session *session, struct lb_err *err) {
    const struct sql_recipe *recipe = session->lock->recipe;
    struct lb_err found = {0};
    struct stranger_look look = {.recipe = recipe, .err = &found};
    if (!recipe->port->made) return 0;
    if (recipe->port->made(session, false, look_at_stranger, &look, err) != 0) return -1;
    return found.code ? err_set(err, found.code, "%s", found.text) : 0;
}

int sql_prepare(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct sql_recipe *recipe = session->lock->recipe;
    const struct sql_port *port = recipe->port;
    struct lb_err first = {0}, schema = {0}, again = {0}, other = {0};
    if (port->begin && port->begin(session, deadline_ns, err) != 0) return -1;
    run_texts(session, recipe->session, deadline_ns, &first);
    if (first.code) return err_set(err, first.code, "%s", first.text);
    if (prepare_often_used(session, deadline_ns, &first) == 0) return 0;
    if (!port->query) return err_set(err, first.code, "%s", first.text);
    /* Most likely the tables are missing. Other sessions may be creating them now: then our
     * statements fail, and the tables exist. */
    session->err.code = 0;
    bool up = run_texts(session, recipe->schema, deadline_ns, &schema);
    if (up && prepare_often_used(session, deadline_ns, &again) == 0) return 0;
    if (!up)
        return err_set(err, LB_EXIT_MACHINE, "%s; the lock's tables could not be made: %s",
                       first.text, schema.text);
    /* A table that is there already may be another one. */
    session->err.code = 0;
    if (sql_setup(session, &other) != 0 && other.code == LB_EXIT_USAGE) schema = other;
    const struct lb_err *cause = schema.code ? &schema : &again;
    return err_set(err, cause->code, "%s", cause->text);
}

enum lb_outcome sql_run(struct lb_session *session, enum sql_role role, int64_t answer_by_ns,
                        struct sql_answer *ret_answer) {
    struct sql_session *mine = session->lock_state;
    if (!mine->recipe) return lb_fail(session, LB_BROKEN, "%s: not connected", session->lock->name);
    struct lb_err err = {0};
    if (!(mine->ready & 1u << role) &&
        prepare_statement(session, role, sql_soon(session), &err) != 0)
        return lb_fail(session, LB_BROKEN, "%s", err.text);
    return mine->recipe->port->run(session, role, answer_by_ns, ret_answer);
}

int64_t sql_soon(const struct lb_session *session) {
    const struct sql_session *mine = session->lock_state;
    return mine->recipe ? mine->recipe->port->answer_after(session, lb_now()) : 0;
}

void sql_use(struct lb_session *session, const struct lb_request *request) {
    struct sql_session *mine = session->lock_state;
    struct sql_values *values = &mine->values;
    memcpy(values->key, request->key, request->key_len);
    values->key[request->key_len] = '\0';
    values->key_len = request->key_len;
    values->key_index = request->key_index;
    values->number = (int64_t)request->key_number;
    values->lease_us = request->lease_ns / LB_US_NS + (request->lease_ns % LB_US_NS > 0);
}

static int run_statement(struct lb_session *session, const struct lb_request *request,
                         enum sql_role role, struct lb_err *err) {
    struct sql_answer answer;
    if (!sql_has(session, role)) return 0;
    sql_use(session, request);
    enum lb_outcome outcome = sql_run(session, role, sql_soon(session), &answer);
    if (outcome == LB_OK || outcome == LB_BUSY) return 0; /* busy: another just made it */
    return err_set(err, LB_EXIT_MACHINE, "%s: %s", session->lock->name, session->err.text);
}

int sql_arm(struct lb_session *session, const struct lb_request *request, struct lb_err *err) {
    return run_statement(session, request, SQL_ADD, err);
}

int sql_disarm(struct lb_session *session, const struct lb_request *request, struct lb_err *err) {
    return run_statement(session, request, SQL_REMOVE, err);
}

/* Runs the statement for many keys, which are the prefix and a number. */
static int run_range(struct lb_session *session, const struct lb_key_range *range,
                     const struct lb_request *like, enum sql_role many, struct lb_err *err) {
    struct sql_session *mine = session->lock_state;
    struct lb_request request = *like;
    struct sql_answer answer;
    if (!sql_has(session, many)) return 0;
    request.key = range->prefix;
    request.key_len = strlen(range->prefix);
    sql_use(session, &request);
    mine->values.version = range->first;
    mine->values.value = range->count;
    int64_t answer_by_ns = mine->recipe->port->answer_after(session, lb_now() + MANY_NS);
    if (sql_run(session, many, answer_by_ns, &answer) == LB_OK) return 0;
    return err_set(err, LB_EXIT_MACHINE, "%s: %s", session->lock->name, session->err.text);
}

int sql_arm_range(struct lb_session *session, const struct lb_key_range *range,
                  const struct lb_request *like, struct lb_err *err) {
    return run_range(session, range, like, SQL_ADD_MANY, err);
}

int sql_disarm_range(struct lb_session *session, const struct lb_key_range *range,
                     const struct lb_request *like, struct lb_err *err) {
    struct lb_request request = *like;
    char name[LB_KEY_MAX];
    if (sql_has(session, SQL_REMOVE_MANY) || !sql_has(session, SQL_REMOVE))
        return run_range(session, range, like, SQL_REMOVE_MANY, err);
    request.key = name;
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        request.key_len = (size_t)snprintf(name, sizeof name, "%s%u", range->prefix, i);
        request.key_index = i;
        if (sql_disarm(session, &request, err) != 0) return -1;
    }
    return 0;
}

int sql_count_down(struct lb_session *session, const char *prefix, sql_count_fn *count,
                   const char *what, struct lb_residue *residue, struct lb_err *err) {
    uint64_t left = 0;
    int64_t until_ns = lb_now() + PATIENCE_NS;
    for (;;) {
        if (count(session, prefix, &left, err) != 0) return -1;
        if (left == 0 || lb_now() >= until_ns || lb_stopping()) break;
        lb_sleep_until(lb_now() + LOOK_NS);
    }
    lb_left(residue, left, "%s", what);
    return 0;
}

static int count_left(struct lb_session *session, const char *prefix, uint64_t *ret_count,
                      struct lb_err *err) {
    struct sql_session *mine = session->lock_state;
    struct sql_answer answer = {0};
    int len = snprintf(mine->values.key, sizeof mine->values.key, "%s", prefix);
    mine->values.key_len = (unsigned long)len;
    mine->values.version = session->only ? (int64_t)session->only->number : INT64_MIN;
    mine->values.value =
        session->only ? mine->values.version + session->only->count - 1 : INT64_MAX;
    if (sql_run(session, SQL_LEFT, sql_soon(session), &answer) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s: %s", session->lock->name, session->err.text);
    *ret_count = (uint64_t)answer.number[0];
    return 0;
}

int sql_count_left(struct lb_session *session, const char *prefix, struct lb_residue *residue,
                   struct lb_err *err) {
    const struct sql_recipe *recipe = session->lock->recipe;
    char what[100];
    snprintf(what, sizeof what, "a row of %s", recipe->table ? recipe->table : "");
    return sql_count_down(session, prefix, count_left, recipe->table ? what : SQL_ADVISORY_LEFT,
                          residue, err);
}

int sql_residue(struct lb_session *session, const char *prefix, struct lb_residue *residue,
                struct lb_err *err) {
    const struct sql_recipe *recipe = session->lock->recipe;
    lb_residue_fn *count = recipe->port->residue ? recipe->port->residue : sql_count_left;
    return count(session, prefix, residue, err);
}

void sql_names(const struct lb_session *session, const struct lb_request *request,
               struct lb_names *names) {
    const struct sql_recipe *recipe = session->lock->recipe;
    if (!recipe || !recipe->table)
        lb_names_add(names, "number of the advisory lock", "%lld", (long long)request->key_number);
    else
        lb_names_add(names, "row", "%s, name = '%s'", recipe->table, request->key);
    for (int role = 0; recipe && role < SQL_ROLES; role++) {
        const char *text = recipe->statement[role].text;
        if (!text || !strstr(text, SQL_FENCE)) continue;
        lb_names_add(names, "sequence of the tokens", SQL_FENCE);
        return;
    }
}
