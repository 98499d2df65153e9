/* exec: a lock whose client is any program, one process for each client, over lines of JSON (README.md).
 *
 * This measures the library inside the program; lockbench keeps the clock, the schedule, the
 * checks and the faults. exec is for libraries whose grants live by a lease, which the program puts
 * into its answers; exec-session is for libraries whose grants live as long as a session that the
 * library keeps alive by itself. exec-null is the same with a child that grants at once: the cost
 * of the lines and of the two processes. */
#include "drivers/backends.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "drivers/exec/child.h"
#include "drivers/facts.h"
#include "drivers/key_names.h"

#define SETTLE_SLACK_NS (100 * LB_MS_NS)
#define LEASE_MAX_MS 1e12 /* a lease of 30 years or more counts as no lease: LB_NEVER */

struct exec_options {
    const char *program;
    int64_t answer_timeout_ns;
};

struct exec_session {
    struct exec_child child;
    /* how long a grant may last after the program has ended, as the program stated it; 0 = the lease */
    int64_t lasts_ns;
    char version[120];
};

static struct exec_session *exec_of(const struct lb_session *session) {
    return session->state;
}

static json_t *milliseconds(int64_t ns) {
    return ns == LB_NEVER ? json_null() : json_real((double)ns / (double)LB_MS_NS);
}

/* Reads a field that is a time in milliseconds. Without the field it returns `otherwise`. */
static int64_t time_of(const json_t *answer, const char *name, int64_t otherwise) {
    const json_t *value = json_object_get(answer, name);
    double ms = json_number_value(value);
    return json_is_number(value) && ms >= 0 && ms < 1e12 ? (int64_t)(ms * (double)LB_MS_NS)
                                                         : otherwise;
}

/* The deadline for the answer to a request that does not wait for a lock. */
static int64_t soon(const struct lb_session *session) {
    const struct exec_options *options = session->options;
    return lb_after(lb_now(), options->answer_timeout_ns);
}

/* Sends a request, waits for the answer and reads its outcome. may: the outcomes, as bits
 * 1 << outcome, that this request can have in addition to those that every request can have. */
static enum lb_outcome ask(struct lb_session *session, json_t *request, int64_t deadline_ns,
                           unsigned may, json_t **ret_answer) {
    struct exec_child *child = &exec_of(session)->child;
    json_t *answer = NULL;
    enum lb_outcome outcome = exec_child_ask(child, request, deadline_ns, &answer);
    if (outcome != LB_OK) return outcome;
    const char *word = json_string_value(json_object_get(answer, "outcome"));
    const char *why = json_string_value(json_object_get(answer, "why"));
    may |= 1U << LB_OK | 1U << LB_UNKNOWN | 1U << LB_REFUSED | 1U << LB_BROKEN;
    for (outcome = 0; outcome < LB_OUTCOMES; outcome++) {
        if ((may & 1U << outcome) && word && strcmp(word, lb_outcome_name(outcome)) == 0) break;
    }
    if (outcome == LB_OUTCOMES) {
        char said[160];
        snprintf(said, sizeof said,
                 "answered with the outcome '%.60s', which this request cannot have",
                 word ? word : "");
        child->broke = true;
        outcome = exec_child_give_up(child, said);
    } else if (outcome == LB_OK && ret_answer) {
        *ret_answer = json_incref(answer);
    } else if (outcome == LB_UNKNOWN || outcome == LB_REFUSED || outcome == LB_BROKEN) {
        lb_fail(session, outcome, "exec: the client program says: %.200s", why ? why : "no reason");
    }
    json_decref(answer);
    return outcome;
}

/* {"do": word, "key": ..., "lease": ...} */
static json_t *request_of(const char *word, const struct lb_request *request) {
    return json_pack("{s:s, s:s%, s:o}", "do", word, "key", request->key, request->key_len, "lease",
                     milliseconds(request->lease_ns));
}

/* --- the session --- */

