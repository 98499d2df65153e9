/* unsafe-redisson-unlock-old: Redisson's RLock with an older unlock (Redisson 3.8.2 has it; 3.11.4 has today's).
 * If the key does not exist, the script answers that it has freed the lock. So after a lease has ended and another
 * client has held and released the lock, the first holder's unlock still reports success. A control: the checks
 * must catch it. */
#include "drivers/key_names.h"
#include "drivers/redis/redisson.h"
#include "drivers/redis/redlock.h"
#include "drivers/redis/string.h"
#include "drivers/redis/unsafe.h"

REDIS_SCRIPT(unsafe_rlock_unlock_old);

static enum lb_outcome unlock_old(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant, bool *ret_held) {
    const struct rlock_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX], lease[24];
    const struct redis_reply *reply = NULL;
    if (!mine->holder[0]) return LB_LOST;
    rlock_channel(request, channel);
    redis_lease_ms(request->lease_ns, lease);
    const struct redis_word words[] = {
        {request->key, request->key_len}, {channel, 0}, {"0", 1}, {lease, 0}, {mine->holder, 0}};
    enum lb_outcome outcome =
        redisson_run(session, NULL, &script_unsafe_rlock_unlock_old, 2, words, 5, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_NIL) return LB_LOST;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    *ret_held = reply->value.integer == 0;
    return LB_OK;
}

static const struct redisson_recipe recipe = {
    .ask = rlock_ask, .unlock = unlock_old, .keys = rlock_keys, .channels = rlock_channels};

const struct lb_lock lock_unsafe_redisson_unlock_old = {
    UNSAFE_MUTEX("a message of its channel, at most until the lease ends"),
    .name = "unsafe-redisson-unlock-old",
    .summary = "Redisson's RLock with its old unlock, which calls a lost lock released",
    .caps = UNSAFE_CAPS | LB_CAP_RENEW | LB_CAP_REENTRANT,
    .topologies = (const char *const[]){"redis", "redis-replicas", "redis-sentinel", NULL},
    .about =
        {UNSAFE_ABOUT(1, 1), UNSAFE_LEASE,
         .mistake =
             "Redisson until 3.8: the unlock answers that it freed the lock when the key is gone; a holder "
             "that was late learns nothing of the client that held in between, and lets its work stand",
         .exposed_by = "overstay", .exposed_as = LB_EXPOSED_VIOLATED},
    .algorithm = &rlock_algorithm,
    .recipe = &recipe,
};

/* unsafe-redis-lua-reentrant: a string lock whose script lets its owner in again without counting,
 * and whose release deletes: the first unlock of a lock that is held twice frees it. For the checks
 * to catch; never to be used. */

REDIS_SCRIPT(unsafe_reentrant_take);

static enum lb_outcome try_script(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = string_if_mine(session, request, grant,
                                             &script_unsafe_reentrant_take, lease_ms);
    if (outcome == LB_LOST) return LB_BUSY;
    if (outcome != LB_OK) return outcome;
    grant->token = 0;
    grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

const struct lb_lock lock_unsafe_redis_lua_reentrant = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redis-lua-reentrant",
    .summary = "a script that lets the owner in again without counting; the first unlock frees it",
    .caps = UNSAFE_CAPS | LB_CAP_REENTRANT,
    .about = {UNSAFE_ABOUT(1, 1), UNSAFE_LEASE,
              .mistake =
                  "introductory articles: re-entry without a counter, unlock by DEL: the inner "
                  "unlock frees the lock while the outer holder continues",
              .exposed_by = "reentrant", .exposed_as = LB_EXPOSED_VIOLATED},
    STRING_TRY(try_script),
    .algorithm = &(const struct lb_algorithm){STRING_MEMBERS, .acquire = string_acquire,
                                              .release = string_release},
};

/* unsafe-redisson-redlock: Redisson's RedissonRedLock, as called by tryLock(0, lease) again and
 * again: one RLock on each server, one server after the other; a client that took a majority of
 * them holds the lock. Then each lock that was taken gets the lease anew, by a PEXPIRE that does
 * not check the holder and whose answer is not read. Redisson computes no validity: if one server
 * was slow, the leases on the servers that were asked before it may have ended and other clients
 * may have taken them, so that two clients hold. For the checks to catch; never to be used.
 *
 * The real one names its holder by UUID and thread, stops asking when the majority is sure and one
 * server has refused, and its unlock does not report what it found. */

/* Frees what the holder has on each server. *ret_freed: on how many it was the holder's. LB_UNKNOWN:
 * too few answered. */
