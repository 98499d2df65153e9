/* redis-wait: SET NX PX and WAIT, sent together on one connection. WAIT counts the replicas that
 * acknowledged the last write of its own connection, so it must use the same one. If too few
 * replicas answer in time, the key is deleted again, and the try counts as busy. A renewal waits in
 * the same way; if too few replicas acknowledge it, the holder does not rely on the extension.
 * Release is redis-setnx's; every client of SET NX PX is excluded. With `short = accept` the lock
 * does what many programs do: it waits and ignores the count. WAIT makes it more likely, but not
 * certain, that a promoted replica knows the lock: another replica than the one that acknowledged
 * may be promoted. */
#include "drivers/redis/string.h"

#include <stdio.h>

struct wait_options {
    struct string_options string; /* first: see string_acquire */
    int64_t replicas, timeout_ns;
    int64_t accept; /* too few replicas are accepted */
};

/* A write and its WAIT. */
static enum lb_outcome write_and_wait(struct lb_session *session, const struct redis_command *write,
                                      const struct redis_reply **ret_written, bool *ret_enough) {
    const struct wait_options *options = session->options;
    char replicas[24], timeout_ms[24];
    snprintf(replicas, sizeof replicas, "%lld", (long long)options->replicas);
    redis_lease_ms(options->timeout_ns, timeout_ms);
    const struct redis_word words[] = {{"WAIT", 4}, {replicas, 0}, {timeout_ms, 0}};
    const struct redis_command commands[] = {*write, {.words = words, .count = 3}};
    const struct redis_reply *replies = NULL;
    enum lb_outcome outcome = redis_pipe(session, NULL, commands, 2, &replies);
    if (outcome != LB_OK) return outcome;
    *ret_written = &replies[0];
    *ret_enough = options->accept || (replies[1].value.type == REDIS_INTEGER &&
                                      replies[1].value.integer >= options->replicas);
    return LB_OK;
}

static const struct lb_option wait_options[] = {
    BACKOFF_OPTIONS(struct wait_options, string.poll, "1ms", "64ms"),
    {"replicas", LB_OPT_INT, offsetof(struct wait_options, replicas), "1", 1, 100, NULL,
     "how many replicas must have acknowledged the lock; with two, 1 makes a majority of three"},
    {"wait_timeout", LB_OPT_DURATION, offsetof(struct wait_options, timeout_ns), "100ms", 1e6, 60e9,
     NULL, "longest wait for them; must be less than the backend's command_timeout"},
    {"short", LB_OPT_CHOICE, offsetof(struct wait_options, accept), "refuse", 0, 0, "refuse,accept",
     "what to do when too few have it by then; accept: hold the lock all the same"},
    {0},
};

static const struct lb_algorithm algorithm = {
    STRING_KEY,
    STRING_OPTIONS(wait_options, struct wait_options),
    .grant_bytes = sizeof(struct string_grant),
    .acquire = string_acquire,
    .release = string_release,
    .renew = string_renew,
    .settle = string_settle,
};

const struct lb_lock lock_redis_wait = {
    .name = "redis-wait",
    .summary =
        "SET NX PX and WAIT for replicas in one round trip, deleted again if too few acknowledge",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .topologies = (const char *const[]){"redis-replicas", "redis-sentinel", "redis-cluster", NULL},
    .about = {.compatible = "as redis-setnx: every client that uses SET NX PX with a random token",
              .order = "none",
              .hazards =
                  "WAIT makes a safe failover more likely, not certain: a replica without the lock "
                  "may be promoted; with a replica that hangs every acquire waits and fails",
              LB_TERMS(2, 1, LB_ON_ASYNC_REPLICA, LB_CRASH_LEASE),
              .crash_slack_ns = 500 * LB_MS_NS},
    .algorithm = &algorithm,
    .recipe = &(const struct string_recipe){.write = write_and_wait},
};
