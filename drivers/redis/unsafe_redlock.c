/* unsafe-redlock-no-validity: redis-redlock that counts its lease from the answer of the majority, and accepts a
 * grant however little of the lease is left. A control: the checks must catch it. */
#include "drivers/redis/redlock.h"
#include "drivers/redis/unsafe.h"

static enum lb_outcome try_anyhow(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    int64_t sent_ns = 0, elapsed_ns = 0;
    enum lb_outcome outcome = redlock_try(session, request, grant, &sent_ns, &elapsed_ns);
    if (outcome != LB_OK) return outcome;
    grant->token = 0;
    grant->lease_end_ns = sent_ns + elapsed_ns + request->lease_ns;
    return LB_OK;
}

const struct lb_lock lock_unsafe_redlock_no_validity = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redlock-no-validity",
    .summary = "Redlock whose lease is counted from after the majority, without validity or drift",
    .caps = UNSAFE_CAPS,
    .topologies = redlock_topologies,
    .about = {UNSAFE_ABOUT(5, 5), .crash = LB_CRASH_LEASE, .crash_slack_ns = 500 * LB_MS_NS,
              .mistake =
                  "introductory articles: Redlock keys that live for some tens of milliseconds, "
                  "and no validity computed: the time that asking took is missing at the end of "
                  "the lease",
              .exposed_by = "slow-quorum", .exposed_as = LB_EXPOSED_VIOLATED},
    .expected = unsafe_redlock_expected,
    STRING_TRY(try_anyhow),
    .algorithm = &(const struct lb_algorithm){REDLOCK_MEMBERS},
};