static enum lb_outcome free_all(struct lb_session *session, const struct lb_request *request,
                                const struct lb_grant *grant, int *ret_freed) {
    const struct string_grant *mine = grant->data;
    struct redis_answer answers[REDIS_NODES_MAX];
    struct rlock_unlocking one;
    int answered = 0;
    *ret_freed = 0;
    rlock_prepare_unlock(session, request, mine->token, &one);
    int count = redis_all(session, &one.command, REDISSON_ANSWER_NS, answers);
    for (int i = 0; i < count; i++) {
        if (answers[i].outcome != LB_OK) continue;
        answered++;
        *ret_freed += answers[i].reply->value.type == REDIS_INTEGER;
    }
    if (answered <= count / 2)
        return lb_fail(session, LB_UNKNOWN, "redis: %d of %d servers answer", answered, count);
    session->err.code = 0;
    for (int i = 0; i < count; i++)
        redisson_drop_latch(session, redis_node_at(session, i), one.latch);
    return LB_OK;
}

/* The mistake: it does not check whether these locks are still the holder's. */
static void lease_taken(struct lb_session *session, const struct lb_request *request,
                        const char *lease, const bool *taken, int count) {
    const struct redis_word words[] = {
        {"PEXPIRE", 7}, {request->key, request->key_len}, {lease, 0}};
    const struct redis_reply *reply = NULL;
    for (int i = 0; i < count; i++) {
        if (taken[i]) redisson_run(session, redis_node_at(session, i), NULL, 0, words, 3, &reply);
    }
    session->err.code = 0;
}

static enum lb_outcome try_majority(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    const struct string_grant *mine = grant->data;
    struct redis_answer answers[REDIS_NODES_MAX];
    bool taken[REDIS_NODES_MAX];
    char lease[24];
    int sum = 0;
    redis_lease_ms(request->lease_ns, lease);
    const struct redis_word words[] = {
        {request->key, request->key_len}, {lease, 0}, {mine->token, 0}};
    const struct redis_command take = {
        .script = &script_rlock_take, .words = words, .count = 3, .keys = 1};
    int count = redis_all_in_turn(session, &take, REDISSON_ANSWER_NS, answers);
    for (int i = 0; i < count; i++) {
        taken[i] = answers[i].outcome == LB_OK && answers[i].reply->value.type == REDIS_NIL;
        sum += taken[i];
    }
    if (sum <= count / 2) {
        enum lb_outcome outcome = free_all(session, request, grant, &sum);
        return outcome == LB_OK ? LB_BUSY : outcome;
    }
    lease_taken(session, request, lease, taken, count);
    grant->token = 0;
    grant->lease_end_ns =
        lb_now() + request->lease_ns; /* not from when it was asked for: a mistake */
    return LB_OK;
}

static enum lb_outcome majority_release(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    int freed = 0;
    enum lb_outcome outcome = free_all(session, request, grant, &freed);
    if (outcome != LB_OK) return outcome;
    return freed > redis_node_count(session) / 2 ? LB_OK : LB_LOST;
}

static enum lb_outcome majority_settle(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    int freed = 0;
    return free_all(session, request, grant, &freed);
}

static void majority_names(const struct lb_session *session, const struct lb_request *request,
                           struct lb_names *names) {
    char latch[REDISSON_NAME_MAX];
    (void)session;
    redisson_name(request, "redisson_unlock_latch:", "", latch);
    lb_names_add(names, "key (a hash)", "%s", request->key);
    lb_names_add(names, "keys that begin with", "%s", latch);
}

const struct lb_lock lock_unsafe_redisson_redlock = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redisson-redlock",
    .summary = "Redisson's RedLock: an RLock on a majority of servers, without a validity",
    .caps = UNSAFE_CAPS,
    .topologies = (const char *const[]){"redis-independents", "redis-sentinel-groups", NULL},
    .about = {UNSAFE_ABOUT(10, 10), .crash = LB_CRASH_LEASE, .crash_slack_ns = 500 * LB_MS_NS,
              .mistake =
                  "Redisson's RedissonRedLock: n/2+1 locks are enough, however long asking for "
                  "them took, and PEXPIRE gives each of them its lease anew without a look at who "
                  "holds it: where one server was slow, two clients hold",
              .exposed_by = "slow-quorum", .exposed_as = LB_EXPOSED_VIOLATED},
    STRING_TRY(try_majority),
    .algorithm =
        &(const struct lb_algorithm){.causes = backoff_causes,
                                     STRING_OPTIONS(string_option_table, struct string_options),
                                     .grant_bytes = sizeof(struct string_grant),
                                     .prepare = redlock_prepare,
                                     .acquire = string_acquire,
                                     .release = majority_release,
                                     .settle = majority_settle,
                                     .residue = string_residue,
                                     .names = majority_names},
};
