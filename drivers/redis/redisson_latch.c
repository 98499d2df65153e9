/* redis-latch: Redisson's RCountDownLatch: a counter that is deleted when it comes to zero. A
 * waiter waits until the counter is gone, so a client that comes late passes at once. To count down
 * is one script, which at zero publishes a message to the waiters.
 *
 * It holds nothing, so there is nothing to settle; but a count-down whose answer was lost may or
 * may not have counted. A latch that was never set is open. */
#include "drivers/redis/redisson.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/key_names.h"

REDIS_SCRIPT(latch_count_down);
REDIS_SCRIPT(latch_set_count);
REDIS_SCRIPT(latch_clear);

#define OPEN "0"
#define NEW_COUNT "1"

/* The name in the channel is always in braces, even if it has braces itself. */
static void name_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]) {
    static const char before[] = "redisson_countdownlatch__channel__{";
    memcpy(out, before, sizeof before - 1);
    memcpy(out + sizeof before - 1, request->key, request->key_len);
    memcpy(out + sizeof before - 1 + request->key_len, "}", 2);
}

/* A latch opens for all; a new count wakes nobody. */
static int for_all_at_zero(const char *message, int waiters) {
    return strcmp(message, OPEN) == 0 ? waiters : 0;
}

static enum lb_outcome latch_ask(struct redisson_try *one, int64_t *ret_left_ns) {
    const struct redis_word words[] = {{"GET", 3}, {one->request->key, one->request->key_len}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redisson_run(one->session, NULL, 0, words, 2, &reply);
    /* the request has changed nothing */
    if (outcome != LB_OK) return outcome == LB_UNKNOWN ? LB_BROKEN : outcome;
    *ret_left_ns = LB_NEVER;
    if (reply->value.type == REDIS_STRING && strtoll(reply->value.text, NULL, 10) > 0)
        return LB_BUSY;
    one->grant->token = 0;
    one->grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static enum lb_outcome latch_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    char channel[REDISSON_NAME_MAX];
    name_channel(request, channel);
    return redisson_await(&(struct redisson_try){.session = session,
                                                 .request = request,
                                                 .grant = grant,
                                                 .ask = latch_ask,
                                                 .channel = channel,
                                                 .count = for_all_at_zero});
}

static enum lb_outcome latch_release(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    (void)grant;
    char channel[REDISSON_NAME_MAX];
    name_channel(request, channel);
    const struct redis_word words[] = {
        {request->key, request->key_len}, {channel, 0}, {OPEN, 0}, {redisson_publish(session), 0}};
    const struct redis_reply *reply = NULL;
    return redisson_run(session, &script_latch_count_down, 2, words, 4, &reply);
}

static int latch_arm(struct lb_session *session, const struct lb_request *request,
                     struct lb_err *err) {
    char channel[REDISSON_NAME_MAX];
    name_channel(request, channel);
    struct redisson_number bound = redisson_number(request->bound);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {channel, 0},
                                       {NEW_COUNT, 0},
                                       {redisson_publish(session), 0},
                                       {bound.text, 0}};
    return sc_set(session, &script_latch_set_count, 2, words, 5, err);
}

static int latch_disarm(struct lb_session *session, const struct lb_request *request,
                        struct lb_err *err) {
    char channel[REDISSON_NAME_MAX];
    name_channel(request, channel);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {channel, 0},
                                       {NEW_COUNT, 0},
                                       {redisson_publish(session), 0}};
    return sc_set(session, &script_latch_clear, 2, words, 4, err);
}

static int latch_residue(struct lb_session *session, const char *prefix,
                         struct lb_residue *ret_residue, struct lb_err *err) {
    if (redisson_residue(session, prefix, ret_residue, err) != 0) return -1;
    /* The channel's brace is always there; see name_channel. */
    return redis_count_channels(session, "redisson_countdownlatch__channel__{", prefix, ret_residue,
                                err);
}

static void latch_names(const struct lb_session *session, const struct lb_request *request,
                        struct lb_names *names) {
    char channel[REDISSON_NAME_MAX];
    redisson_names(session, request, names);
    name_channel(request, channel);
    lb_names_add(names, "channel", "%s", channel);
}

static const struct redisson_recipe recipe = {.keys = (const char *const[]){"", NULL},
                                              .channels = (const char *const[]){NULL}};

static const struct lb_algorithm algorithm = {
    .options = redisson_options,
    .options_bytes = sizeof(struct redisson_options),
    .session_bytes = sizeof(struct redisson_session),
    .connections = 2, /* one subscribes */
    .arm = latch_arm,
    .disarm = latch_disarm,
    .acquire = latch_acquire,
    .release = latch_release,
    .residue = latch_residue,
    .names = latch_names,
};

const struct lb_lock lock_redis_latch = {
    .name = "redis-latch",
    .summary =
        "Redisson's RCountDownLatch: a counter that is deleted at zero, waiters told by PUBLISH",
    .backend = &backend_redis,
    .primitive = LB_LATCH,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SHARE,
    /* no client passes until the count is zero */
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "a message of its channel, for as long as it takes",
    .about =
        {REDISSON_ABOUT("RCountDownLatch", 1, 1), .order = "all at once",
         .hazards =
             "a waiter whose message is lost waits for ever; a client that dies before it counts "
             "down keeps the latch closed; a latch that was lost with its server is open",
         .crash = LB_CRASH_NEVER},
    .algorithm = &algorithm,
    .recipe = &recipe,
};
