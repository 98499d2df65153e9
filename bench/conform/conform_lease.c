/* conform_lease: grants that end by themselves, and grants that are kept. */
#include "bench/conform/conform.h"

/* The part of a lease that a lock may deduct: Redlock states the validity, which is the lease less
 * the drift of clocks (1 %, 2 ms). */
#define DRIFT_NS(lease_ns) ((lease_ns) / 100 + 2 * LB_MS_NS)
/* a lease may last so much longer than stated, because of whole seconds */
#define COARSE_NS (2500 * LB_MS_NS)
#define BUSY_NS (8 * LB_S_NS)
/* a backend with a coarser clock makes the lease longer and states that */
#define LEASE_NS (300 * LB_MS_NS)

/* The time by which a lock must be free without a release: the stated end of the grant, and the
 * slack that the lock's table states; for a busy machine some seconds more, at most the patience of
 * all checks. */
static int64_t free_by(const struct actor *holder) {
    int64_t slack_ns = holder->session.lock->about.crash_slack_ns + BUSY_NS;
    if (slack_ns > trial_patience_ns) slack_ns = trial_patience_ns;
    return lb_after(holder->grant.lease_end_ns, slack_ns);
}

void conform_lease_ends(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *next = actor_new(trial), *third = actor_new(trial);
    if (!holder || !next || !third) return;
    holder->request.lease_ns = LEASE_NS;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    int64_t end_ns = holder->grant.lease_end_ns;
    MUST(trial, end_ns >= holder->began_ns + LEASE_NS - DRIFT_NS(LEASE_NS),
         "the grant's lease is shorter than asked for");
    MUST(trial, end_ns <= holder->ended_ns + LEASE_NS + 10 * LB_S_NS,
         "the grant's lease is far too long");
    MUST_GIVE(next, actor_acquire(next, &key, free_by(holder)), LB_OK,
              "after the lease of another had ended");
    MUST_REFUSE(trial, next->ended_ns >= end_ns,
                "another got it %lld us before the lease that the grant states",
                (long long)((end_ns - next->ended_ns) / LB_US_NS));
    /* The client whose lease ended learns of the end, and its release frees nothing that the other
     * holds. */
    MUST_GIVE(holder, actor_release(holder), LB_LOST, "after its lease had ended");
    MUST_GIVE(third, actor_acquire(third, &key, TRIAL_TRY), LB_BUSY,
              "where another holds, after the release by one whose lease had ended,");
    MUST_GIVE(next, actor_release(next), LB_OK);
    /* It learns of the end even if no other client has taken the lock since. */
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    trial_sleep_until(holder->grant.lease_end_ns + COARSE_NS);
    MUST_GIVE(holder, actor_release(holder), LB_LOST, "after its lease had ended");
}

#define LASTS_NS (1500 * LB_MS_NS) /* no whole seconds, which a lock may round down by mistake */
#define BEFORE_NS (20 * LB_MS_NS)  /* the last part of a lease, in which another one tries */
/* A server's clock of the day may be slewed against ours: by 500 ppm at most. */
#define SLEW_NS (LASTS_NS / 1000)

/* Another one tries each millisecond from shortly before the stated end, at which the holder must still have it. The
 * lock's own waits would sleep over a shortfall. Afterwards the other one holds. */
static void outlast(struct trial *trial, struct actor *holder, struct actor *other,
                    const struct trial_key *key, const char *what) {
    int64_t end_ns = holder->grant.lease_end_ns - SLEW_NS;
    trial_sleep_until(end_ns - BEFORE_NS);
    while (lb_now() < end_ns) {
        enum lb_outcome outcome = actor_acquire(other, key, TRIAL_TRY);
        if (outcome == LB_OK) {
            MUST_REFUSE(trial, other->ended_ns >= end_ns,
                        "%s: another got it %lld us or more before the lease that the grant states",
                        what, (long long)((end_ns + SLEW_NS - other->ended_ns) / LB_US_NS));
            return;
        }
        MUST(trial, outcome == LB_BUSY, "%s: another's try gave %s", what,
             lb_outcome_name(outcome));
        trial_sleep_until(lb_now() + LB_MS_NS);
    }
    MUST_GIVE(other, actor_acquire(other, key, free_by(holder)), LB_OK,
              "after the lease of another had ended");
}

void conform_lease_lasts(struct trial *trial) {
    struct trial_key key = trial_key();
    trial->session_lease_ns = trial->lease_ns = LASTS_NS;
    struct actor *holder = actor_new(trial), *next = actor_new(trial), *third = actor_new(trial);
    if (!holder || !next || !third) return;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    outlast(trial, holder, next, &key, "a grant");
    if (trial_failed(trial)) return;
    if (trial->lock->lock->caps & LB_CAP_RENEW) {
        MUST_GIVE(next, actor_renew(next, LASTS_NS), LB_OK, "of what it holds");
        outlast(trial, next, third, &key, "a renewal");
        if (!trial_failed(trial)) MUST_GIVE(third, actor_release(third), LB_OK);
    } else {
        MUST_GIVE(next, actor_release(next), LB_OK);
    }
}

void conform_renewal(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    if (!holder || !other) return;
    holder->request.lease_ns = 600 * LB_MS_NS;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    int64_t first_end_ns = holder->grant.lease_end_ns;
    int64_t last_end_ns = first_end_ns;
    while (lb_now() < first_end_ns + COARSE_NS) {
        MUST_GIVE(holder, actor_renew(holder, 5 * LB_S_NS), LB_OK, "of what it holds");
        MUST(trial, holder->grant.lease_end_ns >= last_end_ns, "a renewal made the lease shorter");
        MUST(trial,
             holder->grant.lease_end_ns >= holder->began_ns + 5 * LB_S_NS - DRIFT_NS(5 * LB_S_NS),
             "a renewal gave less than asked for");
        last_end_ns = holder->grant.lease_end_ns;
        MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY,
                  "where another holds and renews");
        trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    }
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_OK);
    MUST_SAY_NO(trial, holder->outcome, actor_renew(holder, LB_S_NS) == LB_LOST,
                "a renewal of another's lock gave %s", lb_outcome_name(holder->outcome));
    MUST_GIVE(other, actor_release(other), LB_OK);
}

void conform_late_renewal(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *next = actor_new(trial);
    if (!holder || !next) return;
    holder->request.lease_ns = LEASE_NS;
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    MUST_GIVE(next, actor_acquire(next, &key, free_by(holder)), LB_OK,
              "after the lease of another had ended");
    MUST_GIVE(holder, actor_renew(holder, 10 * LB_S_NS), LB_LOST,
              "after its lease had ended and another had got the lock");
    MUST_GIVE(next, actor_release(next), LB_OK);
    /* A renewal does not revive the grant either. */
    MUST_GIVE(holder, actor_renew(holder, 10 * LB_S_NS), LB_LOST,
              "after its lease had ended and another had got the lock");
    MUST_GIVE(next, actor_acquire(next, &key, trial_soon()), LB_OK);
    MUST_GIVE(next, actor_release(next), LB_OK);
}
