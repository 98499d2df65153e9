/* redis-semaphore: Redisson's RSemaphore: a counter of the permits that are left. It knows no
 * holders.
 *
 * So the server can't tell which client has which permit. This driver, not the server, makes sure
 * that a client gives back only what it took. A permit whose holder died never comes back. After an
 * acquire whose answer was lost, no request can find out whether a permit was taken, so the acquire
 * can't be settled: as with the real client, that permit may be lost for ever. */
#include <stdlib.h>
#include <string.h>

#include "drivers/redis/redisson.h"

struct semaphore_grant {
    uint32_t permits; /* held */
};

REDIS_SCRIPT(semaphore_take);
REDIS_SCRIPT(semaphore_give);
REDIS_SCRIPT(semaphore_set_permits);

/* The channel on which changes of a counter are published. */
static void sc_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]) {
    redisson_name(request, "redisson_sc:", "", out);
}

/* A pubsub_count_fn: the message is a number of permits, and as many waiters wake. */
static int sc_count(const char *message, int waiters) {
    long left = strtol(message, NULL, 10);
    return left < waiters ? (int)(left < 0 ? 0 : left) : waiters;
}

/* As Redisson's trySetPermits(bound): sets the counter unless it exists. */
static int sc_arm(struct lb_session *session, const struct lb_request *request,
                  struct lb_err *err) {
    char channel[REDISSON_NAME_MAX];
    sc_channel(request, channel);
    struct redisson_number bound = redisson_number(request->bound);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {channel, 0},
                                       {bound.text, 0},
                                       {redisson_publish(session), 0}};
    return redis_tell(session, &script_semaphore_set_permits, 2, words, 4, err);
}

static enum lb_outcome semaphore_release(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    struct semaphore_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX];
    if (mine->permits == 0) return LB_LOST;
    mine->permits = 0;
    sc_channel(request, channel);
    struct redisson_number permits = redisson_number(request->permits ? request->permits : 1);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {channel, 0},
                                       {permits.text, 0},
                                       {redisson_publish(session), 0}};
    const struct redis_reply *reply = NULL;
    return redis_run(session, &script_semaphore_give, 2, words, 4, &reply);
}

