/* bad_redis: redis-setnx with one mistake each. See bad_lock.h. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "drivers/redis/redis.h"
#include "drivers/redis/string.h"
#include "drivers/registry.h"
#include "drivers/tests/bad_lock.h"
#include "drivers/wait.h"

/* The mistake of clients that treat a missing answer as a refusal. */
static enum lb_outcome certain_acquire(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->acquire(session, request, grant);
    return outcome == LB_UNKNOWN ? LB_BUSY : outcome;
}

static enum lb_outcome idle_settle(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    (void)session;
    (void)request;
    (void)grant;
    return LB_OK;
}

static enum lb_outcome uncounted_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    uint64_t commands = session->commands;
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->acquire(session, request, grant);
    session->commands = commands;
    return outcome;
}

static enum lb_outcome sure_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->release(session, request, grant);
    return outcome == LB_UNKNOWN ? LB_OK : outcome;
}

static enum lb_outcome long_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    struct lb_request longer = *request;
    longer.lease_ns *= 100;
    return registry_lock("redis-setnx")->algorithm->acquire(session, &longer, grant);
}

/* SET NX without PX: as long as the server lives, for all that a test waits for. */
static enum lb_outcome endless_acquire(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    struct lb_request endless = *request;
    endless.lease_ns = 3600 * LB_S_NS;
    int64_t before_ns = lb_now();
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->acquire(session, &endless, grant);
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

static enum lb_outcome short_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    return shorter(registry_lock("redis-setnx")->algorithm->acquire, session, request, grant,
                   request->lease_ns / 10 * 9);
}

static enum lb_outcome seconds_acquire(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    int64_t lease_ns = request->lease_ns / LB_S_NS * LB_S_NS;
    return shorter(registry_lock("redis-setnx")->algorithm->acquire, session, request, grant,
                   lease_ns ? lease_ns : LB_S_NS);
}

static enum lb_outcome short_renew(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    return shorter(registry_lock("redis-setnx")->algorithm->renew, session, request, grant,
                   request->lease_ns / 10 * 9);
}

/* Two requests, between which the lease may end. */
static enum lb_outcome two_step_release(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
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
static enum lb_outcome two_step_acquire(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
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
static enum lb_outcome sleepy_acquire(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct lb_request once = *request;
    const struct redis_word get[] = {{"GET", 3}, {request->key, request->key_len}};
    once.deadline_ns = 0;
    for (bool tries = request->deadline_ns <= lb_now();;) {
        const struct redis_reply *reply;
        enum lb_outcome outcome =
            registry_lock("redis-setnx")->algorithm->acquire(session, &once, grant);
        if (outcome != LB_BUSY || tries) return outcome;
        outcome = redis_call(session, get, 2, &reply);
        if (outcome != LB_OK) return outcome;
        bool missed = reply->value.type == REDIS_NIL;
        lb_sleep_until(missed ? request->deadline_ns : lb_now() + 5 * LB_MS_NS);
        if (lb_stopping() || lb_now() >= request->deadline_ns) return LB_TIMEOUT;
    }
}

/* An answer that comes after the deadline is not looked at. */
static enum lb_outcome hasty_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    bool waits = request->deadline_ns > lb_now();
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->acquire(session, request, grant);
    return waits && outcome == LB_OK && lb_now() > request->deadline_ns ? LB_TIMEOUT : outcome;
}

/* Deletes the key once more, to be sure. */
static enum lb_outcome thorough_release(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    const struct redis_word del[] = {{"DEL", 3}, {request->key, request->key_len}};
    const struct redis_reply *reply;
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->release(session, request, grant);
    return outcome == LB_OK ? redis_call(session, del, 2, &reply) : outcome;
}

/* Frees it and takes it again. */
static enum lb_outcome anew_renew(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    const struct lb_algorithm *right = registry_lock("redis-setnx")->algorithm;
    enum lb_outcome outcome = right->release(session, request, grant);
    return outcome == LB_OK ? right->acquire(session, request, grant) : outcome;
}

static enum lb_outcome hoarding_acquire(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) return LB_REFUSED;
    return registry_lock("redis-setnx")->algorithm->acquire(session, request, grant);
}

/* One more key, for "who had it last". */
static enum lb_outcome tracing_release(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    char name[LB_KEY_MAX + 16];
    const struct redis_reply *reply;
    snprintf(name, sizeof name, "last:%s", request->key);
    const struct redis_word words[] = {{"SET", 3}, {name, 0}, {"us", 2}};
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->release(session, request, grant);
    return outcome == LB_OK ? redis_call(session, words, 3, &reply) : outcome;
}

static enum lb_outcome late_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->acquire(session, request, grant);
    if (outcome == LB_OK) grant->lease_end_ns = lb_now() + request->lease_ns;
    return outcome;
}

static enum lb_outcome late_renew(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->renew(session, request, grant);
    if (outcome == LB_OK) grant->lease_end_ns = lb_now() + request->lease_ns;
    return outcome;
}

static enum lb_outcome never_renew(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    (void)request;
    (void)grant;
    return lb_fail(session, LB_REFUSED, "no renewal");
}

static enum lb_outcome sure_renew(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->renew(session, request, grant);
    return outcome == LB_UNKNOWN ? LB_OK : outcome;
}

static enum lb_outcome lost_renew(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    enum lb_outcome outcome =
        registry_lock("redis-setnx")->algorithm->renew(session, request, grant);
    return outcome == LB_UNKNOWN ? LB_LOST : outcome;
}

static enum lb_outcome counting_renew(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    grant->lease_end_ns = lb_now() + request->lease_ns;
    return registry_lock("redis-setnx")->algorithm->renew(session, request, grant);
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

static enum lb_outcome certain_await(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
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
