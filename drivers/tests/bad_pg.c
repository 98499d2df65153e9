/* bad_pg: pg-optimistic that treats a write without an answer as refused. See bad_lock.h. */
#include "drivers/registry.h"
#include "drivers/tests/bad_lock.h"

static enum lb_outcome certain_write(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    enum lb_outcome outcome =
        registry_lock("pg-optimistic")->algorithm->release(session, request, grant);
    return outcome == LB_UNKNOWN || outcome == LB_BROKEN ? LB_BUSY : outcome;
}

struct lb_lock bad_pg_optimistic(void) {
    static struct lb_algorithm bad;
    struct lb_lock lock = *registry_lock("pg-optimistic");
    bad = *lock.algorithm;
    bad.release = certain_write;
    lock.algorithm = &bad;
    return lock;
}
