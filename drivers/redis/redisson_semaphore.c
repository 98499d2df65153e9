/* redis-semaphore: Redisson's RSemaphore: a counter of the permits that are left. It knows no
 * holders.
 *
 * So the server can't tell which client has which permit. This driver, not the server, makes sure
 * that a client gives back only what it took. A permit whose holder died never comes back. After an
 * acquire whose answer was lost, no request can find out whether a permit was taken, so the acquire
 * can't be settled: as with the real client, that permit may be lost for ever. */
#include "drivers/redis/redisson_sc.h"

struct semaphore_grant {
    uint32_t permits; /* held */
};

REDIS_SCRIPT(semaphore_take);
REDIS_SCRIPT(semaphore_give);

static enum lb_outcome give_back(struct lb_session *session, const struct lb_request *request) {
    char channel[REDISSON_NAME_MAX];
    sc_channel(request, channel);
    struct redisson_number permits = redisson_number(request->permits ? request->permits : 1);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {channel, 0},
                                       {permits.text, 0},
                                       {redisson_publish(session), 0}};
    const struct redis_reply *reply = NULL;
    return redisson_run(session, NULL, &script_semaphore_give, 2, words, 4, &reply);
}

static enum lb_outcome semaphore_ask(struct redisson_try *one, int64_t *ret_left_ns) {
    const struct lb_request *request = one->request;
    struct semaphore_grant *mine = one->grant->data;
    uint32_t wanted = request->permits ? request->permits : 1;
    struct redisson_number permits = redisson_number(wanted);
    const struct redis_word words[] = {{request->key, request->key_len}, {permits.text, 0}};
    const struct redis_reply *reply = NULL;
    bool synced = true;
    enum lb_outcome outcome = redisson_run_synced(one->session, NULL, &script_semaphore_take, 1,
                                                  words, 2, &reply, &synced);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(one->session, reply);
    *ret_left_ns = LB_NEVER; /* only a message says that a permit was given back */
    if (reply->value.integer == 0) return LB_BUSY;
    if (!synced) return redisson_not_synced(one->session, give_back(one->session, request));
    mine->permits = wanted;
    one->grant->token = 0;
    one->grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static enum lb_outcome semaphore_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    struct semaphore_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX];
    mine->permits = 0;
    sc_channel(request, channel);
    return redisson_await(&(struct redisson_try){.session = session,
                                                 .request = request,
                                                 .grant = grant,
                                                 .ask = semaphore_ask,
                                                 .channel = channel,
                                                 .count = sc_count});
}

static enum lb_outcome semaphore_release(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    struct semaphore_grant *mine = grant->data;
    if (mine->permits == 0) return LB_LOST;
    mine->permits = 0;
    return give_back(session, request);
}

static int semaphore_disarm(struct lb_session *session, const struct lb_request *request,
                            struct lb_err *err) {
    const struct redis_word words[] = {{"DEL", 3}, {request->key, request->key_len}};
    return sc_set(session, NULL, 0, words, 2, err);
}

static const struct redisson_recipe recipe = {
    .keys = (const char *const[]){"", NULL},
    .channels = (const char *const[]){"redisson_sc:{", NULL},
};

static const struct lb_algorithm algorithm = {
    REDISSON_MEMBERS,
    .grant_bytes = sizeof(struct semaphore_grant),
    .arm = sc_arm,
    .arm_range = sc_arm_range,
    .disarm_range = redis_unlink_range,
    .disarm = semaphore_disarm,
    .acquire = semaphore_acquire,
    .release = semaphore_release,
};

const struct lb_lock lock_redis_semaphore = {
    .name = "redis-semaphore",
    .summary = "Redisson's RSemaphore: a counter of free permits, waiters told by PUBLISH",
    .backend = &backend_redis,
    .primitive = LB_SEMAPHORE,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_PERMITS | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE, /* no permit ends by time */
    .waits = "a message of its channel, for as long as it takes",
    .about =
        {.compatible = REDISSON_COMPATIBLE("RSemaphore"),
         .order = "none: a message wakes as many waiters of each process as there are permits",
         .hazards =
             "permits of a dead holder never come back, nor does one whose answer was lost; a "
             "waiter whose message is lost waits for the next one, perhaps for ever; any client "
             "may return permits that it does not hold",
         .acquire_requests = 1,
         .release_requests = 1,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_NEVER},
    .expected = redis_semaphore_expected,
    .algorithm = &algorithm,
    .recipe = &recipe,
};
