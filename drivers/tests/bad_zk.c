/* bad_zk: zk-lock whose holder is not told that its session is over. See bad_lock.h. */
#include "drivers/tests/bad_lock.h"

extern const struct lb_lock lock_zk_lock;

static enum lb_outcome quiet_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    session->on_lost = NULL;
    return lock_zk_lock.acquire(session, request, grant);
}

struct lb_lock bad_zk_lock(void) {
    struct lb_lock lock = lock_zk_lock;
    lock.acquire = quiet_acquire;
    return lock;
}
