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

struct fair_grant {
    struct rlock_grant rlock;
    long long
        wait_ms; /* the wait that the attempt asked for: it sets the limit of its place in the queue */
};

REDIS_SCRIPT_FROM(fair_try, fair_take_or_queue);
REDIS_SCRIPT_FROM(fair_try, fair_take);
REDIS_SCRIPT(fair_give_up);
REDIS_SCRIPT(fair_unlock);

struct fair_names {
    char queue[REDISSON_NAME_MAX], timeouts[REDISSON_NAME_MAX];
};

static void name_both(const struct lb_request *request, struct fair_names *names) {
    redisson_name(request, "redisson_lock_queue:", "", names->queue);
    redisson_name(request, "redisson_lock_timeout:", "", names->timeouts);
}

static enum lb_outcome unlock_once(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant, bool *ret_held) {
    const struct fair_grant *mine = grant->data;
    struct fair_names names;
    char channel[REDISSON_NAME_MAX], latch[REDISSON_NAME_MAX], lease[24];
    if (!mine->rlock.holder[0]) return LB_LOST;
    name_both(request, &names);
    rlock_channel(request, channel);
    redisson_latch(session, request, latch);
    redis_lease_ms(request->lease_ns, lease);
    struct redisson_number now = redisson_number(redisson_now_ms(session));
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {names.queue, 0},
                                       {names.timeouts, 0},
                                       {channel, 0},
                                       {latch, 0},
                                       {"0", 1},
                                       {lease, 0},
                                       {mine->rlock.holder, 0},
                                       {now.text, 0},
                                       {redisson_publish(session), 0},
                                       {REDISSON_LATCH_MS, 0}};
    return redisson_unlock(session, request, &script_fair_unlock, 5, words, 11, ret_held);
}

static enum lb_outcome run_take(struct redisson_try *one, const struct redis_script *script,
                                int64_t *ret_left_ns) {
    const struct lb_request *request = one->request;
    const struct fair_grant *mine = one->grant->data;
    struct fair_names names;
    char lease[24];
    name_both(request, &names);
    redis_lease_ms(request->lease_ns, lease);
    struct redisson_number wait = redisson_number(mine->wait_ms),
                           now = redisson_number(redisson_now_ms(one->session));
    const struct redis_word words[] = {
        {request->key, request->key_len}, {names.queue, 0}, {names.timeouts, 0}, {lease, 0},
        {mine->rlock.holder, 0},          {wait.text, 0},   {now.text, 0}};
    return rlock_try(one, script, 3, words, 7, ret_left_ns);
}

static enum lb_outcome ask_or_queue(struct redisson_try *one, int64_t *ret_left_ns) {
    return run_take(one, &script_fair_take_or_queue, ret_left_ns);
}

static enum lb_outcome ask_only(struct redisson_try *one, int64_t *ret_left_ns) {
    return run_take(one, &script_fair_take, ret_left_ns);
}

/* Leaves the queue. */
static enum lb_outcome leave_queue(struct lb_session *session, const struct lb_request *request,
                                   const struct fair_grant *mine) {
    struct fair_names names;
    name_both(request, &names);
    struct redisson_number wait = redisson_number(mine->wait_ms);
    const struct redis_word words[] = {
        {names.queue, 0}, {names.timeouts, 0}, {mine->rlock.holder, 0}, {wait.text, 0}};
    const struct redis_reply *reply = NULL;
    if (!lb_stopping()) return redis_run(session, &script_fair_give_up, 2, words, 4, &reply);
    /* The run is cut off: there is no time to wait for an answer, but the place must be removed. */
    struct redis_node *node = NULL;
    enum lb_outcome outcome = redis_node_of(session, request->key, request->key_len, &node);
    const struct redis_command command = {&script_fair_give_up, words, 4, 2};
    return outcome == LB_OK ? redis_post(session, node, &command) : outcome;
}

static enum lb_outcome fair_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    const struct redisson_options *options = session->options;
    struct fair_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX], after[REDISSON_HOLDER_MAX + 1];
    int64_t now_ns = lb_now(), wait_ns = options->queue_timeout_ns;
    bool once = request->deadline_ns <= now_ns;
    if (!once && request->deadline_ns != LB_NEVER) wait_ns = request->deadline_ns - now_ns;
    mine->wait_ms = (wait_ns + LB_MS_NS - 1) / LB_MS_NS;
    redisson_holder(session, request, "", mine->rlock.holder);
    snprintf(after, sizeof after, ":%s", mine->rlock.holder);
    redisson_name(request, "redisson_lock__channel:", after, channel);
    enum lb_outcome outcome =
        redisson_await(&(struct redisson_try){.session = session,
                                              .request = request,
                                              .grant = grant,
                                              .ask = once ? ask_only : ask_or_queue,
                                              .channel = channel});
    if (outcome == LB_OK || outcome == LB_UNKNOWN || once) return outcome;
    /* Also after LB_BUSY: if the deadline has passed after `once` was computed, the client has queued. */
    enum lb_outcome left = leave_queue(session, request, mine);
    return left == LB_OK ? outcome : left == LB_BROKEN ? LB_UNKNOWN : left;
}

static enum lb_outcome fair_settle(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    const struct fair_grant *mine = grant->data;
    enum lb_outcome outcome = LB_OK;
    if (mine->rlock.holder[0]) outcome = leave_queue(session, request, mine);
    return outcome == LB_OK ? redisson_settle(session, request, grant) : outcome;
}

static const struct lb_option fair_options[] = {
    REDISSON_OPTIONS,
    {"queue_timeout", LB_OPT_DURATION, offsetof(struct redisson_options, queue_timeout_ns), "300s",
     1e6, 3600e9, NULL,
     "how long a waiter without a deadline is believed alive (fairLockWaitTimeout)"},
    {0}};

static const struct redisson_recipe recipe = {
    .unlock = unlock_once,
    .keys = (const char *const[]){"", "redisson_lock_queue:{", "redisson_lock_timeout:{",
                                  "redisson_unlock_latch:{", NULL},
    .channels = rlock_channels,
};

static const struct lb_algorithm algorithm = {
    .options = fair_options,
    .options_bytes = sizeof(struct redisson_options),
    .session_bytes = sizeof(struct redisson_session),
    .connections = 2, /* one subscribes */
    .grant_bytes = sizeof(struct fair_grant),
    .acquire = fair_acquire,
    .release = redisson_release,
    .renew = rlock_renew,
    .settle = fair_settle,
    .residue = redisson_residue,
    .names = redisson_names,
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
        {REDISSON_ABOUT("RFairLock", 1, 2),
         .order = "first come, first served, while the clients' clocks agree",
         .hazards =
             "the clients' clocks decide which waiter is dead; a dead first waiter blocks the "
             "queue until its time is over (5 min by default), while the waiters behind it ask "
             "without pause; if the first waiter times out just as it is notified, nobody else "
             "is notified; the cost of a grant grows with the queue",
         .crash = LB_CRASH_LEASE},
    .algorithm = &algorithm,
    .recipe = &recipe,
};
