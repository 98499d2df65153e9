/* sql_lock: the lock algorithms that SQL databases share. Each database has its own text of each statement.
 *
 * A recipe (lb_lock.recipe) describes one lock on one database: a statement for each role of the lock's
 * algorithm. A port runs the statements; postgres, mariadb and sqlite have one port each. The algorithms
 * contain no SQL and call no client library:
 *   sql_transaction.c  held until a transaction ends: a locked row, an advisory lock
 *   sql_lease.c        a row with an owner and an end, by the database's clock; or without an end
 *   sql_optimistic.c   a row with a version, compared at the write or counted by one statement */
#ifndef DRIVERS_SQL_LOCK_H
#define DRIVERS_SQL_LOCK_H

#include "drivers/backoff.h"
#include "drivers/facts.h"
#include "drivers/tls.h"

/* The purpose of a statement. An algorithm needs some of them; a recipe leaves the others out. */
enum sql_role {
    /* sql_transaction. A lock without SQL_LOCK polls. */
    SQL_BEGIN,
    /* waits without a limit. A row = the client has the lock, and the row's number is the token; no row = the
     * table has no row of the key */
    SQL_LOCK,
    SQL_LOCK_UNTIL, /* waits for wait_us or wait_ms; after that the outcome is LB_TIMEOUT */
    SQL_LOCK_NOW,   /* does not wait: LB_TIMEOUT, LB_BUSY or no row = another client holds it */
    SQL_COMMIT,
    SQL_ROLLBACK,
    /* sql_lease. Success = a row was returned or changed; the row's number is the token. Failure = no row,
     * or LB_BUSY */
    SQL_TAKE,
    SQL_FREE,
    SQL_RENEW,
    /* sql_optimistic */
    SQL_READ,  /* gives version, value */
    SQL_WRITE, /* changes a row if the version is still the one given */
    SQL_COUNT, /* adds one to the version if it is below SQL_VERSION_LIMIT, and returns the version */
    /* From here on statements are prepared at their first use, those above when the session
     * begins. */
    SQL_SELDOM,
    SQL_SWEEP = SQL_SELDOM, /* deletes all rows whose lease has ended */
    SQL_ADD,                /* makes the key's row unless it is there */
    SQL_REMOVE,             /* deletes the key's row */
    /* the same for x keys: their names are the key followed by a number, from v on. Without SQL_ADD_MANY rows are
     * added when keys are first used */
    SQL_ADD_MANY,
    SQL_REMOVE_MANY,
    /* the number of rows under keys that begin with the given one */
    SQL_LEFT,
    SQL_ROLES
};

#define SQL_FENCE "lockbench_fence"             /* a sequence that recipes may draw tokens from */
#define SQL_VERSION_LIMIT "9223372036854775807" /* of a version, a bigint */
#define SQL_OWNER_CHARS 32                      /* 16 random bytes in hex */
#define SQL_NUMBERS 2

/* The values that a statement can take. Their address does not change during the session: a port
 * may bind it once. */
struct sql_values {
    char key[LB_KEY_MAX + 1];
    unsigned long key_len;
    uint32_t key_index;
    char owner[SQL_OWNER_CHARS + 1];
    unsigned long owner_len;
    int64_t number;
    int64_t lease_us; /* rounded up */
    int64_t wait_us, wait_ms;
    int64_t version, value;
};

struct sql_statement {
    const char *text;
    /* the values that it takes, in order. Texts: k key, o owner. Numbers: n the key's number, l
     * lease_us, w wait_us, m wait_ms, v version, x value */
    const char *args;
};

struct sql_recipe {
    const struct sql_port *port;
    /* statements that create the tables, NULL-terminated; NULL = there are none */
    const char *const *schema;
    const char *const *session; /* statements that each new session runs first; or NULL */
    const char *table;          /* has a row for each key; NULL = the key's number is locked */
    struct sql_statement statement[SQL_ROLES];
};

struct sql_answer {
    /* rows returned (a port may stop counting at 1); for a statement that returns none: rows
     * changed */
    uint64_t rows;
    int columns; /* that could be read; only of PostgreSQL */
    /* from the first row; or what the database reports for an insert; or 0 */
    int64_t number[SQL_NUMBERS];
};

/* Calls visit for each table of the database whose name begins with lockbench_, then for each sequence: those that have
 * lockbench's mark (LB_MADE_BY), or those without it. what: "TABLE" or "SEQUENCE". 0, or -1 with err. */
typedef void sql_visit_fn(void *arg, const char *name, const char *what);
typedef int sql_made_fn(struct lb_session *session, bool marked, sql_visit_fn *visit, void *arg,
                        struct lb_err *err);

