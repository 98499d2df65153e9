/* unsafe_none: has the functions of a lock and excludes nobody. It is the control that every check
 * must catch. */
#include "drivers/local/local.h"

static enum lb_outcome none_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    (void)session;
    (void)request;
    grant->token = 0;
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static enum lb_outcome none_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    (void)session;
    (void)request;
    (void)grant;
    return LB_OK;
}

static const struct lb_algorithm algorithm = {
    .acquire = none_acquire,
    .release = none_release,
};

const struct lb_lock lock_unsafe_none = {
    .name = "unsafe-none",
    .summary = "grants to all clients at once: the control that the checks must catch",
    .backend = &backend_memory,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_CONTROL,
    .waits = "never",
    .about = {.order = "none",
              .guarantee = LB_NO_GUARANTEE,
              .crash = LB_CRASH_NEVER,
              .mistake = "no lock: two clients read, both write, one update is lost",
              .exposed_as = LB_EXPOSED_VIOLATED},
    .expected = unsafe_none_expected,
    .algorithm = &algorithm,
};
