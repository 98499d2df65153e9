/* redis-setnx: the string lock of the Redis documentation: SET key token NX PX lease takes the lock, and a
 * script deletes the key if it still has the owner's token. Compatible with redis-py's Lock, bsm/redislock,
 * node-redlock and every other client that uses "SET NX PX" with a random token. Taking and freeing are one round
 * trip each. Waiters poll, in no order. The lock of a dead holder ends with its lease. There is no fencing token.
 * The lock does not renew by itself, and does not survive a failover: see its claims. */
#include "drivers/key_names.h"
#include "drivers/redis/redis.h"
#include "drivers/redis/string.h"

REDIS_SCRIPT(string_release);
REDIS_SCRIPT(string_renew);

/* Sends a write as the lock's recipe does, or by itself. enough NULL: by itself. */
static enum lb_outcome write_key(struct lb_session *session, const struct redis_command *write,
                                 const struct redis_reply **ret_written, bool *ret_enough) {
    const struct string_recipe *recipe = session->lock->recipe;
    if (ret_enough && recipe && recipe->write)
        return recipe->write(session, write, ret_written, ret_enough);
    if (ret_enough) *ret_enough = true;
    return redis_run(session, write->script, write->keys, write->words, write->count, ret_written);
}

static enum lb_outcome string_try(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    struct string_grant *mine = grant->data;
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    const struct redis_word words[] = {STRING_SET(request->key, request->key_len, mine, lease_ms)};
    const struct redis_command set = {.words = words, .count = 6};
    const struct redis_reply *reply = NULL;
    bool enough = false;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = write_key(session, &set, &reply, &enough);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_NIL) return LB_BUSY;
    if (reply->value.type != REDIS_STATUS) return redis_refuse(session, reply);
    if (!enough) {
        outcome = string_release(session, request, grant);
        return outcome == LB_OK || outcome == LB_LOST ? LB_BUSY : LB_UNKNOWN;
    }
    return lb_granted(grant, 0, sent_ns + request->lease_ns);
}

enum lb_outcome string_acquire(struct lb_session *session, const struct lb_request *request,
                               struct lb_grant *grant) {
    const struct string_options *options = session->options;
    const struct string_recipe *recipe = session->lock->recipe;
    string_try_fn *try_once = recipe && recipe->try_once ? recipe->try_once : string_try;
    struct string_grant *mine = grant->data;
    struct backoff backoff;
    backoff_start(&backoff, &options->poll);
    bool once = request->deadline_ns != LB_NEVER && request->deadline_ns <= lb_now();
    if (request->held == 0) lb_random_hex(&session->rng, mine->token, STRING_TOKEN_BYTES);
    for (;;) {
        enum lb_outcome outcome = try_once(session, request, grant);
        if (outcome != LB_BUSY || once) return outcome;
        if (!backoff_sleep(&backoff, session, request->deadline_ns)) return LB_TIMEOUT;
    }
}

enum lb_outcome string_if_mine(struct lb_session *session, const struct lb_request *request,
                               const struct lb_grant *grant, const struct redis_script *script,
                               const char *argument, bool *ret_enough) {
    const struct string_grant *mine = grant->data;
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {mine->token, 2 * STRING_TOKEN_BYTES},
                                       {argument ? argument : "", 0}};
    const struct redis_command command = {
        .script = script, .words = words, .count = argument ? 3 : 2, .keys = 1};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = write_key(session, &command, &reply, ret_enough);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    return reply->value.integer == 1 ? LB_OK : LB_LOST;
}

enum lb_outcome string_release(struct lb_session *session, const struct lb_request *request,
                               struct lb_grant *grant) {
    return string_if_mine(session, request, grant, &script_string_release, NULL, NULL);
}

enum lb_outcome string_renew(struct lb_session *session, const struct lb_request *request,
                             struct lb_grant *grant) {
    char lease_ms[24];
    bool enough = false;
    redis_lease_ms(request->lease_ns, lease_ms);
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        string_if_mine(session, request, grant, &script_string_renew, lease_ms, &enough);
    if (outcome == LB_OK && enough) grant->lease_end_ns = sent_ns + request->lease_ns;
    return outcome;
}

enum lb_outcome string_settle(struct lb_session *session, const struct lb_request *request,
                              struct lb_grant *grant) {
    enum lb_outcome outcome = string_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

int string_residue(struct lb_session *session, const char *prefix, struct lb_residue *residue,
                   struct lb_err *err) {
    return redis_count_keys(session, "", prefix, residue, err);
}

void string_names(const struct lb_session *session, const struct lb_request *request,
                  struct lb_names *names) {
    (void)session;
    lb_names_add(names, "key (a string)", "%s", request->key);
}

const struct lb_option string_option_table[] = {
    BACKOFF_OPTIONS(struct string_options, poll, "1ms", "64ms"),
    {0},
};

static const struct lb_algorithm algorithm = {
    STRING_MEMBERS,
    .acquire = string_acquire,
    .release = string_release,
    .renew = string_renew,
};

const struct lb_lock lock_redis_setnx = {
    .name = "redis-setnx",
    .summary =
        "SET NX PX with a random token, compare-and-delete by Lua (redis.io's single-instance lock)",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .about =
        {.compatible =
             "redis-py's Lock, node-redlock with one server, SET NX PX by hand; bsm/redislock by its "
             "protocol (not tested)",
         .incompatible =
             "npm's redis-semaphore and simple-redis-mutex unless the key is named as they name it: "
             "mutex:KEY, @simple-redis-mutex:lock-KEY; python-redis-lock: its waiters sleep on a list "
             "that only its own release feeds, and wake seconds late",
         .order = "none",
         .hazards =
             "a second holder can enter after a pause longer than the lease, a failover that "
             "loses the last write, an eviction, or a jump of the server's clock; Redis 8.6 ends "
             "leases early, since it counts them from a time that it has read before",
         LB_TERMS(1, 1, LB_ON_ONE_NODE, LB_CRASH_LEASE),
         .crash_slack_ns = 100 * LB_MS_NS},
    .algorithm = &algorithm,
};
