/* unsafe-redis-lua-reentrant: a string lock whose script lets its owner in again without counting,
 * and whose release deletes: the first unlock of a lock that is held twice frees it. For the checks
 * to catch; never to be used. */
#include "drivers/redis/string.h"
#include "drivers/redis/unsafe.h"

REDIS_SCRIPT(unsafe_reentrant_take);

static enum lb_outcome try_script(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = string_if_mine(session, request->key, request->key_len, grant,
                                             &script_unsafe_reentrant_take, lease_ms);
    if (outcome == LB_LOST) return LB_BUSY;
    if (outcome != LB_OK) return outcome;
    grant->token = 0;
    grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

const struct lb_lock lock_unsafe_redis_lua_reentrant = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redis-lua-reentrant",
    .summary = "a script that lets the owner in again without counting; the first unlock frees it",
    .caps = UNSAFE_CAPS | LB_CAP_REENTRANT,
    .about = {UNSAFE_ABOUT(1, 1), UNSAFE_LEASE,
              .mistake =
                  "introductory articles: re-entry without a counter, unlock by DEL: the inner "
                  "unlock frees the lock while the outer holder continues",
              .exposed_by = "reentrant", .exposed_as = LB_EXPOSED_VIOLATED},
    .expected = unsafe_reentrant_expected,
    STRING_TRY(try_script),
    .algorithm = &(const struct lb_algorithm){STRING_MEMBERS, .acquire = string_acquire,
                                              .release = string_release},
};
