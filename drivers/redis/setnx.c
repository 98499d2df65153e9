/* redis-setnx: the string lock of the Redis documentation: SET key token NX PX lease; release by a script
 * that deletes only the owner's. Compatible with redis-py's Lock, bsm/redislock and everything else that
 * takes "SET NX PX" with a random token. One round trip each; waits by polling; the lease frees a dead
 * holder's. No order, no token that grows. It does not renew by itself and does not survive a failover: see
 * its claims.
 */
#include "drivers/redis/redis.h"

#ifdef LB_HAVE_HIREDIS
#include <stdio.h>
#include <string.h>

#include "drivers/backoff.h"
#include "drivers/wait.h"

#define TOKEN_CHARS 40 /* 20 random bytes in hex, as the documentation advises */

static const struct redis_script release_script = {
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end"};
static const struct redis_script renew_script = {
    "if redis.call('get',KEYS[1])==ARGV[1] then "
    "return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end"};

struct setnx_options {
    struct backoff_options poll;
};

struct setnx_grant {
    char token[TOKEN_CHARS + 1];
};

static void make_token(struct lb_rng *rng, char token[TOKEN_CHARS + 1]) {
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[TOKEN_CHARS / 2];
    rng_bytes(rng, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        token[2 * i] = hex[bytes[i] >> 4];
        token[2 * i + 1] = hex[bytes[i] & 15];
    }
    token[TOKEN_CHARS] = '\0';
}

static enum lb_outcome setnx_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    struct setnx_grant *mine = grant->data;
    char lease_ms[24];
    snprintf(lease_ms, sizeof lease_ms, "%lld", (long long)(request->lease_ns / LB_MS_NS));
    make_token(&session->rng, mine->token);
    const struct redis_word words[] = {
        {"SET", 3},   {request->key, request->key_len}, {mine->token, TOKEN_CHARS}, {"NX", 2}, {"PX", 2},
        {lease_ms, 0}};
    const struct setnx_options *options = session->options;
    struct backoff backoff;
    backoff_start(&backoff, &options->poll);
    bool once = request->deadline_ns <= lb_now();
    for (;;) {
        const struct redis_reply *reply = NULL;
        int64_t sent_ns = lb_now();
        enum lb_outcome outcome = redis_call(session, words, 6, &reply);
        if (outcome != LB_OK) return outcome;
        if (reply->value.type == REDIS_STATUS) {
            grant->token = 0;
            grant->lease_end_ns = sent_ns + request->lease_ns;
            return LB_OK;
        }
        if (reply->value.type != REDIS_NIL) return redis_refuse(session, reply);
        if (once) return LB_BUSY;
        if (!backoff_sleep(&backoff, &session->rng, request->deadline_ns)) return LB_TIMEOUT;
    }
}

/* Runs one of the two owner-checked scripts. LB_LOST if the lock is not ours any more. */
static enum lb_outcome if_mine(struct lb_session *session, const struct lb_request *request,
                               const struct lb_grant *grant, const struct redis_script *script,
                               const char *argument) {
    const struct setnx_grant *mine = grant->data;
    const struct redis_word words[] = {
        {request->key, request->key_len}, {mine->token, TOKEN_CHARS}, {argument ? argument : "", 0}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_eval(session, script, 1, words, argument ? 3 : 2, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    return reply->value.integer == 1 ? LB_OK : LB_LOST;
}

static enum lb_outcome setnx_release(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    return if_mine(session, request, grant, &release_script, NULL);
}

static enum lb_outcome setnx_renew(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    char lease_ms[24];
    snprintf(lease_ms, sizeof lease_ms, "%lld", (long long)(request->lease_ns / LB_MS_NS));
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = if_mine(session, request, grant, &renew_script, lease_ms);
    if (outcome == LB_OK) grant->lease_end_ns = sent_ns + request->lease_ns;
    return outcome;
}

/* The SET may have arrived: delete what it may have left. */
static enum lb_outcome setnx_settle(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    enum lb_outcome outcome = setnx_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

static const struct lb_option setnx_options[] = {
    BACKOFF_OPTIONS(struct setnx_options, poll, "1ms", "64ms"),
    {0},
};
#endif

const struct lb_lock lock_redis_setnx = {
    .name = "redis-setnx",
    .summary = "SET NX PX with a random token, compare-and-delete by Lua (redis.io's single-instance lock)",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    LB_IF_HIREDIS(.options = setnx_options, .options_bytes = sizeof(struct setnx_options),
                  .grant_bytes = sizeof(struct setnx_grant), .acquire = setnx_acquire,
                  .release = setnx_release, .renew = setnx_renew, .settle = setnx_settle, )};