/* The functions by which a backend runs the statements of the lock's recipe. */
struct sql_port {
    /* Runs before a session's first statement; NULL = there is nothing to do. 0, or -1 with err. */
    int (*begin)(struct lb_session *session, int64_t deadline_ns, struct lb_err *err);
    /* Runs a text that is not prepared: the recipe's schema, if the tables are missing, and the recipe's statements
     * for each new session. ret_number: a number that it gives, 0 if it gives nothing; may be NULL. query NULL = the
     * port makes the tables itself. */
    enum lb_outcome (*query)(struct lb_session *session, const char *text, int64_t deadline_ns,
                             uint64_t *ret_number);
    /* 0, or -1 with err. NULL = run prepares. */
    int (*prepare)(struct lb_session *session, enum sql_role role, int64_t deadline_ns,
                   struct lb_err *err);
    /* Runs a statement, as pg_run does. LB_OK with the answer; LB_UNKNOWN, LB_BROKEN: the connection is dead;
     * LB_TIMEOUT: the statement waited as long as it may, or may not wait and would have to; LB_BUSY: it was the
     * victim of a deadlock, or the row already exists. */
    enum lb_outcome (*run)(struct lb_session *session, enum sql_role role, int64_t answer_by_ns,
                           struct sql_answer *ret_answer);
    /* The deadline for the answer to a statement that waits on the server until wait_until_ns. */
    int64_t (*answer_after)(const struct lb_session *session, int64_t wait_until_ns);
    /* True if the server itself ended the session: everything that its connection held is free.
     * NULL = there is no server, and no lock of sql_transaction. */
    bool (*ended)(const struct lb_session *session);
    lb_residue_fn *residue; /* NULL = sql_count_left */
    sql_made_fn *made;      /* NULL = there can be no tables of others */
};

/* The session_bytes of all algorithms: a struct sql_session, and room for a port's own. */
#define SQL_SESSION_BYTES (sizeof(struct sql_session) + 1024)

struct sql_session {
    const struct sql_recipe *recipe; /* NULL before prepare */
    uint32_t ready;                  /* bit role: prepared */
    bool in_transaction;
    int64_t next_sweep_ns;
    struct sql_values values;
};

struct sql_grant {
    char owner[SQL_OWNER_CHARS + 1];
    int64_t value;
};

/* The options of the locks of all recipes. */
struct sql_options {
    struct backoff_options poll;
};
/* polling; where the server queues: retries after a deadlock */
extern const struct lb_option sql_poll_options[];

/* The options of a backend with a database server begin with these. */
struct sql_server_options {
    int64_t answer_timeout_ns;
    const char *durability; /* what the user states; see facts.h */
    struct lb_tls tls;
};
/* clang-format off */
#define SQL_SERVER_OPTIONS \
    {"answer_timeout", LB_OPT_DURATION, offsetof(struct sql_server_options, answer_timeout_ns), "5s", 1e6, 600e9, NULL, \
     "longest wait for an answer, beyond the time a lock may be waited for; then the outcome is unknown"}, \
    LB_DURABILITY_OPTION(struct sql_server_options), LB_TLS_OPTIONS(struct sql_server_options, tls)
/* clang-format on */

/* The deadline for the answer to a request that is made now and waits for no lock: the backend's answer_timeout; and to
 * one that waits on the server until wait_until_ns. */
int64_t sql_answer_by(const struct lb_session *session);
int64_t sql_answer_after(const struct lb_session *session, int64_t wait_until_ns);

/* Runs a statement of the recipe, and prepares it first if necessary. LB_BROKEN also if the session is
 * not prepared. */
enum lb_outcome sql_run(struct lb_session *session, enum sql_role role, int64_t answer_by_ns,
                        struct sql_answer *ret_answer);

/* The deadline for the answer to a request that is made now and waits for no lock. */
int64_t sql_soon(const struct lb_session *session);

/* Chooses the statement that locks the key, by how long it may wait. */
enum sql_role sql_choose_wait(struct lb_session *session, int64_t deadline_ns,
                              int64_t *ret_answer_by_ns);

/* For a wait on the server that has just returned LB_TIMEOUT. True if at least a millisecond is left before the
 * deadline: then a limit of the server (lock_timeout, statement_timeout, max_statement_time) or an administrator has
 * ended the wait, and the client must wait again. */
bool sql_ended_early(int64_t deadline_ns);
/* For a lock that does not poll: if the wait ended early, pauses and returns true, to wait again;
 * false = return LB_TIMEOUT. */
bool sql_wait_again(struct lb_session *session, int64_t deadline_ns);

/* Whether the lock of this session has such a statement. */
bool sql_has(const struct lb_session *session, enum sql_role role);

