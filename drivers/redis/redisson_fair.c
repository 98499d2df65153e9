/* redis-fair: Redisson's RFairLock: RLock with a queue: a list of the holders to be, a sorted set
 * of the moments until which each is believed alive, and a channel for each waiter.
 *
 * First come first served by the list; but who is dead is told by the clients' clocks, and each
 * waiter's moment lies behind that of the one before it. A dead head of the queue blocks the rest
 * until its moment (queue_timeout, or the wait that it had asked for), and those behind it ask
 * without a pause meanwhile, as the real ones do: its script tells them the time to live of a lock
 * that is not there. */
#include "drivers/redis/redisson_rlock.h"

#ifdef LB_HAVE_HIREDIS
#include <stdio.h>

#include "drivers/wait.h"

struct fair_grant {
    struct rlock_grant rlock;
    long long wait_ms; /* as the attempt said: what a place in the queue is worth */
};

/* KEYS name, queue, timeouts in each of the three. */
#define DROP_STALE(now_arg)                                                                        \
    "while true do local head=redis.call('lindex',KEYS[2],0) if not head then break end "          \
    "local over=redis.call('zscore',KEYS[3],head) "                                                \
    "if over and tonumber(over)>tonumber(ARGV[" #now_arg "]) then break end "                      \
    "redis.call('zrem',KEYS[3],head) redis.call('lpop',KEYS[2]) end "
#define TAKE(wait_arg)                                                                             \
    "if redis.call('exists',KEYS[1])==0 and (redis.call('exists',KEYS[2])==0 "                     \
    "or redis.call('lindex',KEYS[2],0)==ARGV[2]) then "                                            \
    "redis.call('lpop',KEYS[2]) redis.call('zrem',KEYS[3],ARGV[2]) "                               \
    "for _,waiter in ipairs(redis.call('zrange',KEYS[3],0,-1)) do "                                \
    "redis.call('zincrby',KEYS[3],-tonumber(ARGV[" #wait_arg "]),waiter) end "                     \
    "redis.call('hset',KEYS[1],ARGV[2],1) redis.call('pexpire',KEYS[1],ARGV[1]) return nil end "   \
    "if redis.call('hexists',KEYS[1],ARGV[2])==1 then "                                            \
    "redis.call('hincrby',KEYS[1],ARGV[2],1) redis.call('pexpire',KEYS[1],ARGV[1]) return nil end "

/* ARGV lease, holder, wait, now. Once: takes it, or joins the queue and says how long the one
 * before may hold; or is in the queue and says how long the holder may. */
static const struct redis_script take_or_queue = {DROP_STALE(4) TAKE(
    3) "if redis.call('zscore',KEYS[3],ARGV[2]) then return math.max(0,redis.call('pttl',KEYS[1])) end "
       "local last=redis.call('lindex',KEYS[2],-1) local left "
       "if last and last~=ARGV[2] then left=tonumber(redis.call('zscore',KEYS[3],last))-tonumber(ARGV[4]) "
       "else left=redis.call('pttl',KEYS[1]) end "
       "if redis.call('zadd',KEYS[3],left+tonumber(ARGV[3])+tonumber(ARGV[4]),ARGV[2])==1 then "
       "redis.call('rpush',KEYS[2],ARGV[2]) end return left"};

/* The same for who does not want to wait: it joins no queue. */
static const struct redis_script take_only = {DROP_STALE(4) TAKE(3) "return 1"};

/* KEYS queue, timeouts; ARGV holder, wait. Those behind move up in time too. */
static const struct redis_script give_up = {
    "local behind=false for _,waiter in ipairs(redis.call('lrange',KEYS[1],0,-1)) do "
    "if behind then redis.call('zincrby',KEYS[2],-tonumber(ARGV[2]),waiter) end "
    "if waiter==ARGV[1] then behind=true end end "
    "redis.call('zrem',KEYS[2],ARGV[1]) redis.call('lrem',KEYS[1],0,ARGV[1])"};

/* KEYS name, queue, timeouts, channel, latch; ARGV message, lease, holder, now, PUBLISH, latch
 * time. Where the lock is gone already the real one answers 1, as if it had freed it; the 2 is
 * ours, and nothing else differs. */
#define TELL_HEAD                                                                                  \
    "local head=redis.call('lindex',KEYS[2],0) "                                                   \
    "if head then redis.call(ARGV[5],KEYS[4]..':'..head,ARGV[1]) end "
static const struct redis_script unlock = {
    REDISSON_IF_DONE(5)
        DROP_STALE(4) "if redis.call('exists',KEYS[1])==0 then " TELL_HEAD REDISSON_DONE(
            5, 1, 6) "return 2 end "
                     "if redis.call('hexists',KEYS[1],ARGV[3])==0 then return nil end "
                     "if redis.call('hincrby',KEYS[1],ARGV[3],-1)>0 then "
                     "redis.call('pexpire',KEYS[1],ARGV[2]) " REDISSON_DONE(
                         5, 0, 6) "return 0 end "
                                  "redis.call('del',KEYS[1]) " TELL_HEAD REDISSON_DONE(
                                      5, 1, 6) "return 1"};

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
    struct redisson_number now = redisson_number(redisson_now_ms());
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
    return redisson_unlock(session, NULL, request, &unlock, 5, words, 11, ret_held);
}