static int exec_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct exec_options *options = session->options;
    struct exec_session *exec = exec_of(session);
    bool null = session->server->backend == &backend_exec_null;
    json_t *answer = NULL;
    uint64_t commands = session->commands;
    if (!null && (!options || !options->program || !*options->program))
        return err_set(err, LB_EXIT_USAGE,
                       "exec: name the client program: --set %s.program=COMMAND",
                       session->lock->name);
    if (exec_child_start(&exec->child, session, null ? NULL : options->program, err) != 0) {
        err_prefix(err, "exec");
        return -1;
    }
    json_t *request = json_pack("{s:s, s:i, s:o}", "do", "open", "client", (int)session->client,
                                "lease", milliseconds(session->lease_ns));
    enum lb_outcome outcome = ask(session, request, deadline_ns, 0, &answer);
    if (outcome != LB_OK)
        return err_set(err,
                       outcome == LB_REFUSED || exec->child.broke ? LB_EXIT_USAGE : LB_EXIT_MACHINE,
                       "%s", session->err.text);
    const char *version = json_string_value(json_object_get(answer, "version"));
    snprintf(exec->version, sizeof exec->version, "%.100s", version ? version : "not told");
    exec->lasts_ns = time_of(answer, "lease", 0);
    json_decref(answer);
    session->commands = commands; /* "open" is no request of the lock */
    return 0;
}

static void exec_disconnect(struct lb_session *session) {
    const struct exec_options *options = session->options;
    exec_child_stop(&exec_of(session)->child,
                    lb_after(lb_now(), options ? options->answer_timeout_ns : 0));
}

static int exec_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    (void)err;
    lb_fact(facts, "version", "%s", exec_of(session)->version);
    if (session->server->backend->topologies)
        lb_facts_durability(facts, NULL, "not told: the client program knows its server");
    return 0;
}

static enum lb_outcome exec_ping(struct lb_session *session, int64_t deadline_ns) {
    (void)deadline_ns; /* answer_timeout bounds every round trip */
    return ask(session, json_pack("{s:s}", "do", "ping"), soon(session), 0, NULL);
}

/* --- the lock --- */

/* Whether the answer has the member; a member that is null does not count. */
static bool tells(const json_t *answer, const char *name) {
    const json_t *value = json_object_get(answer, name);
    return value && !json_is_null(value);
}

/* Reads the end of the lease from the answer, counted from sent_ns; LB_NEVER if the answer has no lease. */
static enum lb_outcome read_lease(struct exec_child *child, const json_t *answer, int64_t sent_ns,
                                  int64_t *ret_end_ns) {
    const json_t *lease = json_object_get(answer, "lease");
    double ms = json_number_value(lease);
    bool told = tells(answer, "lease");
    if (told && !json_is_number(lease))
        return exec_child_give_up(child, "answered with a lease that is no number of milliseconds");
    if (!told || ms >= LEASE_MAX_MS) {
        *ret_end_ns = LB_NEVER;
    } else { /* a negative lease had ended before the request */
        *ret_end_ns = ms > 0 ? lb_after(sent_ns, (int64_t)(ms * (double)LB_MS_NS)) : sent_ns;
    }
    return LB_OK;
}

static enum lb_outcome read_token(struct exec_child *child, const json_t *answer,
                                  uint64_t *ret_token) {
    const json_t *token = json_object_get(answer, "token");
    bool told = tells(answer, "token");
    if (told && !(json_integer_value(token) > 0))
        return exec_child_give_up(child, "answered with a token that is no positive whole number");
    *ret_token = told ? (uint64_t)json_integer_value(token) : 0;
    return LB_OK;
}

