/* redis-redlock: SET NX PX on five independent servers. A client holds the lock if a majority
 * granted it, for the lease less the time that the requests took and less the drift of the servers'
 * clocks. It follows the text of redis.io, with the figures of node-redlock: drift 1 % and 2 ms.
 * Compatible with it and with redsync: the same key, a random token, the same effects of release
 * and extension. All servers are asked at once; one that does not answer in node_timeout has not granted. It has no
 * order and no fencing token, which would need consensus. A late server gets the release on the same connection as the
 * SET and after it, so nothing stays behind. A server that restarts empty within a lease may grant
 * the lock again; if two of five do so, there is a second majority. redis.io's advice: keep such a
 * server out for the time of a lease, or fsync always. */
#include "drivers/redis/string.h"

struct redlock_options {
    struct string_options string; /* first: see string_acquire */
    int64_t node_timeout_ns;
};

#define TRIES_MAX 3 /* the most tries in a row while too few servers answer in time */

/* The number of servers with each kind of answer to one command. */
struct votes {
    int count, yes, no;
    int late; /* no answer yet: the server may still carry out the command, and then later commands */
    /* a connection was lost: its server may still carry out the command, even after a later release */
    bool unsure;
};

static int majority(int count) {
    return count / 2 + 1;
}

static struct votes ask_all(struct lb_session *session, const struct redis_command *command) {
    const struct redlock_options *options = session->options;
    struct redis_answer answers[REDIS_NODES_MAX];
    struct votes votes = {0};
    votes.count = redis_all(session, command, options->node_timeout_ns, answers);
    for (int i = 0; i < votes.count; i++) {
        const struct redis_value *value = answers[i].reply ? &answers[i].reply->value : NULL;
        votes.late += answers[i].late;
        votes.unsure |= answers[i].outcome == LB_UNKNOWN && !answers[i].late;
        if (answers[i].outcome != LB_OK || !value) continue;
        if (value->type == REDIS_STATUS || (value->type == REDIS_INTEGER && value->integer == 1))
            votes.yes++;
        else if (value->type == REDIS_NIL || (value->type == REDIS_INTEGER && value->integer == 0))
            votes.no++;
        else
            redis_refuse(session, answers[i].reply);
    }
    return votes;
}

static struct votes ask_owner_checked(struct lb_session *session, const struct lb_request *request,
                                      const struct lb_grant *grant,
                                      const struct redis_script *script, const char *argument) {
    const struct string_grant *mine = grant->data;
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {mine->token, 2 * STRING_TOKEN_BYTES},
                                       {argument ? argument : "", 0}};
    const struct redis_command command = {
        .script = script, .words = words, .count = argument ? 3 : 2, .keys = 1};
    return ask_all(session, &command);
}

/* Fails the operation because too few servers answered. */
static enum lb_outcome no_majority(struct lb_session *session, const struct votes *votes,
                                   bool unsure) {
    return lb_fail(session, unsure ? LB_UNKNOWN : LB_BROKEN,
                   "redis: %d of %d servers answered; a majority is %d", votes->yes + votes->no,
                   votes->count, majority(votes->count));
}

/* The part of a lease that the holder must not rely on: the servers' clocks drift, and keys expire by whole
 * milliseconds. */
static int64_t drift_ns(int64_t lease_ns) {
    return lease_ns / 100 + 2 * LB_MS_NS;
}

/* Sends the release on the connections that carried the SET. True if a majority of the servers has carried out
 * the release or will do so after the SET: then this client holds nothing, now and later. False with
 * session->err. */
static bool undo(struct lb_session *session, const struct lb_request *request,
                 const struct lb_grant *grant) {
    struct votes votes = ask_owner_checked(session, request, grant, &script_string_release, NULL);
    if (votes.yes + votes.no + votes.late < majority(votes.count)) {
        no_majority(session, &votes, true);
        return false;
    }
    session->err.code = 0; /* failures of a minority do not matter */
    return true;
}

