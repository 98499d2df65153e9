/* redisson_sc: see redisson_sc.h. */
#include "drivers/redis/redisson_sc.h"

#include <stdio.h>
#include <stdlib.h>

#define POSTED 64 /* commands that wait for their answers together */

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

/* Sets the permits; post: without waiting for the answer. */
static int set_permits(struct lb_session *session, const struct lb_request *request, bool post,
                       struct lb_err *err) {
    char channel[REDISSON_NAME_MAX];
    sc_channel(request, channel);
    struct redisson_number bound = redisson_number(request->bound);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {channel, 0},
                                       {bound.text, 0},
                                       {redisson_publish(session), 0}};
    if (!post) return sc_set(session, &script_semaphore_set_permits, 2, words, 4, err);
    const struct redis_command command = {
        .script = &script_semaphore_set_permits, .words = words, .count = 4, .keys = 2};
    struct redis_node *node = NULL;
    if (redis_node_of(session, request->key, request->key_len, &node) == LB_OK &&
        redis_post(session, node, &command) == LB_OK)
        return 0;
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

int sc_arm(struct lb_session *session, const struct lb_request *request, struct lb_err *err) {
    return set_permits(session, request, false, err);
}

int sc_arm_range(struct lb_session *session, const struct lb_key_range *range,
                 const struct lb_request *like, struct lb_err *err) {
    struct lb_request request = *like;
    char name[LB_KEY_MAX];
    request.key = name;
    for (uint32_t i = 0; i < range->count; i++) {
        request.key_len =
            (size_t)snprintf(name, sizeof name, "%s%u", range->prefix, range->first + i);
        /* Only the first command, every POSTED-th and the last wait for their answers: with one
         * answer those to all commands before it have come. A cluster has several connections, so
         * there each command waits. */
        bool last = i % POSTED == POSTED - 1 || i + 1 == range->count;
        bool post = i > 0 && !last && !redis_is_cluster(session);
        if (set_permits(session, &request, post, err) != 0) return -1;
    }
    return 0;
}
