/* redisson_sc: see redisson_sc.h. */
#include "drivers/redis/redisson_sc.h"

#include <stdlib.h>

REDIS_SCRIPT(semaphore_set_permits);

void sc_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]) {
    redisson_name(request, "redisson_sc:", "", out);
}

int sc_count(const char *message, int waiters) {
    long left = strtol(message, NULL, 10);
    return left < waiters ? (int)(left < 0 ? 0 : left) : waiters;
}

int sc_set(struct lb_session *session, const struct redis_script *script, int keys,
           const struct redis_word *words, int count, struct lb_err *err) {
    const struct redis_reply *reply = NULL;
    if (redisson_run(session, NULL, script, keys, words, count, &reply) == LB_OK) return 0;
    return err_set(err, session->err.code, "%s", session->err.text);
}

int sc_arm(struct lb_session *session, const struct lb_request *request, struct lb_err *err) {
    char channel[REDISSON_NAME_MAX];
    sc_channel(request, channel);
    struct redisson_number bound = redisson_number(request->bound);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {channel, 0},
                                       {bound.text, 0},
                                       {redisson_publish(session), 0}};
    return sc_set(session, &script_semaphore_set_permits, 2, words, 4, err);
}
