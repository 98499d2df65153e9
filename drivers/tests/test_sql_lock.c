/* The lock algorithms of the SQL databases over a database that answers what it is told to: the
 * order of the statements, the rollbacks, and the outcome that each answer leads to. The real
 * databases are in test_foreign_sql and the conformance suite. */
#include "drivers/sql_lock.h"

#include "drivers/tests/live_help.h"

#define STEPS_MAX 40

/* What the database answers, in order. */
struct step {
    enum sql_role role; /* that must be asked now */
    enum lb_outcome outcome;
    uint64_t rows;
    int64_t number[SQL_NUMBERS];
};

static struct {
    struct step steps[STEPS_MAX];
    int step_count, asked;
    char problem[300];
    struct sql_values seen[STEPS_MAX]; /* the values at each step */
    int prepared[SQL_ROLES];
    /* prepare fails until so many texts of the schema ran */
    int schema_runs, schema_fails, tables_missing;
    bool ended, dead;
    bool limits; /* a limit of its own ends a wait; otherwise a wait ends when its time is over */
} db;

static int fake_prepare(struct lb_session *session, enum sql_role role, int64_t deadline_ns,
                        struct lb_err *err) {
    (void)session;
    (void)deadline_ns;
    if (db.schema_runs < db.tables_missing) return err_set(err, LB_EXIT_USAGE, "no such table");
    db.prepared[role]++;
    return 0;
}

static enum lb_outcome fake_run(struct lb_session *session, enum sql_role role,
                                int64_t answer_by_ns, struct sql_answer *ret_answer) {
    struct sql_session *mine = session->lock_state;
    (void)answer_by_ns;
    int at = db.asked++;
    if (at >= db.step_count || db.steps[at].role != role) {
        if (!db.problem[0]) {
            snprintf(db.problem, sizeof db.problem, "step %d asks for %s, not for %s", at + 1,
                     sql_role_name(role),
                     at < db.step_count ? sql_role_name(db.steps[at].role) : "nothing");
        }
        return lb_fail(session, LB_BROKEN, "not in the script");
    }
    if (at < STEPS_MAX) db.seen[at] = mine->values;
    if (role == SQL_LOCK_UNTIL && db.steps[at].outcome == LB_TIMEOUT && !db.limits)
        lb_sleep_until(lb_now() + mine->values.wait_us * LB_US_NS);
    if (db.steps[at].outcome != LB_OK) return db.steps[at].outcome;
    *ret_answer = (struct sql_answer){.rows = db.steps[at].rows,
                                      .number = {db.steps[at].number[0], db.steps[at].number[1]}};
    return LB_OK;
}

static int64_t fake_answer_after(const struct lb_session *session, int64_t wait_until_ns) {
    (void)session;
    return lb_after(wait_until_ns, LB_S_NS);
}

static bool fake_ended(const struct lb_session *session) {
    (void)session;
    return db.ended;
}

static const char *const schema[] = {"make one", "make another", NULL};

static enum lb_outcome run_schema(struct lb_session *session, const char *text, int64_t deadline_ns,
                                  uint64_t *ret_number) {
    (void)deadline_ns, (void)ret_number;
    CHECK(text == schema[db.schema_runs], "'%s'", text);
    db.schema_runs++;
    if (db.dead) return lb_fail(session, LB_BROKEN, "not connected");
    if (db.schema_runs > db.schema_fails) return LB_OK;
    return lb_fail(session, LB_REFUSED, "no right to create");
}

static const struct sql_port port = {.query = run_schema,
                                     .prepare = fake_prepare,
                                     .run = fake_run,
                                     .answer_after = fake_answer_after,
                                     .ended = fake_ended};
#define SAYS                                                                                       \
    { "said", "" }

static const struct sql_recipe row = {.port = &port,
                                      .statement = {[SQL_BEGIN] = SAYS,
                                                    [SQL_LOCK] = SAYS,
                                                    [SQL_LOCK_UNTIL] = SAYS,
                                                    [SQL_LOCK_NOW] = SAYS,
                                                    [SQL_COMMIT] = SAYS,
                                                    [SQL_ROLLBACK] = SAYS,
                                                    [SQL_ADD] = SAYS}};
