/* redis-setnx: the string lock of the Redis documentation: SET key token NX PX lease takes the lock, and a
 * script deletes the key if it still has the owner's token. Compatible with redis-py's Lock, bsm/redislock,
 * node-redlock and every other client that uses "SET NX PX" with a random token. Taking and freeing are one round
 * trip each. Waiters poll, in no order. The lock of a dead holder ends with its lease. There is no fencing token.
 * The lock does not renew by itself, and does not survive a failover: see its claims.
 *
 * Newer servers have commands that compare; options choose these instead of the scripts for release and renewal.
 * An acquire is always SET NX, because SET IFEQ does not create a missing key. */
#include <string.h>

#include "drivers/key_names.h"
#include "drivers/redis/redis.h"
#include "drivers/redis/string.h"

REDIS_SCRIPT(string_release);
REDIS_SCRIPT(string_renew);

static enum lb_outcome string_try(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    struct string_grant *mine = grant->data;
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    const struct redis_word words[] = {STRING_SET(request->key, request->key_len, mine, lease_ms)};
    const struct redis_reply *reply = NULL;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = redis_call(session, words, 6, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_NIL) return LB_BUSY;
    if (reply->value.type != REDIS_STATUS) return redis_refuse(session, reply);
    return lb_granted(grant, 0, sent_ns + request->lease_ns);
}

