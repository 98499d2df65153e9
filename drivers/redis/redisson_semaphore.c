/* redis-semaphore: Redisson's RSemaphore: a counter of the permits that are left. It knows no
 * holders.
 *
 * So the server can't tell which client has which permit. This driver, not the server, makes sure
 * that a client gives back only what it took. A permit whose holder died never comes back. After an
 * acquire whose answer was lost, no request can find out whether a permit was taken, so the acquire
 * can't be settled: as with the real client, that permit may be lost for ever. */
#include <stdlib.h>

#include "drivers/injected.h"
#include "drivers/redis/redisson.h"

REDIS_SCRIPT(semaphore_take);
REDIS_SCRIPT(semaphore_give);
REDIS_SCRIPT(semaphore_set_permits);

/* The message is a number of permits, and as many waiters wake. */
static int for_as_many(const char *message, int waiters) {
    long left = strtol(message, NULL, 10);
    return left < waiters ? (int)(left < 0 ? 0 : left) : waiters;
}

#define SEMAPHORE_CHANNEL .channel = "redisson_sc:", .count = for_as_many

/* As Redisson's trySetPermits(bound): sets the counter unless it exists. */
static int semaphore_arm(struct lb_session *session, const struct lb_request *request,
                         struct lb_err *err) {
    static const struct redisson_call set = {&script_semaphore_set_permits, "kc bP"};
    const struct redis_reply *reply = NULL;
    if (redisson_run(session, request, NULL, &set, &reply) == LB_OK) return 0;
    return err_set(err, session->err.code, "%s", session->err.text);
}

static enum lb_outcome semaphore_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    struct redisson_grant *mine = grant->data;
    mine->permits = request->permits ? request->permits : 1;
    enum lb_outcome outcome = redisson_await(session, request, grant, false, "");
    if (outcome != LB_OK) mine->permits = 0;
    return outcome;
}

static enum lb_outcome read_taken(struct lb_session *session, const struct redis_reply *reply,
                                  uint64_t *ret_token, int64_t *ret_left_ns) {
    (void)ret_token;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    *ret_left_ns = LB_NEVER; /* only a message says that a permit was given back */
    return reply->value.integer == 0 ? LB_BUSY : LB_OK;
}

static enum lb_outcome semaphore_release(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    static const struct redisson_call give = {&script_semaphore_give, "kc pP"};
    struct redisson_grant *mine = grant->data;
    const struct redis_reply *reply = NULL;
    if (mine->permits == 0) return LB_LOST;
    enum lb_outcome outcome = redisson_run(session, request, grant, &give, &reply);
    mine->permits = 0;
    return outcome;
}

static const struct redisson_recipe redis_semaphore_recipe = {
    .take = {{&script_semaphore_take, "k p"}},
    .read = read_taken,
    SEMAPHORE_CHANNEL,
    .keys = (const char *const[]){NULL},
};

#define SEMAPHORE_MEMBERS                                                                          \
    REDISSON_MEMBERS, .options = redisson_options, .arm = semaphore_arm,                           \
                      .disarm_range = redis_unlink_range

static const struct lb_algorithm redis_semaphore_algorithm = {
    SEMAPHORE_MEMBERS,
    .disarm = redis_delete,
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
        {REDISSON_ABOUT("RSemaphore", 1, 1, LB_CRASH_NEVER),
         .order = "none: a message wakes as many waiters of each process as there are permits",
         .hazards =
             "permits of a dead holder never come back, nor does one whose answer was lost; a "
             "waiter whose message is lost waits for the next one, perhaps for ever; any client "
             "may return permits that it does not hold"},
    .algorithm = &redis_semaphore_algorithm,
    .recipe = &redis_semaphore_recipe,
};

/* redis-permit: Redisson's RPermitExpirableSemaphore: RSemaphore's counter, and a sorted set of the
 * permits that are out, each a random id with the moment when it ends. So permits have owners and
 * leases.
 *
 * Those moments are by the clients' clocks. An expired permit becomes free only when the next client asks
 * for a permit. If clocks differ by more than a lease, permits end early or never. */

REDIS_SCRIPT(permit_take);
REDIS_SCRIPT(permit_give_one);
REDIS_SCRIPT(permit_give_many);
REDIS_SCRIPT(permit_extend);
REDIS_SCRIPT(permit_clear);

static enum lb_outcome permit_release(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    static const struct redisson_call one = {&script_permit_give_one, "kcs inP"},
                                      many = {&script_permit_give_many, "kcs inPp"};
    const struct redisson_grant *mine = grant->data;
    long long given = 0;
    if (mine->permits == 0) return LB_LOST;
    enum lb_outcome outcome =
        redisson_ask(session, request, grant, mine->permits == 1 ? &one : &many, &given);
    return outcome == LB_OK && given != mine->permits ? LB_LOST : outcome;
}

/* "OK"; ":" and the moment when the next lease ends; or nil: no lease ends. */
static enum lb_outcome read_permit(struct lb_session *session, const struct redis_reply *reply,
                                   uint64_t *ret_token, int64_t *ret_left_ns) {
    (void)ret_token;
    *ret_left_ns = LB_NEVER;
    if (reply->value.type == REDIS_NIL) return LB_BUSY;
    if (reply->value.type != REDIS_STRING) return redis_refuse(session, reply);
    if (reply->value.text[0] != ':') return LB_OK;
    long long left_ms = strtoll(reply->value.text + 1, NULL, 10);
    left_ms -= lb_client_wall_now(session) / LB_MS_NS;
    *ret_left_ns = left_ms > 0 ? lb_of_ms(left_ms) : 0;
    return LB_BUSY;
}

static enum lb_outcome permit_acquire(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct redisson_grant *mine = grant->data;
    mine->permits = request->permits ? request->permits : 1;
    if (mine->permits > REDISSON_PERMITS_MAX) {
        mine->permits = 0;
        return lb_fail(session, LB_REFUSED, "redis: at most %d permits at once",
                       REDISSON_PERMITS_MAX);
    }
    rng_bytes(&session->rng, mine->id, REDISSON_ID_BYTES);
    return redisson_await(session, request, grant, false, "");
}

static enum lb_outcome permit_settle(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    enum lb_outcome outcome = permit_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

static int permit_disarm(struct lb_session *session, const struct lb_request *request,
                         struct lb_err *err) {
    static const struct redisson_call clear = {&script_permit_clear, "ks "};
    const struct redis_reply *reply = NULL;
    if (redisson_run(session, request, NULL, &clear, &reply) == LB_OK) return 0;
    return err_set(err, session->err.code, "%s", session->err.text);
}

static const struct redisson_recipe redis_permit_recipe = {
    .take = {{&script_permit_take, "ksc penNPi"}},
    .read = read_permit,
    .extend = {{&script_permit_extend, "ksc penPi"}},
    SEMAPHORE_CHANNEL,
    .keys = (const char *const[]){"", NULL}, /* {name}:timeout */
};

static const struct lb_algorithm redis_permit_algorithm = {
    SEMAPHORE_MEMBERS,         .disarm = permit_disarm, .acquire = permit_acquire,
    .release = permit_release, .renew = redisson_renew, .settle = permit_settle,
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
    .about = {REDISSON_ABOUT("RPermitExpirableSemaphore", 1, 1, LB_CRASH_LEASE),
              .order = "none: a message wakes as many waiters of each process as there are permits",
              .hazards =
                  "leases end by the clients' clocks: a client whose clock is ahead takes permits "
                  "back too early; an ended permit is returned only when a client asks"},
    .algorithm = &redis_permit_algorithm,
    .recipe = &redis_permit_recipe,
};