/* Copies the key's names and the lease into the values. */
void sql_use(struct lb_session *session, const struct lb_request *request);

/* The address of the number that a letter of sql_statement.args stands for. */
int64_t *sql_number(struct sql_values *values, char letter);

const char *sql_role_name(enum sql_role role); /* "lb_take", as ports name prepared statements */

/* A residue function by a count: counts until nothing is left or a second has passed, because a server notices the end of
 * a connection a moment later. what: the kind of thing, of which a residue has one. */
typedef int sql_count_fn(struct lb_session *session, const char *prefix, uint64_t *ret_count,
                         struct lb_err *err);
int sql_count_down(struct lb_session *session, const char *prefix, sql_count_fn *count,
                   const char *what, struct lb_residue *residue, struct lb_err *err);

#define SQL_ADVISORY_LEFT "an advisory lock that nobody frees"
/* SQL_LEFT of the database that the session is in. */
lb_residue_fn sql_count_left;

/* Locks that are held until a transaction ends; their keys have rows if the recipe has SQL_ADD and SQL_REMOVE. */
extern const struct lb_algorithm sql_transaction_algorithm;
/* A row with an owner and an end; waiters sweep if the recipe has SQL_SWEEP. */
extern const struct lb_algorithm sql_lease_algorithm;
/* A row with an owner and no end. */
extern const struct lb_algorithm sql_flag_algorithm;
/* A row with a version; the second counts it up by one statement (LB_CAP_ATOMIC). */
extern const struct lb_algorithm sql_optimistic_algorithm, sql_update_algorithm;
/* The description of such a lock, the same for every database. */
#define SQL_LEASE_FACTS(written, more_hazards)                                                     \
    .summary = "upsert of a row when its expire_at is past (ShedLock's way), with a fence column", \
    .primitive = LB_MUTEX,                                                                         \
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_FENCE,                 \
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE, .waits = "poll",                         \
    .durability_note = written,                                                                    \
    .keeps = "one row for each key in lockbench_lease, which has the fencing token",               \
    .about = {.compatible = "every client that updates lockbench_lease's rows by the same rules",  \
              .order = "none",                                                                     \
              .token = "the row's fence column",                                                   \
              .hazards =                                                                           \
                  "a holder that is paused past the end of its lease loses it: check the token; "  \
                  "the lease ends by the server's wall clock; " more_hazards,                      \
              LB_TERMS(1, 1, LB_ON_ONE_NODE, LB_CRASH_LEASE),                                      \
              .crash_slack_ns = 250 * LB_MS_NS},                                                   \
    .algorithm = &sql_lease_algorithm
#define SQL_TABLE_FACTS(more_caps, written, clock, more_hazards, requests, where)                  \
    .summary =                                                                                     \
        "INSERT of a unique row with owner and expire_at, DELETE to free, and a sweeper for dead " \
        "owners",                                                                                  \
    .primitive = LB_MUTEX,                                                                         \
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | (more_caps),                  \
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE, .waits = "poll",                         \
    .durability_note = written,                                                                    \
    .keeps = "the rows of owners that died or released too late, until the next sweep",            \
    .about =                                                                                       \
        {.compatible =                                                                             \
             "every client that inserts and deletes lockbench_table's rows by the same rules",     \
         .order = "none",                                                                          \
         .hazards = "a holder that is paused past the end of its lease loses it; the lease "       \
                    "ends by the " clock "'s wall clock; " more_hazards,                           \
         LB_TERMS(requests, requests, where, LB_CRASH_LEASE),                                      \
         .crash_slack_ns = 500 * LB_MS_NS},                                                        \
    .algorithm = &sql_lease_algorithm
#define SQL_ROW_FACTS                                                                              \
    .primitive = LB_MUTEX, .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FENCE | LB_CAP_SESSION,       \
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,                    \
    .algorithm = &sql_transaction_algorithm
#define SQL_ROW_ABOUT                                                                              \
    .compatible = "any transaction that locks or changes the row",                                 \
    .token = "a sequence, drawn under the lock", LB_TERMS(2, 1, LB_ON_ONE_NODE, LB_CRASH_AT_ONCE)
#define SQL_FLAG_FACTS                                                                             \
    .summary = "UPDATE of a flag column WHERE it is not set (a status column, without expiry)",    \
    .primitive = LB_MUTEX, .caps = LB_CAP_TRY | LB_CAP_WAIT,                                       \
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE, .waits = "poll",                            \
    .durability_note = "each grant and release writes the row and waits for the flush",            \
    .about = {.compatible = "every client that updates lockbench_flag's rows by the same rules",   \
              .order = "none",                                                                     \
              .hazards =                                                                           \
                  "a holder that dies leaves the flag set: nobody gets the lock until somebody "   \
                  "clears it by hand, who must be sure that the holder is dead; without its row "  \
                  "nobody gets it either",                                                         \
              LB_TERMS(1, 1, LB_ON_ONE_NODE, LB_CRASH_NEVER)},                                     \
    .algorithm = &sql_flag_algorithm