/* Sends SET NX PX to all servers at once; a majority must grant. LB_OK with *ret_sent_ns, a moment
 * before the first command was sent, and *ret_elapsed_ns, the time from then until the last answer. Otherwise all
 * servers, also those that failed, have been sent a release: LB_BUSY, and nothing is held; LB_BROKEN: no majority
 * could be reached for the SET, and nothing is held; LB_UNKNOWN: no majority could be reached for the release
 * either. */
static enum lb_outcome redlock_try(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant, int64_t *ret_sent_ns,
                                   int64_t *ret_elapsed_ns) {
    const struct string_grant *mine = grant->data;
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    const struct redis_word words[] = {STRING_SET(request->key, request->key_len, mine, lease_ms)};
    const struct redis_command command = {.words = words, .count = 6};
    for (int tries = 1;; tries++) {
        int64_t sent_ns = lb_now();
        struct votes votes = ask_all(session, &command);
        int need = majority(votes.count);
        if (votes.yes >= need) {
            session->err.code = 0;
            *ret_sent_ns = sent_ns;
            *ret_elapsed_ns = lb_now() - sent_ns;
            return LB_OK;
        }
        bool sent = votes.yes > 0 || votes.late > 0 || votes.unsure;
        if (sent && !undo(session, request, grant)) return LB_UNKNOWN;
        if (votes.yes + votes.no + votes.late < need) return no_majority(session, &votes, false);
        bool answered = votes.yes + votes.no >= need;
        if (!answered && (tries == TRIES_MAX || lb_now() >= request->deadline_ns))
            return no_majority(session, &votes, true);
        session->err.code = 0;
        if (answered) return LB_BUSY;
    }
}

/* Refuses a URL with fewer than three servers or with servers that are not independent, and a session with fewer
 * servers than a majority. */
static int redlock_prepare(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    (void)deadline_ns;
    int count = redis_node_count(session), up = redis_node_up_count(session);
    if (!redis_are_independent(session) || count < 3)
        return err_set(
            err, LB_EXIT_USAGE,
            "%s needs at least three independent servers, redis+independents://host1,host2,host3",
            session->lock->name);
    if (up < majority(count))
        return err_set(err, LB_EXIT_MACHINE,
                       "redis: only %d of %d servers can be reached; a majority is %d", up, count,
                       majority(count));
    return 0;
}

static enum lb_outcome redlock_release(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    struct votes votes = ask_owner_checked(session, request, grant, &script_string_release, NULL);
    int need = majority(votes.count);
    if (votes.yes >= need || votes.no > votes.count - need) session->err.code = 0;
    if (votes.yes >= need) return LB_OK;
    /* Too many servers do not have the key: the others are no majority. */
    if (votes.no > votes.count - need) return LB_LOST;
    return no_majority(session, &votes, true);
}

/* Tries once to extend the lock. LB_OK, LB_LOST, or LB_UNKNOWN: too few servers have answered. */
static enum lb_outcome extend(struct lb_session *session, const struct lb_request *request,
                              struct lb_grant *grant) {
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    int64_t sent_ns = lb_now();
    struct votes votes = ask_owner_checked(session, request, grant, &script_string_renew, lease_ms);
    int need = majority(votes.count);
    if (votes.yes < need && votes.no <= votes.count - need)
        return no_majority(session, &votes, true);
    session->err.code = 0;
    int64_t end_ns = sent_ns + request->lease_ns - drift_ns(request->lease_ns);
    if (votes.yes < need || lb_now() >= end_ns) return LB_LOST;
    grant->lease_end_ns = end_ns;
    return LB_OK;
}

static enum lb_outcome redlock_renew(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    enum lb_outcome outcome = LB_UNKNOWN;
    for (int tries = 0; tries < TRIES_MAX && outcome == LB_UNKNOWN; tries++) {
        session->err.code = 0;
        outcome = extend(session, request, grant);
    }
    return outcome;
}

/* The connections are new. A server may still execute what the old connections sent, so only
 * answers count. */
