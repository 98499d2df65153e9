/* redisson_rlock: see redisson_rlock.h. */
#include "drivers/redis/redisson_rlock.h"

#include <string.h>

REDIS_SCRIPT(rlock_take);
REDIS_SCRIPT(rlock_unlock);
REDIS_SCRIPT(rlock_extend);
REDIS_SCRIPT(spin_unlock);

void rlock_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]) {
    redisson_name(request, "redisson_lock__channel:", "", out);
}

int64_t rlock_left_ns(long long pttl) {
    return pttl < 0 ? LB_NEVER : lb_of_ms(pttl);
}

enum lb_outcome rlock_answer(struct redisson_try *one, const struct redis_reply *reply,
                             int64_t *ret_left_ns) {
    if (reply->value.type == REDIS_NIL) return LB_OK;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(one->session, reply);
    *ret_left_ns = rlock_left_ns(reply->value.integer);
    return LB_BUSY;
}

enum lb_outcome rlock_ask(struct redisson_try *one, int64_t *ret_left_ns) {
    const struct lb_request *request = one->request;
    const struct rlock_grant *mine = one->grant->data;
    char lease[24];
    redis_lease_ms(request->lease_ns, lease);
    const struct redis_word words[] = {
        {request->key, request->key_len}, {lease, 0}, {mine->holder, 0}};
    const struct redis_reply *reply = NULL;
    bool synced = true, held = false;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = redisson_run_synced(one->session, one->node, &script_rlock_take, 1,
                                                  words, 3, &reply, &synced);
    if (outcome == LB_OK) outcome = rlock_answer(one, reply, ret_left_ns);
    if (outcome != LB_OK) return outcome;
    if (!synced)
        return redisson_not_synced(one->session, rlock_unlock_by(one->session, one->node, request,
                                                                 mine->holder, true, &held));
    one->grant->token = 0;
    one->grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

void rlock_prepare_unlock(struct lb_session *session, const struct lb_request *request,
                          const char *holder, struct rlock_unlocking *ret_unlocking) {
    struct rlock_unlocking *one = ret_unlocking;
    rlock_channel(request, one->channel);
    redisson_latch(session, request, one->latch);
    redis_lease_ms(request->lease_ns, one->lease);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {one->channel, 0},
                                       {one->latch, 0},
                                       {"0", 1},
                                       {one->lease, 0},
                                       {holder, 0},
                                       {REDISSON_LATCH_MS, 0},
                                       {redisson_publish(session), 0}};
    memcpy(one->words, words, sizeof words);
    one->command = (struct redis_command){
        .script = &script_rlock_unlock, .words = one->words, .count = 8, .keys = 3};
}

enum lb_outcome rlock_unlock_by(struct lb_session *session, struct redis_node *node,
                                const struct lb_request *request, const char *holder, bool publish,
                                bool *ret_held) {
    struct rlock_unlocking one;
    if (!holder[0]) return LB_LOST;
    rlock_prepare_unlock(session, request, holder, &one);
    return redisson_unlock(session, node, request,
                           publish ? &script_rlock_unlock : &script_spin_unlock, 3, one.words, 8,
                           ret_held);
}

enum lb_outcome rlock_extend(struct lb_session *session, struct redis_node *node,
                             const struct lb_request *request, const char *holder) {
    char lease[24];
    if (!holder[0]) return LB_LOST;
    redis_lease_ms(request->lease_ns, lease);
    const struct redis_word words[] = {{request->key, request->key_len}, {lease, 0}, {holder, 0}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome =
        redisson_run(session, node, &script_rlock_extend, 1, words, 3, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    return reply->value.integer == 1 ? LB_OK : LB_LOST;
}

enum lb_outcome rlock_unlock_once(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant, bool *ret_held) {
    const struct rlock_grant *mine = grant->data;
    return rlock_unlock_by(session, NULL, request, mine->holder, true, ret_held);
}

enum lb_outcome rlock_renew(struct lb_session *session, const struct lb_request *request,
                            struct lb_grant *grant) {
    const struct rlock_grant *mine = grant->data;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = rlock_extend(session, NULL, request, mine->holder);
    if (outcome == LB_OK) grant->lease_end_ns = sent_ns + request->lease_ns;
    return outcome;
}

const char *const rlock_keys[] = {"", "redisson_unlock_latch:{", NULL};
const char *const rlock_channels[] = {"redisson_lock__channel:{", NULL};

static enum lb_outcome rlock_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    struct rlock_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX];
    redisson_holder(session, request, "", mine->holder);
    rlock_channel(request, channel);
    return redisson_await(&(struct redisson_try){.session = session,
                                                 .request = request,
                                                 .grant = grant,
                                                 .ask = recipe->ask,
                                                 .channel = channel});
}

const struct lb_algorithm rlock_algorithm = {
    REDISSON_MEMBERS,         .grant_bytes = sizeof(struct rlock_grant),
    .acquire = rlock_acquire, .release = redisson_release,
    .renew = rlock_renew,     .settle = redisson_settle,
};