static enum lb_outcome exec_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    json_t *answer = NULL;
    int64_t sent_ns = lb_now(), deadline_ns = soon(session);
    bool once = request->deadline_ns <= sent_ns;
    json_t *words = request_of(once ? "try" : "acquire", request);
    if (!once) {
        int64_t wait_ns =
            request->deadline_ns == LB_NEVER ? LB_NEVER : request->deadline_ns - sent_ns;
        if (words) json_object_set_new(words, "deadline", milliseconds(wait_ns));
        deadline_ns = lb_after(deadline_ns, wait_ns);
    }
    enum lb_outcome outcome =
        ask(session, words, deadline_ns, 1U << (once ? LB_BUSY : LB_TIMEOUT), &answer);
    if (outcome != LB_OK) return outcome;
    struct exec_child *child = &exec_of(session)->child;
    outcome = read_lease(child, answer, sent_ns, &grant->lease_end_ns);
    if (outcome == LB_OK) outcome = read_token(child, answer, &grant->token);
    json_decref(answer);
    return outcome;
}

static enum lb_outcome exec_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    (void)grant;
    return ask(session, request_of("release", request), soon(session), 1U << LB_LOST, NULL);
}

static enum lb_outcome exec_renew(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    json_t *answer = NULL;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        ask(session, request_of("renew", request), soon(session), 1U << LB_LOST, &answer);
    if (outcome != LB_OK) return outcome;
    struct exec_child *child = &exec_of(session)->child;
    if (grant->lease_end_ns != LB_NEVER && !tells(answer, "lease")) {
        outcome = exec_child_give_up(
            child, "answered a renewal without the lease, of a grant that has one");
    } else {
        outcome = read_lease(child, answer, sent_ns, &grant->lease_end_ns);
    }
    json_decref(answer);
    return outcome;
}

/* The program that made the attempt is gone, and a library cannot ask about another program's
 * grant. So this function waits until a grant of that program would have ended by its lease. */
static enum lb_outcome exec_settle(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    int64_t lasts_ns = exec_of(session)->lasts_ns;
    (void)grant;
    if (lasts_ns < request->lease_ns) lasts_ns = request->lease_ns;
    int64_t until_ns = lb_after(lb_after(lb_now(), lasts_ns), SETTLE_SLACK_NS);
    while (lb_now() < until_ns && !lb_stopping()) lb_sleep_until(until_ns);
    return lb_now() >= until_ns ? LB_OK
                                : lb_fail(session, LB_UNKNOWN, "exec: cut off while a lease ends");
}

