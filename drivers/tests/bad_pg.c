/* bad_pg: pg-optimistic that takes a write without an answer for one that was refused. See
 * bad_lock.h. */
#include "drivers/tests/bad_lock.h"

extern const struct lb_lock lock_pg_optimistic;

static enum lb_outcome certain_write(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    enum lb_outcome outcome = lock_pg_optimistic.release(session, request, grant);
    return outcome == LB_UNKNOWN || outcome == LB_BROKEN ? LB_BUSY : outcome;
}

struct lb_lock bad_pg_optimistic(void) {
    struct lb_lock lock = lock_pg_optimistic;
    lock.release = certain_write;
    return lock;
}
