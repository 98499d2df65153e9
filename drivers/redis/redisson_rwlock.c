/* redis-rwlock: Redisson's RReadWriteLock: a hash with the field `mode` and a field for each
 * holder, and for each read hold a key whose only use is its time to live.
 *
 * Readers come in as long as one reader is there, so they starve writers. A writer may also read;
 * when it then lets go of writing, the mode becomes read and nobody is told: readers that wait go
 * on waiting until the time that they were told is over. There is no way up from reading to
 * writing. */
#include "drivers/redis/redisson_rlock.h"

#ifdef LB_HAVE_HIREDIS
#include <stdio.h>
#include <string.h>

struct rw_grant {
    char reader[REDISSON_HOLDER_MAX], writer[REDISSON_HOLDER_MAX]; /* "" = never asked */
};

/* KEYS name, the reader's timeout keys without their number; ARGV lease, reader, writer. */
static const struct redis_script take_read = {
    "local mode=redis.call('hget',KEYS[1],'mode') "
    "if not mode then redis.call('hset',KEYS[1],'mode','read') redis.call('hset',KEYS[1],ARGV[2],1) "
    "redis.call('set',KEYS[2]..':1',1,'px',ARGV[1]) redis.call('pexpire',KEYS[1],ARGV[1]) return nil end "
    "if mode=='read' or (mode=='write' and redis.call('hexists',KEYS[1],ARGV[3])==1) then "
    "local n=redis.call('hincrby',KEYS[1],ARGV[2],1) redis.call('set',KEYS[2]..':'..n,1,'px',ARGV[1]) "
    "redis.call('pexpire',KEYS[1],math.max(redis.call('pttl',KEYS[1]),tonumber(ARGV[1]))) return nil end "
    "return redis.call('pttl',KEYS[1])"};

/* KEYS name; ARGV lease, writer. A second hold's lease is added to what is left of the first's. */
static const struct redis_script take_write = {
    "local mode=redis.call('hget',KEYS[1],'mode') "
    "if not mode then redis.call('hset',KEYS[1],'mode','write') redis.call('hset',KEYS[1],ARGV[2],1) "
    "redis.call('pexpire',KEYS[1],ARGV[1]) return nil end "
    "if mode=='write' and redis.call('hexists',KEYS[1],ARGV[2])==1 then "
    "redis.call('hincrby',KEYS[1],ARGV[2],1) "
    "redis.call('pexpire',KEYS[1],redis.call('pttl',KEYS[1])+tonumber(ARGV[1])) return nil end "
    "return redis.call('pttl',KEYS[1])"};

/* Both answer 2 where the real ones answer 1 for a lock that is not there, and this one 3 where
 * others hold on but this reader does not; nothing else differs. KEYS name, channel, the reader's
 * timeout keys, all timeout keys, latch; ARGV message, PUBLISH, reader, latch time. */
static const struct redis_script unlock_read = {REDISSON_IF_DONE(
    5) "local mode=redis.call('hget',KEYS[1],'mode') "
       "if not mode then redis.call(ARGV[2],KEYS[2],ARGV[1]) " REDISSON_DONE(
           5, 1,
           4) "return 2 end "
              "if redis.call('hexists',KEYS[1],ARGV[3])==0 then return nil end "
              "local n=redis.call('hincrby',KEYS[1],ARGV[3],-1) "
              "if n==0 then redis.call('hdel',KEYS[1],ARGV[3]) end "
              "redis.call('del',KEYS[3]..':'..(n+1)) "
              "if redis.call('hlen',KEYS[1])>1 then local longest=-3 "
              "for _,field in ipairs(redis.call('hkeys',KEYS[1])) do "
              "for i=tonumber(redis.call('hget',KEYS[1],field)) or 0,1,-1 do "
              "longest=math.max(longest,redis.call('pttl',KEYS[4]..':'..field..':rwlock_timeout:'..i)) "
              "end end "
              "if longest>0 then redis.call('pexpire',KEYS[1],longest) end "
              "if longest>0 or mode=='write' then " REDISSON_DONE(
                  5, 0,
                  4) "if n>0 then return 0 end return 3 end end "
                     "redis.call('del',KEYS[1]) redis.call(ARGV[2],KEYS[2],ARGV[1]) " REDISSON_DONE(
                         5, 1, 4) "return 1"};

