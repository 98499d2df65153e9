/* conform: see conform.h. */
#include "bench/conform/conform.h"

#include <string.h>

#define EXCLUDES CONFORM_EXCLUDES
#define LATCH CONFORM_KIND(LB_LATCH)
#define OPTIMISTIC CONFORM_KIND(LB_OPTIMISTIC)
#define ATOMIC CONFORM_ATOMIC
#define SEMAPHORE CONFORM_KIND(LB_SEMAPHORE)
#define TRY LB_CAP_TRY
#define WAIT LB_CAP_WAIT
#define LEASE LB_CAP_LEASE
#define FAR CONFORM_FAR
#define BASIC CONFORM_BASIC
#define REAL CONFORM_LOCKS

const struct conform_check conform_checks[] = {
#define CONFORM_CHECK(...) {__VA_ARGS__},
#include "bench/conform/checks.h"
#undef CONFORM_CHECK
    {0},
};

#define ANONYMOUS                                                                                            \
    "RSemaphore's counter has no owners: nobody can tell whether the lost acquire took a permit, so nobody " \
    "can give it back"

const struct conform_exemption conform_exemptions[] = {
    {"redis-multi", "eight clients that give up leave it whole",
     "until it has all its parts each has a lease of twice the wait, as Redisson has it: with waits of "
     "microseconds "
     "it ends before"},
    {"redis-semaphore", "an answer cut off is in doubt, then settled", ANONYMOUS},
    {"redis-semaphore", "an answer cut in the middle is in doubt, then settled", ANONYMOUS},
    {"redis-semaphore", "a connection reset is in doubt, then settled", ANONYMOUS},
    {"redis-semaphore", "an answer that never comes is in doubt, then settled", ANONYMOUS},
    {0},
};

/* A control that only its own workload exposes, since no check is sure to catch it. */
static bool hides(const struct lb_lock *lock) {
    return lock->about.exposed_by || lock->about.exposed_as != LB_EXPOSED_VIOLATED;
}

static unsigned kind_of(const struct lb_lock *lock) {
    return (lock->caps & LB_CAP_ATOMIC) ? CONFORM_ATOMIC : CONFORM_KIND(lock->primitive);
}

bool conform_applies(const struct conform_check *check, const struct lb_lock *lock, bool further,
                     const char **ret_reason) {
    *ret_reason = NULL;
    if (!(check->kinds & kind_of(lock))) return false;
    if ((lock->caps & check->caps) != check->caps) return false;
    if ((lock->claims & check->claims) != check->claims) return false;
    if ((check->needs & (CONFORM_FAR | CONFORM_OWNED)) && !lb_topologies(lock)) return false;
    if ((check->needs & CONFORM_COUNTS) && !conform_can_count(lock->backend)) return false;
    if ((check->needs & CONFORM_RESIDUE) && !lock->algorithm->residue) return false;
    if ((check->needs & CONFORM_ARMS) && !lock->algorithm->arm) return false;
    if ((check->needs & CONFORM_TELLS) && lock->about.crash != LB_CRASH_SESSION) return false;
    if (further && !(check->needs & CONFORM_BASIC)) return false;
    if ((lock->caps & LB_CAP_BASELINE) && check->who != CONFORM_ALL) return false;
    if ((lock->caps & LB_CAP_CONTROL) && check->who == CONFORM_LOCKS) return false;
    if ((lock->caps & LB_CAP_CONTROL) && check->who == CONFORM_CONTROLS && hides(lock))
        return false;
    for (const struct conform_exemption *at = conform_exemptions; at->lock; at++) {
        if (strcmp(at->lock, lock->name) != 0 || strcmp(at->check, check->name) != 0) continue;
        *ret_reason = at->reason;
        return false;
    }
    return true;
}
