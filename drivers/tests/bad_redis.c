/* bad_redis: redis-setnx with one thing wrong each. See bad_lock.h. */
#include <string.h>

#include "drivers/registry.h"
#include "drivers/tests/bad_lock.h"

/* The mistake of clients that take "no answer" for "no". */
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

struct lb_lock bad_redis_lock(enum bad_redis_fault fault) {
    static struct lb_algorithm algorithms[BAD_REDIS_FAULTS];
    struct lb_lock lock = *registry_lock("redis-setnx");
    struct lb_algorithm *bad = &algorithms[fault];
    *bad = *lock.algorithm;
    if (fault == BAD_REDIS_CERTAIN) bad->acquire = certain_acquire;
    if (fault == BAD_REDIS_UNSETTLED) bad->settle = idle_settle;
    if (fault == BAD_REDIS_UNCOUNTED) bad->acquire = uncounted_acquire;
    if (fault == BAD_REDIS_SURE) bad->release = sure_release;
    if (fault == BAD_REDIS_HOLDS_ON) bad->acquire = long_acquire;
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