/* KEYS name, channel, latch; ARGV message, PUBLISH, writer, latch time, lease. */
static const struct redis_script unlock_write = {REDISSON_IF_DONE(
    3) "local mode=redis.call('hget',KEYS[1],'mode') "
       "if not mode then redis.call(ARGV[2],KEYS[2],ARGV[1]) " REDISSON_DONE(
           3, 1,
           4) "return 2 end "
              "if mode~='write' or redis.call('hexists',KEYS[1],ARGV[3])==0 then return nil end "
              "if redis.call('hincrby',KEYS[1],ARGV[3],-1)>0 then "
              "redis.call('pexpire',KEYS[1],ARGV[5]) " REDISSON_DONE(
                  3, 0, 4) "return 0 end "
                           "redis.call('hdel',KEYS[1],ARGV[3]) "
                           "if redis.call('hlen',KEYS[1])==1 then redis.call('del',KEYS[1]) "
                           "redis.call(ARGV[2],KEYS[2],ARGV[1]) "
                           "else redis.call('hset',KEYS[1],'mode','read') end " REDISSON_DONE(
                               3, 1, 4) "return 1"};

/* KEYS name, the reader's timeout keys; ARGV lease, reader. The real one renews the timeout keys of
 * all readers, also of the dead, and may shorten the lease of another; this one renews its own. */
static const struct redis_script extend_read = {
    "local n=redis.call('hget',KEYS[1],ARGV[2]) if not n then return 0 end "
    "redis.call('pexpire',KEYS[1],math.max(redis.call('pttl',KEYS[1]),tonumber(ARGV[1]))) "
    "for i=1,tonumber(n) do redis.call('pexpire',KEYS[2]..':'..i,ARGV[1]) end return 1"};

static void name_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]) {
    redisson_name(request, "redisson_rwlock:", "", out);
}

static void name_timeouts(const struct lb_request *request, const struct rw_grant *mine,
                          char out[REDISSON_NAME_MAX]) {
    char after[REDISSON_HOLDER_MAX + 20];
    snprintf(after, sizeof after, ":%s:rwlock_timeout", mine->reader);
    redisson_name(request, "", after, out);
}

/* "1", a writer's, wakes all; "0" one. */
static int for_all_or_one(const char *message, int waiters) {
    return strcmp(message, "1") == 0 ? waiters : 1;
}

static enum lb_outcome unlock_once(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant, bool *ret_held) {
    const struct rw_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX], timeouts[REDISSON_NAME_MAX], all[REDISSON_NAME_MAX], lease[24];
    char latch[REDISSON_NAME_MAX];
    if (!mine->reader[0]) return LB_LOST;
    name_channel(request, channel);
    redisson_latch(session, request, latch);
    redis_lease_ms(request->lease_ns, lease);
    const char *publish = redisson_publish(session);
    if (!request->shared) {
        const struct redis_word words[] = {{request->key, request->key_len},
                                           {channel, 0},
                                           {latch, 0},
                                           {"1", 1},
                                           {publish, 0},
                                           {mine->writer, 0},
                                           {REDISSON_LATCH_MS, 0},
                                           {lease, 0}};
        return redisson_unlock(session, NULL, request, &unlock_write, 3, words, 8, ret_held);
    }
    name_timeouts(request, mine, timeouts);
    redisson_name(request, "", "", all);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {channel, 0},
                                       {timeouts, 0},
                                       {all, 0},
                                       {latch, 0},
                                       {"0", 1},
                                       {publish, 0},
                                       {mine->reader, 0},
                                       {REDISSON_LATCH_MS, 0}};
    return redisson_unlock(session, NULL, request, &unlock_read, 5, words, 9, ret_held);
}