static int exec_residue(struct lb_session *session, const char *prefix, struct lb_residue *residue,
                        struct lb_err *err) {
    json_t *answer = NULL;
    json_t *request = json_pack("{s:s, s:s}", "do", "residue", "prefix", prefix);
    if (session->only && request)
        json_object_set_new(request, "count", json_integer(session->only->count));
    if (ask(session, request, soon(session), 0, &answer) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    json_int_t count = json_integer_value(json_object_get(answer, "count"));
    const char *example = json_string_value(json_object_get(answer, "example"));
    lb_left(residue, count > 0 ? (uint64_t)count : 0, "%s", example ? example : "");
    json_decref(answer);
    return 0;
}

static void exec_names(const struct lb_session *session, const struct lb_request *request,
                       struct lb_names *names) {
    (void)session;
    lb_names_add(names, "key, as the program is told", "%s", request->key);
}

/* --- the tables --- */

#define ANSWER_TIMEOUT                                                                             \
    {                                                                                              \
        "answer_timeout", LB_OPT_DURATION, offsetof(struct exec_options, answer_timeout_ns), "5s", \
            1e6, 600e9, NULL, "longest wait for an answer, beyond the deadline of an acquire"      \
    }

static const struct lb_option exec_options[] = {
    {"program", LB_OPT_TEXT, offsetof(struct exec_options, program), NULL, 0, 0, NULL,
     "command of the client program, one process for each client"},
    ANSWER_TIMEOUT,
    {0},
};
static const struct lb_option null_options[] = {ANSWER_TIMEOUT, {0}};

/* Two descriptors: the socket to the child, and the file for the child's standard error. */
static int exec_descriptors(const struct lb_session *session, uint32_t keys) {
    (void)session;
    (void)keys;
    return 2;
}

static const struct lb_connector connector = {
    .session_bytes = sizeof(struct exec_session),
    .connect = exec_connect,
    .disconnect = exec_disconnect,
    .describe = exec_describe,
    .ping = exec_ping,
    .descriptors = exec_descriptors,
};

/* clang-format off */
static const char *const exec_schemes[] = {
    "redis", "redis+replicas", "redis+sentinel", "redis+cluster", "redis+independents", "rediss", "rediss+replicas",
    "rediss+sentinel", "rediss+cluster", "rediss+independents", "zookeeper", "zookeepers", "etcd", "etcds", "http", "https",
    "postgres", "postgresql", "mysql", "mysqls", "memcached", "memcacheds", "nats", "tls", NULL};
/* clang-format on */

const struct lb_backend backend_exec = {
    .name = "exec",
    .summary = "any program as the client of any server, over lines of JSON",
    .schemes = exec_schemes,
    .topologies =
        (const char *const[]){"redis", "zookeeper", "etcd", "postgres", "mariadb", "memcached",
                              "nats", "redis-replicas", "redis-sentinel", "redis-cluster",
                              "redis-independents", "zookeeper-3", "etcd-3", NULL},
    .program_speaks = true,
    .install = "what the program needs",
    .connector = &connector,
};

const struct lb_backend backend_exec_null = {
    .name = "exec-null",
    .summary = "a child process that grants at once: the cost of exec's pipe",
    .durability_class = "none",
    .connector = &connector,
};

#define EXEC_MEMBERS                                                                               \
    .options = exec_options, .options_bytes = sizeof(struct exec_options),                         \
    .acquire = exec_acquire, .release = exec_release, .settle = exec_settle,                       \
    .residue = exec_residue, .names = exec_names

static const struct lb_algorithm exec_algorithm = {EXEC_MEMBERS, .renew = exec_renew};
/* without renewals: the library keeps its session alive by itself */
static const struct lb_algorithm session_algorithm = {EXEC_MEMBERS};

static const struct lb_algorithm null_algorithm = {
    .options = null_options,
    .options_bytes = sizeof(struct exec_options),
    .acquire = exec_acquire,
    .release = exec_release,
};

const struct lb_lock lock_exec = {
    .name = "exec",
    .summary = "the library that you use, inside a program of yours (exec.program)",
    .backend = &backend_exec,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "as the library waits",
    .keeps = "what the library keeps",
    .needs = "exec.program",
    .about = {.compatible = "whatever the program's library is compatible with",
              .order = "the library's",
              .hazards = "those of the library",
              LB_TERMS(1, 1, LB_ON_ONE_NODE, LB_CRASH_LEASE),
              .crash_slack_ns = LB_S_NS},
    .algorithm = &exec_algorithm,
};

const struct lb_lock lock_exec_session = {
    .name = "exec-session",
    .summary =
        "the same for a library whose grants live as long as a session (exec-session.program)",
    .backend = &backend_exec,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "as the library waits",
    .keeps = "what the library keeps",
    .needs = "exec-session.program",
    .about = {.compatible = "whatever the program's library is compatible with",
              .order = "the library's",
              .hazards =
                  "those of the library; some report late or never that their session is over",
              LB_TERMS(1, 1, LB_ON_ONE_NODE, LB_CRASH_SESSION),
              .crash_slack_ns =
                  6 *
                  LB_S_NS}, /* two ticks of ZooKeeper, and the time to look for ended sessions */
    .algorithm = &session_algorithm,
};

const struct lb_lock lock_exec_null = {
    .name = "exec-null",
    .summary = "a child that grants at once: what exec itself costs, no lock",
    .backend = &backend_exec_null,
    .primitive = LB_NO_PRIMITIVE,
    .caps = LB_CAP_BASELINE | LB_CAP_TRY | LB_CAP_WAIT,
    .waits = "never",
    .about = {.order = "none",
              .guarantee = LB_NO_GUARANTEE,
              .acquire_requests = 1,
              .release_requests = 1},
    .algorithm = &null_algorithm,
};
