/* redis-fair: Redisson's RFairLock: RLock with a queue. There is a list of the waiters, a sorted set with a
 * time limit for each waiter, and a channel for each waiter.
 *
 * The list makes it first come, first served. A waiter counts as dead when its limit has passed by the
 * clients' clocks; each waiter's limit is later than that of the waiter before it. If the first waiter dies,
 * it blocks the others until its limit (queue_timeout, or the wait that it asked for). Meanwhile the waiters
 * behind it ask again without a pause, as the real ones do, because the script answers them with the time to
 * live of a lock that does not exist. */
#include "drivers/redis/redisson.h"

#include <stdio.h>

#include "drivers/wait.h"

REDIS_SCRIPT_FROM(fair_try, fair_take_or_queue);
REDIS_SCRIPT_FROM(fair_try, fair_take);
REDIS_SCRIPT(fair_give_up);
REDIS_SCRIPT(fair_unlock);

/* Leaves the queue. */
static enum lb_outcome leave_queue(struct lb_session *session, const struct lb_request *request,
                                   const struct lb_grant *grant) {
    static const struct redisson_call give_up = {&script_fair_give_up, "AB hW"};
    const struct redis_reply *reply = NULL;
    if (!lb_stopping()) return redisson_run(session, request, grant, &give_up, &reply);
    /* The run is cut off: there is no time to wait for an answer, but the place must be removed. */
    struct redis_node *node = NULL;
    struct redisson_words words;
    redisson_fill(session, request, grant, &give_up, &words);
    enum lb_outcome outcome = redis_node_of(session, request->key, request->key_len, &node);
    return outcome == LB_OK ? redis_post(session, node, &words.command) : outcome;
}

static enum lb_outcome fair_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    const struct redisson_options *options = session->options;
    struct redisson_grant *mine = grant->data;
    char after[REDISSON_HOLDER_MAX + 1];
    int64_t now_ns = lb_now(), wait_ns = options->queue_timeout_ns;
    bool once = request->deadline_ns <= now_ns;
    if (!once && request->deadline_ns != LB_NEVER) wait_ns = request->deadline_ns - now_ns;
    mine->wait_ms = (wait_ns + LB_MS_NS - 1) / LB_MS_NS;
    redisson_holder(session, request, grant);
    snprintf(after, sizeof after, ":%s", mine->holder); /* each waiter has a channel of its own */
    enum lb_outcome outcome = redisson_await(session, request, grant, !once, after);
    if (outcome == LB_OK || outcome == LB_UNKNOWN || once) return outcome;
    /* Also after LB_BUSY: if the deadline has passed after `once` was computed, the client has queued. */
    enum lb_outcome left = leave_queue(session, request, grant);
    return left == LB_OK ? outcome : left == LB_BROKEN ? LB_UNKNOWN : left;
}

static enum lb_outcome fair_settle(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    const struct redisson_grant *mine = grant->data;
    enum lb_outcome outcome = LB_OK;
    if (mine->holder[0]) outcome = leave_queue(session, request, grant);
    return outcome == LB_OK ? redisson_settle(session, request, grant) : outcome;
}

static const struct lb_option fair_options[] = {
    REDISSON_OPTIONS,
    {"queue_timeout", LB_OPT_DURATION, offsetof(struct redisson_options, queue_timeout_ns), "300s",
     1e6, 3600e9, NULL,
     "how long a waiter without a deadline is believed alive (fairLockWaitTimeout)"},
    {0}};

static const struct redisson_recipe recipe = {
    .take = {{&script_fair_take, "kAB lhWn"}, {&script_fair_take_or_queue, "kAB lhWn"}},
    .unlock = {{&script_fair_unlock, "kABcu 0lhnPL"}},
    RLOCK_EXTEND,
    RLOCK_CHANNEL,
    .keys = (const char *const[]){"redisson_lock_queue:", "redisson_lock_timeout:",
                                  REDISSON_LATCHES, NULL},
};

static const struct lb_algorithm algorithm = {
    REDISSON_MEMBERS,        .options = fair_options,
    .acquire = fair_acquire, .release = redisson_release,
    .renew = redisson_renew, .settle = fair_settle,
};

const struct lb_lock lock_redis_fair = {
    .name = "redis-fair",
    .summary = "Redisson's RFairLock: RLock with a queue, each waiter told on a channel of its own",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_FAIR |
            LB_CAP_REENTRANT | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "a message of its own channel, at most until the lease ends",
    .about =
        {REDISSON_ABOUT("RFairLock", 1, 2, LB_CRASH_LEASE),
         .order = "first come, first served, while the clients' clocks agree",
         .hazards =
             "the clients' clocks decide which waiter is dead; a dead first waiter blocks the "
             "queue until its time is over (5 min by default), while the waiters behind it ask "
             "without pause; if the first waiter times out just as it is notified, nobody else "
             "is notified; the cost of a grant grows with the queue"},
    .algorithm = &algorithm,
    .recipe = &recipe,
};
