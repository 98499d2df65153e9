/* bad_redis: redis-setnx with one thing wrong each. See bad_lock.h. */
#include <string.h>

#include "drivers/redis/redis.h"
#include "drivers/tests/bad_lock.h"

extern const struct lb_lock lock_redis_setnx, lock_redis_latch;

/* The mistake of clients that take "no answer" for "no". */
static enum lb_outcome certain_acquire(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    enum lb_outcome outcome = lock_redis_setnx.acquire(session, request, grant);
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
    enum lb_outcome outcome = lock_redis_setnx.acquire(session, request, grant);
    session->commands = commands;
    return outcome;
}

static enum lb_outcome sure_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    enum lb_outcome outcome = lock_redis_setnx.release(session, request, grant);
    return outcome == LB_UNKNOWN ? LB_OK : outcome;
}

static enum lb_outcome long_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    struct lb_request longer = *request;
    longer.lease_ns *= 100;
    return lock_redis_setnx.acquire(session, &longer, grant);
}

struct lb_lock bad_redis_lock(enum bad_redis_fault fault) {
    struct lb_lock lock = lock_redis_setnx;
    if (fault == BAD_REDIS_CERTAIN) lock.acquire = certain_acquire;
    if (fault == BAD_REDIS_UNSETTLED) lock.settle = idle_settle;
    if (fault == BAD_REDIS_UNCOUNTED) lock.acquire = uncounted_acquire;
    if (fault == BAD_REDIS_SURE) lock.release = sure_release;
    if (fault == BAD_REDIS_HOLDS_ON) lock.acquire = long_acquire;
    return lock;
}

static enum lb_outcome certain_await(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    enum lb_outcome outcome = lock_redis_latch.acquire(session, request, grant);
    return outcome == LB_UNKNOWN || outcome == LB_BROKEN ? LB_TIMEOUT : outcome;
}

struct lb_lock bad_redis_latch(void) {
    struct lb_lock lock = lock_redis_latch;
    lock.acquire = certain_await;
    return lock;
}