#define SQL_OPTIMISTIC_FACTS                                                                       \
    .summary = "read a version, UPDATE WHERE version is still the same (JPA's @Version)",          \
    .primitive = LB_OPTIMISTIC, .caps = LB_CAP_TRY | LB_CAP_WAIT,                                  \
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE, .waits = "never",                           \
    .durability_note = "each write waits for the log to be flushed",                               \
    .about = {.compatible = "every client that updates lockbench_version's rows by the same rule", \
              .order = "none: the first to write wins",                                            \
              .token = "the row's version",                                                        \
              .hazards = "guards only what is in the row; retries grow with contention",           \
              LB_TERMS(1, 1, LB_ON_ONE_NODE, LB_CRASH_AT_ONCE)},                                   \
    .algorithm = &sql_optimistic_algorithm
#define SQL_UPDATE_FACTS                                                                           \
    .primitive = LB_OPTIMISTIC, .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_ATOMIC,                  \
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,                                             \
    .waits = "server queue, for others' statements on the row",                                    \
    .durability_note = "each update waits for the log to be flushed",                              \
    .about = {.compatible =                                                                        \
                  "every client that changes lockbench_version's rows by such a statement",        \
              .order = "none",                                                                     \
              .token = "the row's version",                                                        \
              .hazards =                                                                           \
                  "only for what one statement can do: nothing can be worked on between reading "  \
                  "and writing; a statement whose answer is lost has been done once or never, "    \
                  "and repeated it may count twice",                                               \
              LB_TERMS(1, 0, LB_ON_ONE_NODE, LB_CRASH_AT_ONCE)},                                   \
    .algorithm = &sql_update_algorithm

/* The parts of the algorithms, for locks that differ in some of them. */
lb_connect_fn sql_prepare;     /* takes the lock's recipe; makes its tables if they are missing */
lb_setup_fn sql_setup;         /* refuses tables of its names that lockbench did not make so */
lb_arm_fn sql_arm, sql_disarm; /* SQL_ADD, SQL_REMOVE, if the recipe has them */
lb_arm_range_fn sql_arm_range,
    sql_disarm_range;      /* SQL_ADD_MANY; SQL_REMOVE_MANY, else SQL_REMOVE */
lb_residue_fn sql_residue; /* the port's own, or else sql_count_left */
lb_names_fn sql_names;     /* of a lock whose recipe is an sql_recipe, or that takes a number */
lb_acquire_fn sql_lease_acquire;
lb_release_fn sql_lease_release;
lb_settle_fn sql_lease_settle;

/* Members that the algorithms share: SQL_MEMBERS all; SQL_LEASE_MEMBERS those of sql_lease; SQL_ARMED those
 * whose keys need a row before they can be locked. */
#define SQL_MEMBERS                                                                                \
    .session_bytes = SQL_SESSION_BYTES, .setup = sql_setup, .prepare = sql_prepare,                \
    .residue = sql_residue, .names = sql_names
#define SQL_LEASE_MEMBERS                                                                          \
    SQL_MEMBERS, .options = sql_poll_options, .options_bytes = sizeof(struct sql_options),         \
                 .grant_bytes = sizeof(struct sql_grant), .acquire = sql_lease_acquire,            \
                 .settle = sql_lease_settle
#define SQL_ARMED                                                                                  \
    .arm = sql_arm, .disarm = sql_disarm, .arm_range = sql_arm_range,                              \
    .disarm_range = sql_disarm_range

/* sql_clean: removes what lockbench made in a database (drivers/clean.h), of a backend whose port has .query and .made. */
struct sql_cleaner {
    const struct sql_port *port;
    const char *patience; /* the statement that limits the wait for clients that use a table */
    const char *text[2];  /* around the hex digits of a text */
    const char *before, *after; /* around the name of a table */
    const char
        *lock[2]; /* around a table's name, before a DELETE: waits for others' statements; "" */
};
int sql_clean(struct lb_session *session, const struct lb_cleaning *cleaning,
              const struct sql_cleaner *cleaner, struct lb_err *err);
/* Runs a text, as the port's query. 0, or -1 with err. */
int sql_tell(struct lb_session *session, const struct sql_port *port, const char *text,
             uint64_t *ret_number, struct lb_err *err);
/* Writes a text in hex digits. Returns out. */
const char *sql_hex(const char *text, char *out, size_t size);

#endif
