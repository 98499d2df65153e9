/* bad_redis: redis-setnx with one mistake each. See bad_lock.h. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "drivers/redis/redis.h"
#include "drivers/redis/string.h"
#include "drivers/registry.h"
#include "drivers/tests/bad_lock.h"
#include "drivers/wait.h"

#define RIGHT registry_lock("redis-setnx")->algorithm
#define ANY __attribute__((unused))
#define BAD(name)                                                                                  \
    static enum lb_outcome name(struct lb_session *session ANY,                                    \
                                const struct lb_request *request ANY, struct lb_grant *grant ANY)

/* The mistake of clients that treat a missing answer as a refusal. */
BAD(certain_acquire) {
    enum lb_outcome outcome = RIGHT->acquire(session, request, grant);
    return outcome == LB_UNKNOWN ? LB_BUSY : outcome;
}

BAD(idle_settle) {
    return LB_OK;
}

BAD(uncounted_acquire) {
    uint64_t commands = session->commands;
    enum lb_outcome outcome = RIGHT->acquire(session, request, grant);
    session->commands = commands;
    return outcome;
}

BAD(sure_release) {
    enum lb_outcome outcome = RIGHT->release(session, request, grant);
    return outcome == LB_UNKNOWN ? LB_OK : outcome;
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
    enum lb_outcome outcome = redis_call(session, get, 2, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_STRING || strcmp(reply->value.text, mine->token) != 0)
        return LB_LOST;
    return redis_call(session, del, 2, &reply);
}

/* GET, and if there is nothing SET: another may be quicker in between. */
BAD(two_step_acquire) {
    struct string_grant *mine = grant->data;
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    redis_random_hex(&session->rng, mine->token, STRING_TOKEN_BYTES);
    const struct redis_word get[] = {{"GET", 3}, {request->key, request->key_len}};
    const struct redis_word set[] = {
        {"SET", 3}, {request->key, request->key_len}, {mine->token, 0}, {"PX", 2}, {lease_ms, 0}};
    for (bool once = request->deadline_ns <= lb_now();;) {
        const struct redis_reply *reply;
        enum lb_outcome outcome = redis_call(session, get, 2, &reply);
        grant->lease_end_ns = lb_now() + request->lease_ns;
        if (outcome == LB_OK && reply->value.type == REDIS_NIL)
            return redis_call(session, set, 5, &reply);
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
        outcome = redis_call(session, get, 2, &reply);
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
    return outcome == LB_OK ? redis_call(session, del, 2, &reply) : outcome;
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
    return outcome == LB_OK ? redis_call(session, words, 3, &reply) : outcome;
}

BAD(late_acquire) {
    enum lb_outcome outcome = RIGHT->acquire(session, request, grant);
    if (outcome == LB_OK) grant->lease_end_ns = lb_now() + request->lease_ns;
    return outcome;
}

BAD(late_renew) {
    enum lb_outcome outcome = RIGHT->renew(session, request, grant);
    if (outcome == LB_OK) grant->lease_end_ns = lb_now() + request->lease_ns;
    return outcome;
}

BAD(never_renew) {
    return lb_fail(session, LB_REFUSED, "no renewal");
}

BAD(sure_renew) {
    enum lb_outcome outcome = RIGHT->renew(session, request, grant);
    return outcome == LB_UNKNOWN ? LB_OK : outcome;
}

BAD(lost_renew) {
    enum lb_outcome outcome = RIGHT->renew(session, request, grant);
    return outcome == LB_UNKNOWN ? LB_LOST : outcome;
}

BAD(counting_renew) {
    grant->lease_end_ns = lb_now() + request->lease_ns;
    return RIGHT->renew(session, request, grant);
}

struct lb_lock bad_redis_lock(enum bad_redis_fault fault) {
    static struct lb_algorithm algorithms[BAD_REDIS_FAULTS];
    struct lb_lock lock = *registry_lock("redis-setnx");
    struct lb_algorithm *bad = &algorithms[fault];
    *bad = *lock.algorithm;
    if (fault == BAD_REDIS_CERTAIN) bad->acquire = certain_acquire;
    if (fault == BAD_REDIS_UNSETTLED) bad->settle = idle_settle;
    if (fault == BAD_REDIS_UNCOUNTED) bad->acquire = uncounted_acquire;
    if (fault == BAD_REDIS_HOARDS) bad->acquire = hoarding_acquire;
    if (fault == BAD_REDIS_SURE) bad->release = sure_release;
    if (fault == BAD_REDIS_HOLDS_ON) bad->acquire = long_acquire;
    if (fault == BAD_REDIS_NO_LEASE) bad->acquire = endless_acquire;
    if (fault == BAD_REDIS_SHORT) bad->acquire = short_acquire;
    if (fault == BAD_REDIS_SECONDS) bad->acquire = seconds_acquire;
    if (fault == BAD_REDIS_RENEWED_SHORT) bad->renew = short_renew;
    if (fault == BAD_REDIS_GET_DEL) bad->release = two_step_release;
    if (fault == BAD_REDIS_SIDE_KEY) bad->release = tracing_release;
    if (fault == BAD_REDIS_FROM_ANSWER) bad->acquire = late_acquire;
    if (fault == BAD_REDIS_RENEWED_FROM_ANSWER) bad->renew = late_renew;
    if (fault == BAD_REDIS_RENEWS_NEVER) bad->renew = never_renew;
    if (fault == BAD_REDIS_RENEWAL_SURE) bad->renew = sure_renew;
    if (fault == BAD_REDIS_RENEWAL_LOST) bad->renew = lost_renew;
    if (fault == BAD_REDIS_RENEWAL_COUNTS) bad->renew = counting_renew;
    if (fault == BAD_REDIS_GET_SET) bad->acquire = two_step_acquire;
    if (fault == BAD_REDIS_SLEEPS) bad->acquire = sleepy_acquire;
    if (fault == BAD_REDIS_HASTY) bad->acquire = hasty_acquire;
    if (fault == BAD_REDIS_FREES_AGAIN) bad->release = thorough_release;
    if (fault == BAD_REDIS_RENEWS_ANEW) bad->renew = anew_renew;
    lock.algorithm = bad;
    return lock;
}

BAD(certain_await) {
    enum lb_outcome outcome =
        registry_lock("redis-latch")->algorithm->acquire(session, request, grant);
    return outcome == LB_UNKNOWN || outcome == LB_BROKEN ? LB_TIMEOUT : outcome;
}

struct lb_lock bad_redis_latch(void) {
    static struct lb_algorithm bad;
    struct lb_lock lock = *registry_lock("redis-latch");
    bad = *lock.algorithm;
    bad.acquire = certain_await;
    lock.algorithm = &bad;
    return lock;
}