static const struct sql_recipe poll_row = {
    .port = &port,
    .statement = {
        [SQL_BEGIN] = SAYS, [SQL_LOCK_NOW] = SAYS, [SQL_COMMIT] = SAYS, [SQL_ROLLBACK] = SAYS}};
static const struct sql_recipe table = {
    .port = &port,
    .schema = schema,
    .statement = {[SQL_TAKE] = SAYS, [SQL_FREE] = SAYS, [SQL_RENEW] = SAYS, [SQL_SWEEP] = SAYS}};
static const struct sql_recipe version = {
    .port = &port,
    .statement = {[SQL_READ] = SAYS, [SQL_WRITE] = SAYS, [SQL_COUNT] = SAYS, [SQL_ADD] = SAYS}};

/* One client of the fake database. */
struct fixture {
    struct lb_lock lock;
    struct sql_options options;
    struct sql_session state;
    struct sql_grant mine;
    struct lb_session session;
    struct lb_request request;
    struct lb_grant grant;
};

static void fixture_init(struct fixture *f, const struct sql_recipe *recipe) {
    struct lb_err err = {0};
    memset(f, 0, sizeof *f);
    memset(&db, 0, sizeof db);
    f->lock.name = "fake";
    f->options = (struct sql_options){.poll = {.min_ns = 1000, .max_ns = 1000, .factor = 1}};
    f->session =
        (struct lb_session){.lock = &f->lock, .options = &f->options, .lock_state = &f->state};
    rng_seed(&f->session.rng, 1, 1);
    f->grant.data = &f->mine;
    f->request = (struct lb_request){.key = "key",
                                     .key_len = 3,
                                     .key_number = 7,
                                     .deadline_ns = LB_NEVER,
                                     .lease_ns = 1500000001};
    f->lock.recipe = recipe;
    f->lock.caps = LB_CAP_LEASE; /* transactions do not look */
    CHECK(sql_prepare(&f->session, LB_NEVER, &err) == 0, "%s", err.text);
}

/* "begin, lock_until timeout, rollback, lock 1 41": roles that must be asked in this order, and what they give: an outcome, or
 * rows and a number. */
static void play(struct fixture *f, const char *script) {
    char *copy = strdup(script), *rest = copy;
    db.step_count = db.asked = 0;
    f->session.err.code = 0;
    for (char *text; (text = strsep(&rest, ","));) {
        struct step *step = &db.steps[db.step_count++];
        char role[24] = "", outcome[24] = "";
        long long rows = 0, number = 0;
        sscanf(text, " %23s %lld %lld", role, &rows, &number);
        sscanf(text, " %*s %23[a-z]", outcome);
        *step = (struct step){.rows = (uint64_t)rows, .number = {number}};
        while (strcmp(sql_role_name(step->role) + strlen("lb_"), role) != 0) step->role++;
        while (*outcome && strcmp(lb_outcome_name(step->outcome), outcome) != 0) step->outcome++;
    }
    free(copy);
}

/* The script was played to its end, and nothing else was asked. */
static void played(int line) {
    if (db.problem[0] || db.asked != db.step_count) {
        check_note(__FILE__, line, "script", ": %s; asked %d of %d", db.problem, db.asked,
                   db.step_count);
    }
}
#define PLAYED() played(__LINE__)

static enum lb_outcome tx_acquire(struct fixture *f) {
    return sql_transaction_algorithm.acquire(&f->session, &f->request, &f->grant);
}
static enum lb_outcome tx_release(struct fixture *f) {
    return sql_transaction_algorithm.release(&f->session, &f->request, &f->grant);
}

