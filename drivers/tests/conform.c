/* conform: see conform.h. */
#include "drivers/tests/conform.h"

#include <string.h>

const struct conform_check conform_checks[] = {
    {"taken and freed, again and again", 0, 0, 0, CONFORM_ALL, conform_again},
    {"says what it is, answers a ping", 0, 0, 0, CONFORM_ALL, conform_describe},
    {"counts its commands", 0, 0, 0, CONFORM_LOCKS, conform_commands},
    {"busy while another holds it", LB_CAP_TRY, 0, 0, CONFORM_LOCKS, conform_busy},
    {"a deadline in the past asks once", LB_CAP_TRY, 0, 0, CONFORM_LOCKS, conform_past},
    {"keys are independent", LB_CAP_TRY, 0, 0, CONFORM_LOCKS, conform_keys},
    {"a timed wait ends in time and leaves nothing", LB_CAP_TRY | LB_CAP_WAIT, 0, 0, CONFORM_LOCKS,
     conform_timed},
    {"many short waits leave nothing", LB_CAP_TRY | LB_CAP_WAIT, 0, 0, CONFORM_LOCKS, conform_short},
    {"a waiter gets what is freed", LB_CAP_WAIT, 0, 0, CONFORM_LOCKS, conform_handover},
    {"the cut-off ends a wait", LB_CAP_WAIT, 0, 0, CONFORM_LOCKS, conform_cutoff},
    {"eight clients exclude each other", LB_CAP_WAIT, 0, 0, CONFORM_CONTROLS, conform_exclude},
    {"a second release is refused", LB_CAP_TRY, 0, 0, CONFORM_LOCKS, conform_double_release},
    {"a stranger's release is refused", LB_CAP_TRY, 0, 0, CONFORM_LOCKS, conform_stranger},
    {"tokens grow", LB_CAP_FENCE, 0, 0, CONFORM_LOCKS, conform_fence},
    {"the end of a session frees", LB_CAP_SESSION | LB_CAP_WAIT, 0, 0, CONFORM_LOCKS, conform_session},
    {"a lease ends, not too early", LB_CAP_LEASE | LB_CAP_WAIT | LB_CAP_TRY, 0, 0, CONFORM_LOCKS,
     conform_lease_ends},
    {"renewal keeps", LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_TRY, 0, 0, CONFORM_LOCKS, conform_renewal},
    {"renewal of what is lost says so", LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_WAIT, 0, 0, CONFORM_LOCKS,
     conform_late_renewal},
    {"names of odd bytes work or are refused", LB_CAP_TRY, 0, 0, CONFORM_LOCKS, conform_odd_names},
    {"long names work or are refused", LB_CAP_TRY, 0, 0, CONFORM_LOCKS, conform_long_names},
    {"an answer cut off is in doubt, then settled", LB_CAP_WAIT, 0, CONFORM_FAR, CONFORM_LOCKS,
     conform_cut_answer},
    {"an answer cut in the middle is in doubt, then settled", LB_CAP_WAIT, 0, CONFORM_FAR, CONFORM_LOCKS,
     conform_cut_within_answer},
    {"a connection reset is in doubt, then settled", LB_CAP_WAIT, 0, CONFORM_FAR, CONFORM_LOCKS,
     conform_reset},
    {"an answer that never comes is in doubt, then settled", LB_CAP_WAIT, 0, CONFORM_FAR, CONFORM_LOCKS,
     conform_silent_answer},
    {"a request that never arrives is in doubt, then settled", LB_CAP_WAIT, 0, CONFORM_FAR, CONFORM_LOCKS,
     conform_silent_request},
    {"a release cut off is in doubt, then settled", LB_CAP_WAIT, 0, CONFORM_FAR, CONFORM_LOCKS,
     conform_cut_release},
    {"a vanished holder's lock is freed", LB_CAP_WAIT, LB_CLAIM_CRASH_RELEASE, CONFORM_FAR, CONFORM_LOCKS,
     conform_crash},
    {"a killed server ends every wait, and serves again", LB_CAP_WAIT, 0, CONFORM_OWNED, CONFORM_LOCKS,
     conform_killed_server},
    {0},
};

const struct conform_exemption conform_exemptions[] = {
    {"mem-mutex", "a second release is refused", "a plain pthread mutex does not know its owner"},
    {"mem-mutex", "a stranger's release is refused", "a plain pthread mutex does not know its owner"},
    {0},
};

bool conform_applies(const struct conform_check *check, const struct lb_lock *lock, const char **ret_reason) {
    *ret_reason = NULL;
    if ((lock->caps & check->caps) != check->caps) return false;
    if ((lock->claims & check->claims) != check->claims) return false;
    if (check->needs && !lock->backend->topologies) return false;
    if ((lock->caps & LB_CAP_BASELINE) && check->who != CONFORM_ALL) return false;
    if ((lock->caps & LB_CAP_CONTROL) && check->who == CONFORM_LOCKS) return false;
    for (const struct conform_exemption *at = conform_exemptions; at->lock; at++) {
        if (strcmp(at->lock, lock->name) != 0 || strcmp(at->check, check->name) != 0) continue;
        *ret_reason = at->reason;
        return false;
    }
    return true;
}