static enum lb_outcome redlock_settle(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct votes votes = ask_owner_checked(session, request, grant, &script_string_release, NULL);
    if (votes.yes + votes.no < majority(votes.count)) return no_majority(session, &votes, true);
    session->err.code = 0;
    return LB_OK;
}

static enum lb_outcome try_valid(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    int64_t sent_ns = 0, elapsed_ns = 0;
    enum lb_outcome outcome = redlock_try(session, request, grant, &sent_ns, &elapsed_ns);
    if (outcome != LB_OK) return outcome;
    int64_t usable_ns = request->lease_ns - drift_ns(request->lease_ns);
    if (usable_ns - elapsed_ns <= 0) return undo(session, request, grant) ? LB_BUSY : LB_UNKNOWN;
    return lb_granted(grant, 0, sent_ns + usable_ns);
}

static const struct lb_option redlock_option_table[] = {
    BACKOFF_OPTIONS(struct redlock_options, string.poll, "50ms", "200ms"),
    {"node_timeout", LB_OPT_DURATION, offsetof(struct redlock_options, node_timeout_ns), "200ms",
     1e6, 60e9, NULL, "longest wait for one server's answer; then it has not granted"},
    {0},
};

static const char *const redlock_topologies[] = {"redis-independents", NULL};

/* The members that the algorithms of these locks share; each lock sets renew itself. */
#define REDLOCK_MEMBERS                                                                            \
    STRING_KEY, STRING_OPTIONS(redlock_option_table, struct redlock_options),                      \
        .grant_bytes = sizeof(struct string_grant), .prepare = redlock_prepare,                    \
        .acquire = string_acquire, .release = redlock_release, .settle = redlock_settle

static const struct lb_algorithm algorithm = {
    REDLOCK_MEMBERS,
    .renew = redlock_renew,
};

const struct lb_lock lock_redis_redlock = {
    .name = "redis-redlock",
    .summary =
        "SET NX PX on a majority of independent servers, with the validity computed (redis.io's "
        "Redlock)",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_FAILOVER | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .topologies = redlock_topologies,
    .about = {.compatible =
                  "node-redlock; redsync and others that follow redis.io's text, by their "
                  "protocol (not tested)",
              .order = "none; contenders may split the votes and all try again",
              .hazards =
                  "a second holder can enter after a pause longer than the lease, a jump of a "
                  "server's clock, or a restart of servers without data within a lease; no fencing "
                  "token",
              LB_TERMS(5, 5, LB_ON_MAJORITY, LB_CRASH_LEASE),
              .crash_slack_ns = 500 * LB_MS_NS},
    .algorithm = &algorithm,
    STRING_TRY(try_valid),
};

/* unsafe-redlock-no-validity: redis-redlock that counts its lease from the answer of the majority, and accepts a
 * grant however little of the lease is left. A control: the checks must catch it. */

static enum lb_outcome try_anyhow(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    int64_t sent_ns = 0, elapsed_ns = 0;
    enum lb_outcome outcome = redlock_try(session, request, grant, &sent_ns, &elapsed_ns);
    if (outcome != LB_OK) return outcome;
    return lb_granted(grant, 0, sent_ns + elapsed_ns + request->lease_ns);
}

const struct lb_lock lock_unsafe_redlock_no_validity = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redlock-no-validity",
    .summary = "Redlock whose lease is counted from after the majority, without validity or drift",
    .caps = UNSAFE_CAPS,
    .topologies = redlock_topologies,
    .about = {UNSAFE_ABOUT(5, 5), .crash = LB_CRASH_LEASE, .crash_slack_ns = 500 * LB_MS_NS,
              .mistake =
                  "introductory articles: Redlock keys that live for some tens of milliseconds, "
                  "and no validity computed: the time that asking took is missing at the end of "
                  "the lease",
              .exposed_by = "slow-quorum", .exposed_as = LB_EXPOSED_VIOLATED},
    STRING_TRY(try_anyhow),
    .algorithm = &(const struct lb_algorithm){REDLOCK_MEMBERS},
};
