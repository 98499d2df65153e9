/* redisson_unlock: the client's side of every unlock. Each unlock names a key of its own, the latch, in which
 * the script stores its answer, so that the real client can repeat the unlock. After the answer the client
 * deletes the latch without waiting. See redisson.h. */
#include "drivers/redis/redisson.h"

void redisson_latch(struct lb_session *session, const struct lb_request *request,
                    char out[REDISSON_NAME_MAX]) {
    char after[40] = ":";
    redis_random_hex(&session->rng, after + 1, 16);
    redisson_name(request, "redisson_unlock_latch:", after, out);
}

void redisson_drop_latch(struct lb_session *session, struct redis_node *node, const char *latch) {
    const struct redis_word words[] = {{"DEL", 3}, {latch, 0}};
    struct lb_err before = session->err;
    redis_post(session, node, &(struct redis_command){.words = words, .count = 2});
    session->err = before; /* no failure of the unlock: the key expires */
}

enum lb_outcome redisson_unlock(struct lb_session *session, struct redis_node *node,
                                const struct lb_request *request, const struct redis_script *script,
                                int keys, const struct redis_word *words, int count,
                                bool *ret_held) {
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redisson_run(session, node, script, keys, words, count, &reply);
    if (outcome != LB_OK) return outcome;
    struct redis_value answer = reply->value;
    if (answer.type != REDIS_NIL && answer.type != REDIS_INTEGER)
        return redis_refuse(session, reply);
    if (node || redis_node_of(session, request->key, request->key_len, &node) == LB_OK)
        redisson_drop_latch(session, node, words[keys - 1].text);
    /* Nil is the real scripts' answer for a lock that the holder did not hold. The scripts of the
     * fair lock and of the read-write lock report success when the lock was already gone; ours
     * answer 2 then. */
    if (answer.type == REDIS_NIL || answer.integer == 2) return LB_LOST;
    *ret_held = answer.integer == 0;
    return LB_OK;
}

enum lb_outcome redisson_release(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    bool held = false;
    return recipe->unlock(session, request, grant, &held);
}

enum lb_outcome redisson_settle(struct lb_session *session, const struct lb_request *request,
                                struct lb_grant *grant) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    enum lb_outcome outcome;
    bool held = true;
    do outcome = recipe->unlock(session, request, grant, &held);
    while (outcome == LB_OK && held);
    return outcome == LB_LOST ? LB_OK : outcome;
}