static enum lb_outcome semaphore_ask(struct redisson_try *one, int64_t *ret_left_ns) {
    const struct lb_request *request = one->request;
    struct semaphore_grant *mine = one->grant->data;
    uint32_t wanted = request->permits ? request->permits : 1;
    struct redisson_number permits = redisson_number(wanted);
    const struct redis_word words[] = {{request->key, request->key_len}, {permits.text, 0}};
    const struct redis_reply *reply = NULL;
    bool synced = true;
    enum lb_outcome outcome =
        redisson_run_synced(one->session, &script_semaphore_take, 1, words, 2, &reply, &synced);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(one->session, reply);
    *ret_left_ns = LB_NEVER; /* only a message says that a permit was given back */
    if (reply->value.integer == 0) return LB_BUSY;
    mine->permits = wanted;
    return redisson_taken(one, synced, 0, LB_NEVER);
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

static int semaphore_disarm(struct lb_session *session, const struct lb_request *request,
                            struct lb_err *err) {
    const struct redis_word words[] = {{"DEL", 3}, {request->key, request->key_len}};
    return redis_tell(session, NULL, 0, words, 2, err);
}

static const struct redisson_recipe redis_semaphore_recipe = {
    .keys = (const char *const[]){"", NULL},
    .channels = (const char *const[]){"redisson_sc:{", NULL},
};

static const struct lb_algorithm redis_semaphore_algorithm = {
    REDISSON_MEMBERS,
    .grant_bytes = sizeof(struct semaphore_grant),
    .arm = sc_arm,
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
        {REDISSON_ABOUT("RSemaphore", 1, 1),
         .order = "none: a message wakes as many waiters of each process as there are permits",
         .hazards =
             "permits of a dead holder never come back, nor does one whose answer was lost; a "
             "waiter whose message is lost waits for the next one, perhaps for ever; any client "
             "may return permits that it does not hold",
         .crash = LB_CRASH_NEVER},
    .algorithm = &redis_semaphore_algorithm,
    .recipe = &redis_semaphore_recipe,
};

/* redis-permit: Redisson's RPermitExpirableSemaphore: RSemaphore's counter, and a sorted set of the
 * permits that are out, each a random id with the moment when it ends. So permits have owners and
 * leases.
 *
 * Those moments are by the clients' clocks. An expired permit becomes free only when the next client asks
 * for a permit. If clocks differ by more than a lease, permits end early or never. */

#define ID_BYTES 16
#define PERMITS_MAX 64          /* of one request: their ids fit in one argument */
#define NEVER "922337203685477" /* the moment of a permit without a lease */

struct permit_grant {
    /* the first permit's; the others differ from it in their last bytes */
    unsigned char id[ID_BYTES];
    uint32_t permits; /* the number of permits asked for; 0 = nothing was asked */
};

REDIS_SCRIPT(permit_take);
REDIS_SCRIPT(permit_give_one);
REDIS_SCRIPT(permit_give_many);
REDIS_SCRIPT(permit_extend);
REDIS_SCRIPT(permit_clear);

struct permit_names {
    char set[REDISSON_NAME_MAX], channel[REDISSON_NAME_MAX];
};

static void name_both(const struct lb_request *request, struct permit_names *names) {
    redisson_name(request, "", ":timeout", names->set);
    sc_channel(request, names->channel);
}

static size_t list_ids(const struct permit_grant *mine, char out[PERMITS_MAX * ID_BYTES]) {
    for (uint32_t i = 0; i < mine->permits; i++) {
        memcpy(out + i * ID_BYTES, mine->id, ID_BYTES);
        out[i * ID_BYTES + ID_BYTES - 1] = (char)(mine->id[ID_BYTES - 1] ^ i);
    }
    return mine->permits * ID_BYTES;
}

/* The end of a lease that begins at now_ms, rounded up, so that no grant outlasts its permit. */
static struct redisson_number lease_end(long long now_ms, int64_t lease_ns) {
    return redisson_number(now_ms + 1 + (lease_ns + LB_MS_NS - 1) / LB_MS_NS);
}

static enum lb_outcome permit_release(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    const struct permit_grant *mine = grant->data;
    struct permit_names names;
    char ids[PERMITS_MAX * ID_BYTES];
    if (mine->permits == 0) return LB_LOST;
    size_t len = list_ids(mine, ids);
    name_both(request, &names);
    struct redisson_number now = redisson_number(redisson_now_ms(session)),
                           permits = redisson_number(mine->permits);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {names.channel, 0},
                                       {names.set, 0},
                                       {ids, len},
                                       {now.text, 0},
                                       {redisson_publish(session), 0},
                                       {permits.text, 0}};
    const struct redis_reply *reply = NULL;
    bool one = mine->permits == 1;
    enum lb_outcome outcome =
        redis_run(session, one ? &script_permit_give_one : &script_permit_give_many, 3, words,
                  one ? 6 : 7, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    return reply->value.integer == mine->permits ? LB_OK : LB_LOST;
}

static enum lb_outcome permit_ask(struct redisson_try *one, int64_t *ret_left_ns) {
    const struct lb_request *request = one->request;
    const struct permit_grant *mine = one->grant->data;
    struct permit_names names;
    char ids[PERMITS_MAX * ID_BYTES];
    size_t len = list_ids(mine, ids);
    name_both(request, &names);
    int64_t sent_ns = lb_now();
    long long now_ms = redisson_now_ms(one->session);
    struct redisson_number permits = redisson_number(mine->permits), now = redisson_number(now_ms);
    struct redisson_number end = lease_end(now_ms, request->lease_ns);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {names.set, 0},
                                       {names.channel, 0},
                                       {permits.text, 0},
                                       {end.text, 0},
                                       {now.text, 0},
                                       {NEVER, 0},
                                       {redisson_publish(one->session), 0},
                                       {ids, len}};
    const struct redis_reply *reply = NULL;
    bool synced = true;
    enum lb_outcome outcome =
        redisson_run_synced(one->session, &script_permit_take, 3, words, 9, &reply, &synced);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_NIL) {
        *ret_left_ns = LB_NEVER;
        return LB_BUSY;
    }
    if (reply->value.type != REDIS_STRING) return redis_refuse(one->session, reply);
    if (reply->value.text[0] == ':') {
        long long end_ms = strtoll(reply->value.text + 1, NULL, 10);
        long long asked_ms = redisson_now_ms(one->session);
        *ret_left_ns = end_ms > asked_ms ? lb_of_ms(end_ms - asked_ms) : 0;
        return LB_BUSY;
    }
    return redisson_taken(one, synced, 0, sent_ns + request->lease_ns);
}

