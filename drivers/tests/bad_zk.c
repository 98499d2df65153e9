/* bad_zk: zk-lock whose holder is not told that its session is over. See bad_lock.h. */
#include "drivers/registry.h"
#include "drivers/tests/bad_lock.h"

static enum lb_outcome quiet_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    session->on_lost = NULL;
    return registry_lock("zk-lock")->algorithm->acquire(session, request, grant);
}

struct lb_lock bad_zk_lock(void) {
    static struct lb_algorithm bad;
    struct lb_lock lock = *registry_lock("zk-lock");
    bad = *lock.algorithm;
    bad.acquire = quiet_acquire;
    lock.algorithm = &bad;
    return lock;
}