static enum lb_outcome ask(struct redisson_try *one, const struct redis_script *script,
                           int64_t *ret_left_ns) {
    const struct lb_request *request = one->request;
    const struct fair_grant *mine = one->grant->data;
    struct fair_names names;
    char lease[24];
    name_both(request, &names);
    redis_lease_ms(request->lease_ns, lease);
    struct redisson_number wait = redisson_number(mine->wait_ms),
                           now = redisson_number(redisson_now_ms());
    const struct redis_word words[] = {
        {request->key, request->key_len}, {names.queue, 0}, {names.timeouts, 0}, {lease, 0},
        {mine->rlock.holder, 0},          {wait.text, 0},   {now.text, 0}};
    const struct redis_reply *reply = NULL;
    bool synced = true, held = false;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        redisson_run_synced(one->session, NULL, script, 3, words, 7, &reply, &synced);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_INTEGER) {
        *ret_left_ns = rlock_left_ns(reply->value.integer);
        return LB_BUSY;
    }
    if (reply->value.type != REDIS_NIL) return redis_refuse(one->session, reply);
    if (!synced) {
        outcome = unlock_once(one->session, request, one->grant, &held);
        return outcome == LB_OK || outcome == LB_LOST ? redisson_not_synced(one->session) : outcome;
    }
    one->grant->token = 0;
    one->grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

static enum lb_outcome ask_or_queue(struct redisson_try *one, int64_t *ret_left_ns) {
    return ask(one, &take_or_queue, ret_left_ns);
}

static enum lb_outcome ask_only(struct redisson_try *one, int64_t *ret_left_ns) {
    return ask(one, &take_only, ret_left_ns);
}

/* Leaves the queue. */
static enum lb_outcome leave(struct lb_session *session, const struct lb_request *request,
                             const struct fair_grant *mine) {
    struct fair_names names;
    name_both(request, &names);
    struct redisson_number wait = redisson_number(mine->wait_ms);
    const struct redis_word words[] = {
        {names.queue, 0}, {names.timeouts, 0}, {mine->rlock.holder, 0}, {wait.text, 0}};
    const struct redis_reply *reply = NULL;
    if (!lb_stopping()) return redisson_run(session, NULL, &give_up, 2, words, 4, &reply);
    /* The run is cut off: there is no time for an answer, but the place must not stay. */
    struct redis_node *node = NULL;
    enum lb_outcome outcome = redis_node_of(session, request->key, request->key_len, &node);
    const struct redis_command command = {&give_up, words, 4, 2};
    return outcome == LB_OK ? redis_post(session, node, &command) : outcome;
}

static enum lb_outcome fair_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    const struct redisson_options *options = session->options;
    struct fair_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX], after[REDISSON_HOLDER_MAX + 1];
    int64_t wait_ns = request->deadline_ns - lb_now();
    bool once = request->deadline_ns <= lb_now();
    if (once || request->deadline_ns == LB_NEVER) wait_ns = options->queue_timeout_ns;
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
    if (outcome == LB_OK || outcome == LB_BUSY || outcome == LB_UNKNOWN || once) return outcome;
    enum lb_outcome left = leave(session, request, mine);
    return left == LB_OK ? outcome : left == LB_BROKEN ? LB_UNKNOWN : left;
}

static enum lb_outcome fair_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    bool held = false;
    return unlock_once(session, request, grant, &held);
}

static enum lb_outcome fair_settle(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    const struct fair_grant *mine = grant->data;
    enum lb_outcome outcome = LB_OK;
    if (mine->rlock.holder[0]) outcome = leave(session, request, mine);
    return outcome == LB_OK ? redisson_settle(session, request, grant, unlock_once) : outcome;
}

static int fair_residue(struct lb_session *session, const char *prefix,
                        struct lb_residue *ret_residue, struct lb_err *err) {
    static const char *const keys[] = {"", "redisson_lock_queue:{", "redisson_lock_timeout:{",
                                       "redisson_unlock_latch:{", NULL};
    static const char *const channels[] = {"redisson_lock__channel:{", NULL};
    return redisson_residue(session, prefix, keys, channels, ret_residue, err);
}

static const struct lb_option fair_options[] = {
    REDISSON_OPTIONS,
    {"queue_timeout", LB_OPT_DURATION, offsetof(struct redisson_options, queue_timeout_ns), "300s",
     1e6, 3600e9, NULL,
     "how long a waiter without a deadline is believed alive (fairLockWaitTimeout)"},
    {0}};
#endif

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
        {.compatible = REDISSON_COMPATIBLE("RFairLock"),
         .order = "first come, first served, while the clients' clocks agree",
         .hazards =
             "the clients' clocks say who is dead; a dead head blocks the queue until its time is over "
             "(5 min by default), and those behind ask without a pause; a head that gives up as it is "
             "told tells nobody; each grant costs as much as the queue is long",
         .acquire_requests = 1,
         .release_requests = 2,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_LEASE},
    .expected = redis_fair_expected,
    LB_IF_HIREDIS(.options = fair_options, .options_bytes = sizeof(struct redisson_options),
                  .session_bytes = sizeof(struct redisson_session),
                  .grant_bytes = sizeof(struct fair_grant), .acquire = fair_acquire,
                  .release = fair_release, .renew = rlock_renew, .settle = fair_settle,
                  .residue = fair_residue, )};
