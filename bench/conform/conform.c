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
    {"taken and freed, again and again", EXCLUDES | CONFORM_KIND(LB_NO_PRIMITIVE), 0, 0, BASIC,
     CONFORM_ALL, conform_again},
    {"says what it is, answers a ping", CONFORM_ANY, 0, 0, BASIC, CONFORM_ALL, conform_describe},
    {"counts its commands, as many as it says", CONFORM_ANY, 0, 0, 0, REAL, conform_commands},
    {"opens no more files than it says", CONFORM_ANY, 0, 0, 0, REAL, conform_descriptors},
    {"busy while another holds it", EXCLUDES, TRY, 0, BASIC, REAL, conform_busy},
    {"a deadline in the past asks once", EXCLUDES, TRY, 0, 0, REAL, conform_past},
    {"keys are independent", EXCLUDES, TRY, 0, 0, REAL, conform_keys},
    {"a timed wait ends in time and leaves nothing", EXCLUDES, TRY | WAIT, 0, BASIC, REAL,
     conform_timed},
    {"many short waits leave nothing", EXCLUDES, TRY | WAIT, 0, 0, REAL, conform_short},
    {"a waiter gets what is freed", EXCLUDES, WAIT, 0, BASIC, REAL, conform_handover},
    {"the cut-off ends a wait", EXCLUDES | LATCH, WAIT, 0, 0, REAL, conform_cutoff},
    {"eight clients exclude each other", EXCLUDES, WAIT, 0, BASIC, CONFORM_CONTROLS,
     conform_exclude},
    {"eight clients that give up leave it whole", EXCLUDES, TRY | WAIT, 0, 0, REAL,
     conform_give_up},
    {"64 clients all get it", EXCLUDES, WAIT, 0, 0, REAL, conform_crowd},
    {"first come, first served", EXCLUDES, WAIT | LB_CAP_FAIR, 0, 0, REAL, conform_fair},
    {"clients that share a session exclude each other", EXCLUDES, WAIT | LB_CAP_SHARE, 0, 0, REAL,
     conform_share},
    {"held until it was released as often as taken", EXCLUDES, TRY | WAIT | LB_CAP_REENTRANT, 0, 0,
     REAL, conform_reentry},
    {"readers hold together, writers alone", EXCLUDES, TRY | LB_CAP_SHARED, 0, BASIC, REAL,
     conform_shared},
    {"readers and writers wait for each other", EXCLUDES, TRY | WAIT | LB_CAP_SHARED, 0, 0, REAL,
     conform_shared_wait},
    {"eight readers and writers never overlap", EXCLUDES, WAIT | LB_CAP_SHARED, 0, 0, REAL,
     conform_shared_mix},
    {"a reader's lease is its own", EXCLUDES, TRY | WAIT | LB_CAP_SHARED | LEASE, 0, 0, REAL,
     conform_reader_lease},
    {"a reader's session is its own", EXCLUDES, TRY | WAIT | LB_CAP_SHARED | LB_CAP_SESSION, 0, 0,
     REAL, conform_reader_session},
    {"as many permits as there are", SEMAPHORE, TRY | WAIT, 0, BASIC, REAL,
     conform_permits_counted},
    {"eight clients keep to the bound", SEMAPHORE, TRY | WAIT, 0, 0, REAL,
     conform_permits_contended},
    {"several permits at once, or none", SEMAPHORE, TRY | WAIT | LB_CAP_PERMITS, 0, 0, REAL,
     conform_permits_several},
    {"armed twice is armed once", SEMAPHORE, TRY, 0, CONFORM_ARMS, REAL, conform_arm_twice},
    {"opens at the count, for all", LATCH, TRY | WAIT, 0, BASIC, REAL, conform_latch},
    {"eight await each other", LATCH, WAIT, 0, 0, REAL, conform_latch_crowd},
    {"a write makes a version", OPTIMISTIC, 0, 0, BASIC, REAL, conform_version},
    {"a write after another's is refused", OPTIMISTIC, 0, 0, BASIC, REAL, conform_conflict},
    {"a statement makes the next version", ATOMIC, 0, 0, BASIC, REAL, conform_atomic},
    {"eight writers lose no update", OPTIMISTIC | ATOMIC, 0, 0, 0, CONFORM_CONTROLS,
     conform_versions_unique},
    {"several keys, all or none", EXCLUDES, TRY | WAIT | LB_CAP_MULTI, 0, BASIC, REAL,
     conform_multi},
    {"overlapping sets of keys do not deadlock", EXCLUDES, WAIT | LB_CAP_MULTI, 0, 0, REAL,
     conform_multi_overlap},
    {"each part of a key has one holder", EXCLUDES, TRY | WAIT | LB_CAP_SLOTS, 0, BASIC, REAL,
     conform_slots},
    {"a second release is refused", EXCLUDES, TRY, 0, 0, REAL, conform_double_release},
    {"a stranger's release is refused", EXCLUDES, TRY, 0, 0, REAL, conform_stranger},
    {"tokens grow", EXCLUDES, LB_CAP_FENCE, 0, BASIC, REAL, conform_fence},
    {"the end of a session frees", EXCLUDES, LB_CAP_SESSION | WAIT, 0, 0, REAL, conform_session},
    {"a lease ends, not too early", EXCLUDES, LEASE | WAIT | TRY, 0, 0, REAL, conform_lease_ends},
    {"renewal keeps", EXCLUDES, LEASE | LB_CAP_RENEW | TRY, 0, 0, REAL, conform_renewal},
    {"renewal of what is lost says so", EXCLUDES, LEASE | LB_CAP_RENEW | WAIT, 0, 0, REAL,
     conform_late_renewal},
    {"names of odd bytes work or are refused", EXCLUDES | LATCH | OPTIMISTIC | ATOMIC, TRY, 0, 0,
     REAL, conform_odd_names},
    {"long names work or are refused", EXCLUDES | LATCH | OPTIMISTIC | ATOMIC, TRY, 0, 0, REAL,
     conform_long_names},
    {"nothing is left on the server", EXCLUDES, TRY | WAIT, 0, CONFORM_RESIDUE | BASIC, REAL,
     conform_residue},
    {"no more is on the server than before", EXCLUDES, TRY | WAIT, 0, CONFORM_COUNTS, REAL,
     conform_count},
    {"what was armed is gone when disarmed", LATCH | OPTIMISTIC | ATOMIC, TRY, 0,
     CONFORM_RESIDUE | CONFORM_ARMS | BASIC, REAL, conform_armed_residue},
    {"killed clients stop nobody", EXCLUDES, TRY | WAIT, LB_CLAIM_CRASH_RELEASE, CONFORM_CHILDREN,
     REAL, conform_killed_clients},
    {"a lease counts from before the request", EXCLUDES, LEASE | WAIT, 0, FAR, REAL,
     conform_lease_counts},
    {"an answer cut off is in doubt, then settled", EXCLUDES, WAIT, 0, FAR, REAL,
     conform_cut_answer},
    {"an answer cut in the middle is in doubt, then settled", EXCLUDES, WAIT, 0, FAR, REAL,
     conform_cut_within_answer},
    {"a connection reset is in doubt, then settled", EXCLUDES, WAIT, 0, FAR, REAL, conform_reset},
    {"an answer that never comes is in doubt, then settled", EXCLUDES, WAIT, 0, FAR, REAL,
     conform_silent_answer},
    {"a request that never arrives is in doubt, then settled", EXCLUDES, WAIT, 0, FAR, REAL,
     conform_silent_request},
    {"a release cut off is in doubt, then settled", EXCLUDES, WAIT, 0, FAR, REAL,
     conform_cut_release},
    {"a write cut off is in doubt", OPTIMISTIC | ATOMIC, 0, 0, FAR, REAL, conform_cut_write},
    {"an await cut off does not open", LATCH, TRY | WAIT, 0, FAR, REAL, conform_cut_await},
    {"a vanished holder's lock is freed", EXCLUDES, WAIT, LB_CLAIM_CRASH_RELEASE, FAR, REAL,
     conform_crash},
    {"a session that ends tells its holder", EXCLUDES, LB_CAP_SESSION, 0, FAR | CONFORM_TELLS, REAL,
     conform_told},
    {"a killed server ends every wait, and serves again", EXCLUDES, WAIT, 0, CONFORM_OWNED, REAL,
     conform_killed_server},
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
