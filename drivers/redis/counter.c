/* counter: a number at a key, which clients count up.
 *
 * redis-incr: INCR, one command that reads, adds and writes. Redis does one command after the
 * other, so that no update is lost and nobody is refused. Programs use it for a stock (DECR), a
 * quota, an id.
 *
 * unsafe-redis-get-set: GET, then SET of the number and one: a write of another client between the
 * two is lost. A control: the checks must catch it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/redis/redis.h"
#include "drivers/redis/string.h"

static int counter_arm(struct lb_session *session, const struct lb_request *request,
                       struct lb_err *err) {
    const struct redis_word words[] = {
        {"SET", 3}, {request->key, request->key_len}, {"0", 1}, {"NX", 2}};
    return redis_tell(session, NULL, 0, words, 4, err);
}

#define COUNTER_MEMBERS                                                                            \
    .arm = counter_arm, .disarm = redis_delete, .disarm_range = redis_unlink_range,                \
    .residue = string_residue, .names = string_names

/* --- INCR --- */

static enum lb_outcome incr(struct lb_session *session, const struct lb_request *request,
                            struct lb_grant *grant) {
    long long number = 0;
    enum lb_outcome outcome = redis_number(session, request, "INCR", NULL, &number);
    return outcome == LB_OK ? lb_granted(grant, (uint64_t)number, LB_NEVER) : outcome;
}

static enum lb_outcome nothing(struct lb_session *session, const struct lb_request *request,
                               struct lb_grant *grant) {
    (void)session, (void)request, (void)grant; /* all was done by INCR */
    return LB_OK;
}

static const struct lb_algorithm incr_algorithm = {
    COUNTER_MEMBERS,
    .acquire = incr,
    .release = nothing,
};

const struct lb_lock lock_redis_incr = {
    .name = "redis-incr",
    .summary = "no lock, one command: INCR of a number at a key",
    .backend = &backend_redis,
    .primitive = LB_OPTIMISTIC,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SHARE | LB_CAP_ATOMIC,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "never",
    .about =
        {.compatible = "every client that changes the key by INCR, DECR or a script",
         .order = "none",
         .token = "the number",
         .hazards =
             "only for what one command or script can do: nothing can be worked on between reading and "
             "writing; a command whose answer is lost has been done once or never, and repeated it may "
             "count twice; a failover that loses the last writes gives numbers out twice",
         LB_TERMS(1, 0, LB_ON_ONE_NODE, LB_CRASH_AT_ONCE)},
    .algorithm = &incr_algorithm,
};

/* --- GET, SET --- */

static enum lb_outcome get(struct lb_session *session, const struct lb_request *request,
                           struct lb_grant *grant) {
    const struct redis_word words[] = {{"GET", 3}, {request->key, request->key_len}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_run(session, NULL, 0, words, 2, &reply);
    if (outcome != LB_OK) return outcome;
    return lb_granted(grant,
                      reply->value.type == REDIS_STRING ? strtoull(reply->value.text, NULL, 10) : 0,
                      LB_NEVER);
}

static enum lb_outcome set(struct lb_session *session, const struct lb_request *request,
                           struct lb_grant *grant) {
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, grant->token + 1);
    const struct redis_word words[] = {{"SET", 3}, {request->key, request->key_len}, {number, 0}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_run(session, NULL, 0, words, 3, &reply);
    if (outcome == LB_OK) grant->token++;
    return outcome;
}

static const struct lb_algorithm get_set_algorithm = {
    COUNTER_MEMBERS,
    .acquire = get,
    .release = set,
};

const struct lb_lock lock_unsafe_redis_get_set = {
    .name = "unsafe-redis-get-set",
    .summary = "a number counted up by GET, then SET of the number and one",
    .backend = &backend_redis,
    .primitive = LB_OPTIMISTIC,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SHARE | LB_CAP_CONTROL,
    .waits = "never",
    .about =
        {UNSAFE_ABOUT(1, 1), .hazards = "loses updates", .crash = LB_CRASH_AT_ONCE,
         .mistake =
             "read, compute, write, as one writes it for one client: whatever others write between "
             "the GET and the SET is overwritten",
         .exposed_by = "no-lock", .exposed_as = LB_EXPOSED_VIOLATED},
    .algorithm = &get_set_algorithm,
};