enum lb_outcome string_acquire(struct lb_session *session, const struct lb_request *request,
                               struct lb_grant *grant) {
    const struct string_options *options = session->options;
    const struct string_recipe *recipe = session->lock->recipe;
    string_try_fn *try_once = recipe ? recipe->try_once : string_try;
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
                               const char *argument) {
    const struct string_grant *mine = grant->data;
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {mine->token, 2 * STRING_TOKEN_BYTES},
                                       {argument ? argument : "", 0}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_eval(session, script, 1, words, argument ? 3 : 2, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    return reply->value.integer == 1 ? LB_OK : LB_LOST;
}

enum lb_outcome string_release(struct lb_session *session, const struct lb_request *request,
                               struct lb_grant *grant) {
    return string_if_mine(session, request, grant, &script_string_release, NULL);
}

enum lb_outcome string_renew(struct lb_session *session, const struct lb_request *request,
                             struct lb_grant *grant) {
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        string_if_mine(session, request, grant, &script_string_renew, lease_ms);
    if (outcome == LB_OK) grant->lease_end_ns = sent_ns + request->lease_ns;
    return outcome;
}

enum lb_outcome string_settle(struct lb_session *session, const struct lb_request *request,
                              struct lb_grant *grant) {
    enum lb_outcome outcome = string_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

int string_residue(struct lb_session *session, const char *prefix, struct lb_residue *ret_residue,
                   struct lb_err *err) {
    struct lb_residue residue = {0};
    if (redis_count_keys(session, "", prefix, &residue, err) != 0) return -1;
    *ret_residue = residue;
    return 0;
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

/* In the order of the option's choices. */
enum setnx_release { RELEASE_LUA, RELEASE_DELIFEQ, RELEASE_DELEX };
enum setnx_renew { RENEW_LUA, RENEW_IFEQ };

struct setnx_options {
    struct string_options string; /* first: see string_acquire */
    int64_t release, renew;
};

/* The server's own commands that compare. */
static enum lb_outcome delete_if(struct lb_session *session, const char *key, size_t key_len,
                                 const char *token, const struct redis_reply **ret_reply) {
    const struct setnx_options *options = session->options;
    const struct redis_word key_word = {key, key_len}, token_word = {token, 0};
    if (options->release == RELEASE_DELIFEQ)
        return redis_call(session,
                          (const struct redis_word[]){{"DELIFEQ", 7}, key_word, token_word}, 3,
                          ret_reply);
    return redis_call(session,
                      (const struct redis_word[]){{"DELEX", 5}, key_word, {"IFEQ", 4}, token_word},
                      4, ret_reply);
}

static enum lb_outcome set_if(struct lb_session *session, const char *key, size_t key_len,
                              const char *token, const char *lease_ms,
                              const struct redis_reply **ret_reply) {
    const struct redis_word words[] = {{"SET", 3}, {key, key_len}, {token, 0},   {"IFEQ", 4},
                                       {token, 0}, {"PX", 2},      {lease_ms, 0}};
    return redis_call(session, words, 7, ret_reply);
}

static enum lb_outcome setnx_release(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    const struct setnx_options *options = session->options;
    const struct string_grant *mine = grant->data;
    const struct redis_reply *reply = NULL;
    if (options->release == RELEASE_LUA) return string_release(session, request, grant);
    enum lb_outcome outcome =
        delete_if(session, request->key, request->key_len, mine->token, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    return reply->value.integer == 1 ? LB_OK : LB_LOST;
}

static enum lb_outcome setnx_renew(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    const struct setnx_options *options = session->options;
    const struct string_grant *mine = grant->data;
    const struct redis_reply *reply = NULL;
    char lease_ms[24];
    if (options->renew == RENEW_LUA) return string_renew(session, request, grant);
    redis_lease_ms(request->lease_ns, lease_ms);
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        set_if(session, request->key, request->key_len, mine->token, lease_ms, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_NIL) return LB_LOST;
    if (reply->value.type != REDIS_STATUS) return redis_refuse(session, reply);
    grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

static enum lb_outcome setnx_settle(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    enum lb_outcome outcome = setnx_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

/* 0 if the server knew the command, -1 with err if it did not. If the server refuses the command
 * for another reason (the account's rights), an acquire will show that. */
static int check_known(struct lb_session *session, enum lb_outcome outcome,
                       const struct redis_reply *reply, const char *what, const char *since,
                       struct lb_err *err) {
    if (outcome != LB_OK) return err_set(err, session->err.code, "%s", session->err.text);
    const char *text = reply->value.type == REDIS_ERROR ? reply->value.text : "";
    if (strncmp(text, "ERR unknown command", 19) != 0 && strncmp(text, "ERR syntax error", 16) != 0)
        return 0;
    return err_set(err, LB_EXIT_USAGE, "redis: this server has no %s (%s); use lua", what, since);
}

/* Checks, by a key that does not exist, that the server has the commands which the options choose: a release
 * that the server refuses would leave the lock held. */
static int setnx_setup(struct lb_session *session, struct lb_err *err) {
    const struct setnx_options *options = session->options;
    const struct redis_reply *reply = NULL;
    char key[sizeof "lockbench-probe-" + 32] = "lockbench-probe-";
    lb_random_hex(&session->rng, key + strlen(key), 16);
    if (options->release != RELEASE_LUA) {
        bool delifeq = options->release == RELEASE_DELIFEQ;
        enum lb_outcome outcome = delete_if(session, key, strlen(key), "-", &reply);
        if (check_known(session, outcome, reply, delifeq ? "DELIFEQ" : "DELEX",
                        delifeq ? "release=delifeq needs Valkey 9.0"
                                : "release=delex needs Redis 8.4 or Valkey 9.2",
                        err) != 0)
            return -1;
    }
    if (options->renew == RENEW_LUA) return 0;
    enum lb_outcome outcome = set_if(session, key, strlen(key), "-", "1", &reply);
    return check_known(session, outcome, reply, "SET IFEQ",
                       "renew=ifeq needs Redis 8.4 or Valkey 8.1", err);
}

static const struct lb_option setnx_option_table[] = {
    BACKOFF_OPTIONS(struct setnx_options, string.poll, "1ms", "64ms"),
    {"release", LB_OPT_CHOICE, offsetof(struct setnx_options, release), "lua", 0, 0,
     "lua,delifeq,delex",
     "what deletes the owner's key: a script, DELIFEQ (Valkey 9.0), DELEX IFEQ (Redis 8.4, Valkey 9.2)"},
    {"renew", LB_OPT_CHOICE, offsetof(struct setnx_options, renew), "lua", 0, 0, "lua,ifeq",
     "what extends the lease of the owner's key: a script, SET IFEQ (Redis 8.4, Valkey 8.1)"},
    {0},
};

static const struct lb_algorithm algorithm = {
    STRING_KEY,
    STRING_OPTIONS(setnx_option_table, struct setnx_options),
    .grant_bytes = sizeof(struct string_grant),
    .setup = setnx_setup,
    .acquire = string_acquire,
    .release = setnx_release,
    .renew = setnx_renew,
    .settle = setnx_settle,
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
         .acquire_requests = 1,
         .release_requests = 1,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_LEASE,
         .crash_slack_ns = 100 * LB_MS_NS},
    .algorithm = &algorithm,
};