LIVE(NULL, transaction_waits) {
    struct fixture f;
    fixture_init(&f, &row);
    { /* a limit of the server's own ended it: asked again, for the time that is left */
        play(&f, "begin, lock_until timeout, rollback, begin, lock_until 1, commit");
        f.request.deadline_ns = lb_now() + 10 * LB_S_NS;
        db.limits = true;
        CHECK(tx_acquire(&f) == LB_OK);
        db.limits = false;
        CHECK(tx_release(&f) == LB_OK);
        PLAYED();
        CHECK(db.seen[4].wait_us < db.seen[1].wait_us);
        CHECK(db.seen[1].wait_us > 9000000 && db.seen[1].wait_us <= 10000000, "waits %lld us",
              (long long)db.seen[1].wait_us);
        CHECK(db.seen[1].wait_ms == db.seen[1].wait_us / 1000);
    }
    { /* a year is more than a server takes */
        play(&f, "begin, lock_until 1, commit");
        f.request.deadline_ns = lb_now() + 365 * 24 * 3600 * LB_S_NS;
        CHECK(tx_acquire(&f) == LB_OK);
        CHECK(db.seen[1].wait_ms == INT32_MAX);
        CHECK(tx_release(&f) == LB_OK);
        PLAYED();
    }
    { /* a deadlock's victim, and the server's own limit on an endless wait: asked again */
        play(&f,
             "begin, lock busy, rollback, begin, lock timeout, rollback, begin, lock 1, commit");
        f.request.deadline_ns = LB_NEVER;
        CHECK(tx_acquire(&f) == LB_OK);
        CHECK(tx_release(&f) == LB_OK);
        PLAYED();
    }
    fixture_init(&f, &poll_row);
    { /* no SQL_LOCK: it polls; no SQL_ADD: no row means that somebody holds it */
        play(&f, "begin, lock_now timeout, rollback, begin, lock_now, rollback, begin, lock_now 1");
        CHECK(tx_acquire(&f) == LB_OK);
        CHECK(f.session.wakeups == 2, "it slept twice; counted: %d", (int)f.session.wakeups);
        PLAYED();
    }
}

LIVE(NULL, transaction_rows) {
    struct fixture f;
    fixture_init(&f, &row);
    { /* a row that is not there is made, outside the transaction that missed it */
        play(&f, "begin, lock, rollback, add 1, begin, lock 1, commit");
        CHECK(tx_acquire(&f) == LB_OK);
        CHECK(tx_release(&f) == LB_OK);
        PLAYED();
    }
    { /* a row that comes and goes: not for ever */
        play(
            &f,
            "begin, lock, rollback, add 1, begin, lock, rollback, add 1, begin, lock, rollback, add 1, begin, lock, rollback");
        CHECK(tx_acquire(&f) == LB_REFUSED);
        PLAYED();
    }
}

/* What else a lease promises, the conformance suite finds out on the databases. */
LIVE(NULL, lease) {
    struct fixture f;
    fixture_init(&f, &table);
    {
        play(&f, "take 1 5");
        CHECK(sql_lease_acquire(&f.session, &f.request, &f.grant) == LB_OK);
        CHECK(db.seen[0].lease_us == 1500001, "%lld us: rounded up",
              (long long)db.seen[0].lease_us);
        PLAYED();
    }
    { /* a row that somebody held, or a deadlock: asked again; the victim of one at a release too */
        play(&f, "take, sweep, take busy, take 1 7, free busy, free 1, take unknown, free unknown");
        CHECK(sql_lease_acquire(&f.session, &f.request, &f.grant) == LB_OK);
        CHECK(sql_lease_release(&f.session, &f.request, &f.grant) == LB_OK);
        CHECK(sql_lease_acquire(&f.session, &f.request, &f.grant) == LB_UNKNOWN);
        CHECK(sql_lease_settle(&f.session, &f.request, &f.grant) == LB_UNKNOWN, "not settled");
        CHECK(strcmp(db.seen[7].owner, db.seen[6].owner) == 0, "settles what was tried");
        PLAYED();
    }
    { /* a release that is never let through may have left it held */
        play(&f, "free busy, free busy, free busy, free busy, free busy");
        CHECK(sql_lease_release(&f.session, &f.request, &f.grant) == LB_UNKNOWN);
        PLAYED();
    }
}

