/* bad_real: see bad_lock.h. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "drivers/redis/redis.h"
#include "drivers/redis/string.h"
#include "drivers/registry.h"
#include "drivers/tests/bad_lock.h"
#include "drivers/wait.h"

#define RIGHT registry_lock(session->lock->name)->algorithm
#define ANY __attribute__((unused))
#define BAD_IN_DOUBT "a renewal without an answer is in doubt, and extends nothing"
#define BAD(name)                                                                                  \
    static enum lb_outcome name(struct lb_session *session ANY,                                    \
                                const struct lb_request *request ANY, struct lb_grant *grant ANY)

/* The mistake of clients that treat a missing answer as a certain one. */
#define SURE(name, call, outcome_said)                                                             \
    BAD(name) {                                                                                    \
        enum lb_outcome outcome = RIGHT->call(session, request, grant);                            \
        return outcome == LB_UNKNOWN ? (outcome_said) : outcome;                                   \
    }
SURE(certain_acquire, acquire, LB_BUSY)
SURE(sure_release, release, LB_OK)
SURE(sure_renew, renew, LB_OK)
SURE(lost_renew, renew, LB_LOST)

/* A lease that counts from the answer. */
#define LATE(name, call)                                                                           \
    BAD(name) {                                                                                    \
        enum lb_outcome outcome = RIGHT->call(session, request, grant);                            \
        if (outcome == LB_OK) grant->lease_end_ns = lb_now() + request->lease_ns;                  \
        return outcome;                                                                            \
    }
LATE(late_acquire, acquire)
LATE(late_renew, renew)

BAD(idle_settle) {
    return LB_OK;
}

BAD(uncounted_acquire) {
    uint64_t commands = session->commands;
    enum lb_outcome outcome = RIGHT->acquire(session, request, grant);
    session->commands = commands;
    return outcome;
}

BAD(long_acquire) {
    struct lb_request longer = *request;
    longer.lease_ns *= 100;
    return RIGHT->acquire(session, &longer, grant);
}

/* SET NX without PX: as long as the server lives, for all that a test waits for. */
BAD(endless_acquire) {
    struct lb_request endless = *request;
    endless.lease_ns = 3600 * LB_S_NS;
    int64_t before_ns = lb_now();
    enum lb_outcome outcome = RIGHT->acquire(session, &endless, grant);
    grant->lease_end_ns = before_ns + request->lease_ns;
    return outcome;
}

static enum lb_outcome shorter(lb_acquire_fn *call, struct lb_session *session,
                               const struct lb_request *request, struct lb_grant *grant,
                               int64_t lease_ns) {
    struct lb_request less = *request;
    less.lease_ns = lease_ns;
    enum lb_outcome outcome = call(session, &less, grant);
    if (outcome == LB_OK) grant->lease_end_ns += request->lease_ns - lease_ns;
    return outcome;
}

BAD(short_acquire) {
    return shorter(RIGHT->acquire, session, request, grant, request->lease_ns / 10 * 9);
}

BAD(seconds_acquire) {
    int64_t lease_ns = request->lease_ns / LB_S_NS * LB_S_NS;
    return shorter(RIGHT->acquire, session, request, grant, lease_ns ? lease_ns : LB_S_NS);
}

BAD(short_renew) {
    return shorter(RIGHT->renew, session, request, grant, request->lease_ns / 10 * 9);
}

/* Two requests, between which the lease may end. */
BAD(two_step_release) {
    const struct string_grant *mine = grant->data;
    const struct redis_word get[] = {{"GET", 3}, {request->key, request->key_len}};
    const struct redis_word del[] = {{"DEL", 3}, {request->key, request->key_len}};
    const struct redis_reply *reply;
    enum lb_outcome outcome = redis_run(session, NULL, 0, get, 2, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_STRING || strcmp(reply->value.text, mine->token) != 0)
        return LB_LOST;
    return redis_run(session, NULL, 0, del, 2, &reply);
}

/* GET, and if there is nothing SET: another may be quicker in between. */
BAD(two_step_acquire) {
    struct string_grant *mine = grant->data;
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    lb_random_hex(&session->rng, mine->token, STRING_TOKEN_BYTES);
    const struct redis_word get[] = {{"GET", 3}, {request->key, request->key_len}};
    const struct redis_word set[] = {
        {"SET", 3}, {request->key, request->key_len}, {mine->token, 0}, {"PX", 2}, {lease_ms, 0}};
    for (bool once = request->deadline_ns <= lb_now();;) {
        const struct redis_reply *reply;
        enum lb_outcome outcome = redis_run(session, NULL, 0, get, 2, &reply);
        grant->lease_end_ns = lb_now() + request->lease_ns;
        if (outcome == LB_OK && reply->value.type == REDIS_NIL)
            return redis_run(session, NULL, 0, set, 5, &reply);
        if (outcome != LB_OK || once) return outcome == LB_OK ? LB_BUSY : outcome;
        if (lb_stopping() || lb_now() >= request->deadline_ns) return LB_TIMEOUT;
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    }
}