static enum lb_outcome rw_ask(struct redisson_try *one, int64_t *ret_left_ns) {
    const struct lb_request *request = one->request;
    const struct rw_grant *mine = one->grant->data;
    char timeouts[REDISSON_NAME_MAX], lease[24];
    redis_lease_ms(request->lease_ns, lease);
    name_timeouts(request, mine, timeouts);
    const struct redis_word read[] = {{request->key, request->key_len},
                                      {timeouts, 0},
                                      {lease, 0},
                                      {mine->reader, 0},
                                      {mine->writer, 0}};
    const struct redis_word write[] = {
        {request->key, request->key_len}, {lease, 0}, {mine->writer, 0}};
    const struct redis_reply *reply = NULL;
    bool synced = true, held = false;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        request->shared
            ? redisson_run_synced(one->session, NULL, &take_read, 2, read, 5, &reply, &synced)
            : redisson_run_synced(one->session, NULL, &take_write, 1, write, 3, &reply, &synced);
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

static enum lb_outcome rw_acquire(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    struct rw_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX];
    redisson_holder(session, request, "", mine->reader);
    redisson_holder(session, request, ":write", mine->writer);
    name_channel(request, channel);
    return redisson_await(&(struct redisson_try){.session = session,
                                                 .request = request,
                                                 .grant = grant,
                                                 .ask = rw_ask,
                                                 .channel = channel,
                                                 .count = for_all_or_one});
}

static enum lb_outcome rw_release(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    bool held = false;
    return unlock_once(session, request, grant, &held);
}

static enum lb_outcome rw_renew(struct lb_session *session, const struct lb_request *request,
                                struct lb_grant *grant) {
    const struct rw_grant *mine = grant->data;
    char timeouts[REDISSON_NAME_MAX], lease[24];
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = LB_LOST;
    if (!request->shared) {
        outcome = rlock_extend(session, NULL, request, mine->writer);
    } else if (mine->reader[0]) {
        name_timeouts(request, mine, timeouts);
        redis_lease_ms(request->lease_ns, lease);
        const struct redis_word words[] = {
            {request->key, request->key_len}, {timeouts, 0}, {lease, 0}, {mine->reader, 0}};
        const struct redis_reply *reply = NULL;
        outcome = redisson_run(session, NULL, &extend_read, 2, words, 4, &reply);
        if (outcome == LB_OK && reply->value.type != REDIS_INTEGER)
            return redis_refuse(session, reply);
        if (outcome == LB_OK && reply->value.integer != 1) outcome = LB_LOST;
    }
    if (outcome == LB_OK) grant->lease_end_ns = sent_ns + request->lease_ns;
    return outcome;
}

static enum lb_outcome rw_settle(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    return redisson_settle(session, request, grant, unlock_once);
}

static int rw_residue(struct lb_session *session, const char *prefix,
                      struct lb_residue *ret_residue, struct lb_err *err) {
    /* "{" for the timeout keys: {name}:<holder>:rwlock_timeout:<n>. */
    static const char *const keys[] = {"", "{", "redisson_unlock_latch:{", NULL};
    static const char *const channels[] = {"redisson_rwlock:{", NULL};
    return redisson_residue(session, prefix, keys, channels, ret_residue, err);
}

static const struct lb_option rw_options[] = {REDISSON_OPTIONS, {0}};
#endif

const struct lb_lock lock_redis_rwlock = {
    .name = "redis-rwlock",
    .summary =
        "Redisson's RReadWriteLock: one hash, a key for each read hold, waiters told by PUBLISH",
    .backend = &backend_redis,
    .primitive = LB_RWLOCK,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_SHARED |
            LB_CAP_REENTRANT | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "a message of its channel, at most until the lease ends",
    .about =
        {.compatible = REDISSON_COMPATIBLE("RReadWriteLock"),
         .order = "none: readers come in while one reads, and starve writers",
         .hazards =
             "no queue for writers; a writer that goes on as a reader tells nobody, so other readers "
             "wait until its lease ends; a writer's second hold adds up the leases",
         .acquire_requests = 1,
         .release_requests = 2,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_LEASE},
    .expected = redis_pubsub_expected,
    LB_IF_HIREDIS(.options = rw_options, .options_bytes = sizeof(struct redisson_options),
                  .session_bytes = sizeof(struct redisson_session),
                  .grant_bytes = sizeof(struct rw_grant), .acquire = rw_acquire,
                  .release = rw_release, .renew = rw_renew, .settle = rw_settle,
                  .residue = rw_residue, )};
