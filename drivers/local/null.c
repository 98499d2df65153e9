/* null: the functions of a lock that do nothing, under two names. null lets the tool measure itself:
 * it is no lock, the core gives each client a cell of its own, and no exclusion is claimed.
 * unsafe-none is given as a lock and excludes nobody: the control that every check must catch. */
#include "drivers/backends.h"

static enum lb_outcome null_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    (void)session;
    (void)request;
    return lb_granted(grant, 0, LB_NEVER);
}

static enum lb_outcome null_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    (void)session;
    (void)request;
    (void)grant;
    return LB_OK;
}

int built_in_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    (void)session;
    (void)err;
    lb_fact(facts, "version", "built in");
    return 0;
}

static const struct lb_connector connector = {
    .describe = built_in_describe,
};

const struct lb_backend backend_null = {
    .name = "null",
    .summary = "nothing at all: the tool's own cost",
    .durability_class = "none",
    .connector = &connector,
};

static const struct lb_algorithm algorithm = {
    .acquire = null_acquire,
    .release = null_release,
};

const struct lb_lock lock_null = {
    .name = "null",
    .summary = "does nothing: the tool's own cost, no lock",
    .backend = &backend_null,
    .primitive = LB_NO_PRIMITIVE,
    .caps = LB_CAP_BASELINE | LB_CAP_TRY | LB_CAP_WAIT,
    .waits = "never",
    .about = {.order = "none", .guarantee = LB_NO_GUARANTEE},
    .algorithm = &algorithm,
};

const struct lb_lock lock_unsafe_none = {
    .name = "unsafe-none",
    .summary = "grants to all clients at once: the control that the checks must catch",
    .backend = &backend_memory,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_CONTROL,
    .waits = "never",
    .about = {.order = "none",
              LB_TERMS(0, 0, LB_NO_GUARANTEE, LB_CRASH_NEVER),
              .mistake = "no lock: two clients read, both write, one update is lost",
              .exposed_as = LB_EXPOSED_VIOLATED},
    .algorithm = &algorithm,
};