static enum lb_outcome permit_acquire(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct permit_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX];
    mine->permits = request->permits ? request->permits : 1;
    if (mine->permits > PERMITS_MAX) {
        mine->permits = 0;
        return lb_fail(session, LB_REFUSED, "redis: at most %d permits at once", PERMITS_MAX);
    }
    rng_bytes(&session->rng, mine->id, ID_BYTES);
    sc_channel(request, channel);
    return redisson_await(&(struct redisson_try){.session = session,
                                                 .request = request,
                                                 .grant = grant,
                                                 .ask = permit_ask,
                                                 .channel = channel,
                                                 .count = sc_count});
}

static enum lb_outcome permit_settle(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    enum lb_outcome outcome = permit_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

static enum lb_outcome permit_renew(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    const struct permit_grant *mine = grant->data;
    struct permit_names names;
    char ids[PERMITS_MAX * ID_BYTES];
    if (mine->permits == 0) return LB_LOST;
    size_t len = list_ids(mine, ids);
    name_both(request, &names);
    int64_t sent_ns = lb_now();
    long long now_ms = redisson_now_ms(session);
    struct redisson_number permits = redisson_number(mine->permits), now = redisson_number(now_ms);
    struct redisson_number end = lease_end(now_ms, request->lease_ns);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {names.set, 0},
                                       {names.channel, 0},
                                       {permits.text, 0},
                                       {end.text, 0},
                                       {now.text, 0},
                                       {redisson_publish(session), 0},
                                       {ids, len}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_run(session, &script_permit_extend, 3, words, 8, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    if (reply->value.integer != mine->permits) return LB_LOST;
    grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

static int permit_disarm(struct lb_session *session, const struct lb_request *request,
                         struct lb_err *err) {
    struct permit_names names;
    name_both(request, &names);
    const struct redis_word words[] = {{request->key, request->key_len}, {names.set, 0}};
    return redis_tell(session, &script_permit_clear, 2, words, 2, err);
}

static const struct redisson_recipe redis_permit_recipe = {
    .keys = (const char *const[]){"", "{", NULL}, /* name, {name}:timeout */
    .channels = (const char *const[]){"redisson_sc:{", NULL},
};

static const struct lb_algorithm redis_permit_algorithm = {
    REDISSON_MEMBERS,
    .grant_bytes = sizeof(struct permit_grant),
    .arm = sc_arm,
    .disarm_range = redis_unlink_range,
    .disarm = permit_disarm,
    .acquire = permit_acquire,
    .release = permit_release,
    .renew = permit_renew,
    .settle = permit_settle,
};

const struct lb_lock lock_redis_permit = {
    .name = "redis-permit",
    .summary =
        "Redisson's RPermitExpirableSemaphore: permits with ids and leases, waiters told by PUBLISH",
    .backend = &backend_redis,
    .primitive = LB_SEMAPHORE,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_PERMITS | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "a message of its channel, at most until the next permit's lease ends",
    .about = {REDISSON_ABOUT("RPermitExpirableSemaphore", 1, 1),
              .order = "none: a message wakes as many waiters of each process as there are permits",
              .hazards =
                  "leases end by the clients' clocks: a client whose clock is ahead takes permits "
                  "back too early; an ended permit is returned only when a client asks",
              .crash = LB_CRASH_LEASE},
    .algorithm = &redis_permit_algorithm,
    .recipe = &redis_permit_recipe,
};
