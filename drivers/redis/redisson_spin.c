/* redis-spin: Redisson's RSpinLock: RLock's hash without its channel. A waiter asks again after a
 * pause that doubles, so nothing is published: in a cluster of older servers each PUBLISH goes to
 * every node. */
#include "drivers/redis/redisson_rlock.h"

#include "drivers/backoff.h"
#include "drivers/wait.h"

struct spin_options {
    struct redisson_options common;
    int64_t initial_delay_ns, max_delay_ns, multiplier;
};

/* The pause: initial * multiplier^fails, plus a random multiple (0 to fails - 1) of initial. */
static int64_t pause_ns(const struct spin_options *options, struct lb_rng *rng, int fails) {
    int64_t delay_ns = options->initial_delay_ns;
    for (int i = 0; i < fails && delay_ns < options->max_delay_ns; i++)
        delay_ns *= options->multiplier;
    if (fails > 0) delay_ns += (int64_t)rng_below(rng, (uint64_t)fails) * options->initial_delay_ns;
    return delay_ns < options->max_delay_ns ? delay_ns : options->max_delay_ns;
}

static enum lb_outcome spin_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    const struct spin_options *options = session->options;
    struct rlock_grant *mine = grant->data;
    struct redisson_try one = {.session = session, .request = request, .grant = grant};
    redisson_holder(session, request, "", mine->holder);
    bool once = request->deadline_ns <= lb_now();
    for (int fails = 0;; fails++) {
        int64_t left_ns;
        enum lb_outcome outcome = rlock_ask(&one, &left_ns);
        if (outcome != LB_BUSY || once) return outcome;
        int64_t until_ns = lb_now() + pause_ns(options, &session->rng, fails);
        if (until_ns < request->deadline_ns)
            lb_sleep_until(until_ns);
        else
            lb_sleep_until(request->deadline_ns);
        if (lb_now() >= request->deadline_ns || lb_stopping()) return LB_TIMEOUT;
        session->wakeups++;
    }
}

static enum lb_outcome unlock_once(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant, bool *ret_held) {
    const struct rlock_grant *mine = grant->data;
    return rlock_unlock_by(session, NULL, request, mine->holder, false, ret_held);
}

static const struct lb_option spin_options[] = {
    REDISSON_OPTION_CHECK_SYNCED,
    {"initial_delay", LB_OPT_DURATION, offsetof(struct spin_options, initial_delay_ns), "1ms", 1e3,
     60e9, NULL, "first wait between two tries"},
    {"max_delay", LB_OPT_DURATION, offsetof(struct spin_options, max_delay_ns), "128ms", 1e3, 60e9,
     NULL, "longest wait between two tries"},
    {"multiplier", LB_OPT_INT, offsetof(struct spin_options, multiplier), "2", 1, 10, NULL,
     "each wait is this many times the one before"},
    {0},
};

static const struct redisson_recipe recipe = {
    .unlock = unlock_once, .keys = rlock_keys, .channels = rlock_channels};

static const struct lb_known_cause spin_causes[] = {BACKOFF_CAUSE_OF_UNFAIRNESS("max_delay"), {0}};

static const struct lb_algorithm algorithm = {
    .options = spin_options,
    .causes = spin_causes,
    .options_bytes = sizeof(struct spin_options),
    .session_bytes = sizeof(struct redisson_session),
    .grant_bytes = sizeof(struct rlock_grant),
    .acquire = spin_acquire,
    .release = redisson_release,
    .renew = rlock_renew,
    .settle = redisson_settle,
    .residue = redisson_residue,
    .names = redisson_names,
};

const struct lb_lock lock_redis_spin = {
    .name = "redis-spin",
    .summary =
        "Redisson's RSpinLock: RLock's hash, waiters poll with a doubling pause, nothing is published",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps =
        LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_REENTRANT | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .about = {.compatible = REDISSON_COMPATIBLE("RSpinLock"),
              .order = "none",
              .hazards =
                  "a waiter's pause grows to 128 ms while the lock may be free; a new waiter polls "
                  "faster than one that has waited for long",
              .acquire_requests = 1,
              .release_requests = 2,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_LEASE},
    .algorithm = &algorithm,
    .recipe = &recipe,
};