/* Asks who holds it, and waits for a word of the holder's end: which never comes if it ended in between. */
BAD(sleepy_acquire) {
    struct lb_request once = *request;
    const struct redis_word get[] = {{"GET", 3}, {request->key, request->key_len}};
    once.deadline_ns = 0;
    for (bool tries = request->deadline_ns <= lb_now();;) {
        const struct redis_reply *reply;
        enum lb_outcome outcome = RIGHT->acquire(session, &once, grant);
        if (outcome != LB_BUSY || tries) return outcome;
        outcome = redis_run(session, NULL, 0, get, 2, &reply);
        if (outcome != LB_OK) return outcome;
        bool missed = reply->value.type == REDIS_NIL;
        lb_sleep_until(missed ? request->deadline_ns : lb_now() + 5 * LB_MS_NS);
        if (lb_stopping() || lb_now() >= request->deadline_ns) return LB_TIMEOUT;
    }
}

/* An answer that comes after the deadline is not looked at. */
BAD(hasty_acquire) {
    bool waits = request->deadline_ns > lb_now();
    enum lb_outcome outcome = RIGHT->acquire(session, request, grant);
    return waits && outcome == LB_OK && lb_now() > request->deadline_ns ? LB_TIMEOUT : outcome;
}

/* Deletes the key once more, to be sure. */
BAD(thorough_release) {
    const struct redis_word del[] = {{"DEL", 3}, {request->key, request->key_len}};
    const struct redis_reply *reply;
    enum lb_outcome outcome = RIGHT->release(session, request, grant);
    return outcome == LB_OK ? redis_run(session, NULL, 0, del, 2, &reply) : outcome;
}

/* Frees it and takes it again. */
BAD(anew_renew) {
    enum lb_outcome outcome = RIGHT->release(session, request, grant);
    return outcome == LB_OK ? RIGHT->acquire(session, request, grant) : outcome;
}

BAD(hoarding_acquire) {
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) return LB_REFUSED;
    return RIGHT->acquire(session, request, grant);
}

/* One more key, for "who had it last". */
BAD(tracing_release) {
    char name[LB_KEY_MAX + 16];
    const struct redis_reply *reply;
    snprintf(name, sizeof name, "last:%s", request->key);
    const struct redis_word words[] = {{"SET", 3}, {name, 0}, {"us", 2}};
    enum lb_outcome outcome = RIGHT->release(session, request, grant);
    return outcome == LB_OK ? redis_run(session, NULL, 0, words, 3, &reply) : outcome;
}

BAD(never_renew) {
    return lb_fail(session, LB_REFUSED, "no renewal");
}

BAD(counting_renew) {
    grant->lease_end_ns = lb_now() + request->lease_ns;
    return RIGHT->renew(session, request, grant);
}

/* Of locks that write without a grant. */
BAD(certain_write) {
    enum lb_outcome outcome = RIGHT->release(session, request, grant);
    return outcome == LB_UNKNOWN || outcome == LB_BROKEN ? LB_BUSY : outcome;
}

/* The holder is not told that its session is over. */
BAD(quiet_acquire) {
    session->on_lost = NULL;
    return RIGHT->acquire(session, request, grant);
}

const struct bad_real bad_reals[] = {
    /* This one comes first, on a server without keys: a key of another wrong lock might expire between the two counts,
     * and so hide the additional key. */
    {"no more is on the server than before", .release = tracing_release},
    {"an acquire without an answer is in doubt, then settled", .acquire = certain_acquire},
    {"a killed server ends every wait, and serves again", .acquire = certain_acquire},
    {"an acquire without an answer is in doubt, then settled", .settle = idle_settle},
    {"counts its commands, as many as it says", .acquire = uncounted_acquire},
    {"opens no more files than it says", .acquire = hoarding_acquire},
    {"a release cut off is in doubt, then settled", .release = sure_release, .says_yes = true},
    {"a vanished holder's lock is freed", .acquire = long_acquire},
    {BAD_ENDLESS, .acquire = endless_acquire},
    {"a lease lasts until its stated end", .acquire = short_acquire, .says_yes = true},
    {"a lease lasts until its stated end", .acquire = seconds_acquire, .says_yes = true},
    {"a lease lasts until its stated end", .renew = short_renew, .says_yes = true},
    {"a lease counts from before the request", .acquire = late_acquire, .says_yes = true},
    {"a lease counts from before the request", .renew = late_renew, .says_yes = true},
    {"a lease counts from before the request", .renew = never_renew},
    {BAD_IN_DOUBT, .renew = sure_renew, .says_yes = true},
    {BAD_IN_DOUBT, .renew = lost_renew},
    {BAD_IN_DOUBT, .renew = counting_renew, .says_yes = true},
    {"each message of an acquire may be late", .acquire = two_step_acquire, .says_yes = true},
    {"each message of a wait may be late", .acquire = sleepy_acquire},
    {"each message of a wait that times out may be late", .acquire = hasty_acquire},
    {"each message of a release may be late", .release = thorough_release, .says_yes = true},
    {"each message of a renewal may be late", .renew = anew_renew, .says_yes = true},
    {"a lease may end while a message is late", .release = two_step_release, .says_yes = true},
    {"a write cut off is in doubt", .lock = "pg-optimistic", .release = certain_write},
    {"a session that ends tells its holder", .lock = "zk-lock", .acquire = quiet_acquire},
    {0},
};

struct lb_lock bad_real_lock(const struct bad_real *fault) {
    static struct lb_algorithm bad;
    struct lb_lock lock = *registry_lock(fault->lock ? fault->lock : "redis-setnx");
    bad = *lock.algorithm;
    if (fault->acquire) bad.acquire = fault->acquire;
    if (fault->release) bad.release = fault->release;
    if (fault->renew) bad.renew = fault->renew;
    if (fault->settle) bad.settle = fault->settle;
    lock.algorithm = &bad;
    return lock;
}
