/* redis-rwlock: Redisson's RReadWriteLock: a hash with the field `mode` and a field for each
 * holder, and for each read hold a key whose only use is its time to live.
 *
 * While one reader holds, further readers are admitted, so readers starve writers. A writer may also read.
 * When such a client releases as a writer, the mode becomes `read` and no message is published: waiting
 * readers wait until the time to live that the server has told them. A reader can't become a writer. */
#include "drivers/redis/redisson.h"

#include <stdio.h>
#include <string.h>

struct rw_grant {
    char reader[REDISSON_HOLDER_MAX], writer[REDISSON_HOLDER_MAX]; /* "" = never asked */
};

REDIS_SCRIPT(read_take);
REDIS_SCRIPT(read_unlock);
REDIS_SCRIPT(read_extend);
REDIS_SCRIPT(write_take);
REDIS_SCRIPT(write_unlock);

static void name_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]) {
    redisson_name(request, "redisson_rwlock:", "", out);
}

static void name_timeouts(const struct lb_request *request, const struct rw_grant *mine,
                          char out[REDISSON_NAME_MAX]) {
    char after[REDISSON_HOLDER_MAX + 20];
    snprintf(after, sizeof after, ":%s:rwlock_timeout", mine->reader);
    redisson_name(request, "", after, out);
}

/* The message "1" of a writer wakes all waiters; "0" wakes one. */
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
        return redisson_unlock(session, request, &script_write_unlock, 3, words, 8, ret_held);
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
    return redisson_unlock(session, request, &script_read_unlock, 5, words, 9, ret_held);
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
    return request->shared ? rlock_try(one, &script_read_take, 2, read, 5, ret_left_ns)
                           : rlock_try(one, &script_write_take, 1, write, 3, ret_left_ns);
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

static enum lb_outcome rw_renew(struct lb_session *session, const struct lb_request *request,
                                struct lb_grant *grant) {
    const struct rw_grant *mine = grant->data;
    char timeouts[REDISSON_NAME_MAX], lease[24];
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = LB_LOST;
    if (!request->shared) {
        outcome = rlock_extend(session, request, mine->writer);
    } else if (mine->reader[0]) {
        name_timeouts(request, mine, timeouts);
        redis_lease_ms(request->lease_ns, lease);
        const struct redis_word words[] = {
            {request->key, request->key_len}, {timeouts, 0}, {lease, 0}, {mine->reader, 0}};
        const struct redis_reply *reply = NULL;
        outcome = redis_run(session, &script_read_extend, 2, words, 4, &reply);
        if (outcome == LB_OK && reply->value.type != REDIS_INTEGER)
            return redis_refuse(session, reply);
        if (outcome == LB_OK && reply->value.integer != 1) outcome = LB_LOST;
    }
    if (outcome == LB_OK) grant->lease_end_ns = sent_ns + request->lease_ns;
    return outcome;
}

static const struct redisson_recipe recipe = {
    .unlock = unlock_once,
    /* "{" for the timeout keys: {name}:<holder>:rwlock_timeout:<n>. */
    .keys = (const char *const[]){"", "{", "redisson_unlock_latch:{", NULL},
    .channels = (const char *const[]){"redisson_rwlock:{", NULL},
};

static const struct lb_algorithm algorithm = {
    REDISSON_MEMBERS,      .grant_bytes = sizeof(struct rw_grant),
    .acquire = rw_acquire, .release = redisson_release,
    .renew = rw_renew,     .settle = redisson_settle,
};

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
    .about = {REDISSON_ABOUT("RReadWriteLock", 1, 2),
              .order = "none: readers enter while another one reads, and starve writers",
              .hazards =
                  "no queue for writers; a writer that continues as a reader notifies nobody, so "
                  "other readers wait until its lease ends; a writer's second hold adds the leases",
              .crash = LB_CRASH_LEASE},
    .algorithm = &algorithm,
    .recipe = &recipe,
};