/* Sweeps on a database are in stories/sqlite.story. */
LIVE(NULL, sweeps) {
    struct fixture f;
    fixture_init(&f, &table);
    f.request.deadline_ns = 0;
    { /* it is no harm that others sweep as well; and the next sweep is not due */
        play(&f, "take, sweep busy, take");
        CHECK(sql_lease_acquire(&f.session, &f.request, &f.grant) == LB_BUSY);
        CHECK(sql_lease_acquire(&f.session, &f.request, &f.grant) == LB_BUSY);
        PLAYED();
    }
}

LIVE(NULL, one_statement) {
    struct fixture f;
    fixture_init(&f, &version);
    play(&f, "count, add busy, count 1 7, count busy, count 1 9, count busy, count unknown");
    CHECK(sql_update_algorithm.acquire(&f.session, &f.request, &f.grant) == LB_OK);
    CHECK(f.grant.token == 7 && f.grant.lease_end_ns == LB_NEVER, "the version that it made");
    CHECK(sql_update_algorithm.release(&f.session, &f.request, &f.grant) == LB_OK);
    CHECK(f.grant.token == 7, "a release does nothing");
    CHECK(sql_update_algorithm.acquire(&f.session, &f.request, &f.grant) == LB_OK);
    CHECK(f.grant.token == 9, "the victim of a deadlock asks again");
    f.request.deadline_ns = 0;
    CHECK(sql_update_algorithm.acquire(&f.session, &f.request, &f.grant) == LB_BUSY,
          "but not after its deadline");
    CHECK(sql_update_algorithm.acquire(&f.session, &f.request, &f.grant) == LB_UNKNOWN);
    CHECK(f.grant.token == 9, "nothing is known of its version");
    PLAYED();
}

static int begin(struct fixture *f, int tables_missing, int schema_fails, struct lb_err *err) {
    fixture_init(f, &table);
    memset(&f->state, 0, sizeof f->state);
    memset(&db, 0, sizeof db);
    db.tables_missing = tables_missing;
    db.schema_fails = schema_fails;
    *err = (struct lb_err){0};
    return sql_prepare(&f->session, LB_NEVER, err);
}

LIVE(NULL, preparing) {
    struct fixture f;
    struct lb_err err;
    CHECK(begin(&f, 0, 0, &err) == 0, "%s", err.text);
    CHECK(db.schema_runs == 0, "the tables are there");
    CHECK(db.prepared[SQL_TAKE] == 1 && db.prepared[SQL_RENEW] == 1 && db.prepared[SQL_SWEEP] == 0);
    play(&f, "sweep, sweep");
    struct sql_answer answer;
    CHECK(sql_run(&f.session, SQL_SWEEP, LB_NEVER, &answer) == LB_OK);
    CHECK(sql_run(&f.session, SQL_SWEEP, LB_NEVER, &answer) == LB_OK);
    CHECK(db.prepared[SQL_SWEEP] == 1, "at its first use, once");
    PLAYED();
    CHECK(begin(&f, 2, 0, &err) == 0, "%s", err.text);
    CHECK(db.schema_runs == 2 && db.prepared[SQL_TAKE] == 1);
    /* Another session made the table at the same moment: ours failed, and it is there. */
    CHECK(begin(&f, 2, 1, &err) == 0, "%s", err.text);
    CHECK(f.session.err.code == 0);
    /* The error names the cause, not its consequence. */
    CHECK(begin(&f, 3, 2, &err) != 0);
    CHECK(strcmp(err.text, "no right to create") == 0, "%s", err.text);
    CHECK(begin(&f, 3, 0, &err) != 0);
    CHECK(strcmp(err.text, "no such table") == 0, "%s", err.text);
    /* The connection broke, at the first statement or while the tables were made (a busy server has not made them in
     * time): both errors are reported, and no other statement runs. */
    CHECK(begin(&f, 3, 0, &err) != 0);
    db.schema_runs = 0;
    db.dead = true;
    err = (struct lb_err){0};
    CHECK(sql_prepare(&f.session, LB_NEVER, &err) != 0);
    CHECK(strcmp(err.text, "no such table; the lock's tables could not be made: not connected") ==
                  0 &&
              db.schema_runs == 1 && err.code == LB_EXIT_MACHINE,
          "%s", err.text);
}

TEST_MAIN(NULL, NULL)
