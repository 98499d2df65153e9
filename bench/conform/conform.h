/* conform: the conformance suite: what every lock of drivers/list.h must do, as checks that each
 * lock gets by its capabilities. A new lock gets all that apply by being in the list.
 *
 * A check is a script (conform_trial.h) with the capabilities that it needs. The files
 * conform_<subject>.c have them; conform.c has the table. */
#ifndef BENCH_CONFORM_CONFORM_H
#define BENCH_CONFORM_CONFORM_H

#include "bench/conform/conform_actor.h"

/* The needs of a check besides capabilities. */
enum conform_need {
    CONFORM_FAR = 1 << 0, /* a server that can be reached through the proxy */
    /* a server that lockbench started, since the check kills it and starts it again */
    CONFORM_OWNED = 1 << 1,
    CONFORM_CHILDREN = 1 << 2, /* processes of clients: trial->holder, trial->waiter */
    CONFORM_RESIDUE = 1 << 3,  /* a lock that can report its residue */
    CONFORM_ARMS = 1 << 4,     /* a lock that has to be armed */
    CONFORM_TELLS = 1 << 5,    /* a session with a lease of its own */
    CONFORM_BASIC = 1 << 6,    /* no need: the check also runs on each further topology of a lock */
    CONFORM_COUNTS = 1 << 7,   /* a server whose keys can be counted without the driver */
};

/* The primitives that a check is for. */
#define CONFORM_KIND(primitive) (1U << (primitive))
/* a kind of its own: an optimistic lock with LB_CAP_ATOMIC, which refuses nobody */
#define CONFORM_ATOMIC (1U << 31)
/* a semaphore of one permit excludes too */
#define CONFORM_EXCLUDES                                                                           \
    (CONFORM_KIND(LB_MUTEX) | CONFORM_KIND(LB_RWLOCK) | CONFORM_KIND(LB_SEMAPHORE))
#define CONFORM_ANY (~0U)

/* How a check treats the baseline and the controls. */
enum conform_for {
    CONFORM_LOCKS, /* real locks only */
    CONFORM_ALL,   /* the baseline and the controls too */
    /* real locks must pass the check and a control must fail it, since it is there to catch
     * controls */
    CONFORM_CONTROLS,
};

struct conform_check {
    const char *name; /* "busy while another holds it" */
    unsigned kinds;   /* CONFORM_KIND: the lock is of one of these primitives */
    unsigned caps;    /* enum lb_cap: the lock has all of these */
    unsigned claims;  /* enum lb_claim: the lock makes all of these */
    unsigned needs;
    enum conform_for who;
    void (*script)(struct trial *trial);
};

/* All checks; the last one has no name. Checks that kill a server come last. */
extern const struct conform_check conform_checks[];

/* True if a lock gets a check; further: on another topology than its first. *ret_reason: why the
 * lock is exempt although its capabilities ask for the check, else NULL. */
bool conform_applies(const struct conform_check *check, const struct lb_lock *lock, bool further,
                     const char **ret_reason);

/* How a check ended. failure: what went wrong, or "". overlap: two clients held at once, which a
 * slow machine does not explain, while it may explain all other failures. */
struct conform_result {
    char failure[1024];
    bool overlap;
    enum trial_shown shown; /* what the failure shows about the lock */
    char first[1024];       /* set by conform_try: why the check was tried twice, or "" */
};

/* After this time a check ends the process, with a message that names the lock and the check: a
 * call that neither returns nor waits can't be cut off. */
extern unsigned conform_limit_s;

/* A lock that has failed a check for good. The same defect fails other checks too, each after all
 * the patience that a slow machine may need. So from then on the lock's checks get little patience,
 * and no second try. */
#define CONFORM_LITTLE_NS (3 * LB_S_NS)
void conform_note_failed(const struct lb_lock *lock);
bool conform_has_failed(const struct lb_lock *lock);

/* Runs one check at a place. lock: with its options; far_lock: the same for the way through the
 * proxy. After a failure an embedded place is opened anew (NULL if that fails), because the
 * following checks would wait for a key that the failed one left locked. To be called on the main
 * thread, while there is no other. */
void conform_run(const struct conform_check *check, const struct plan_lock *lock,
                 const struct plan_lock *far_lock, struct place **place,
                 struct conform_result *ret_result);

/* True if the check is there to catch this control. */
bool conform_must_fail(const struct conform_check *check, const struct lb_lock *lock);
/* The same, with a second try if a slow machine may explain the failure. Notes a lock that fails
 * for good. */
void conform_try(const struct conform_check *check, const struct plan_lock *lock,
                 const struct plan_lock *far_lock, struct place **place,
                 struct conform_result *ret_result);

/* Exceptions that no capability expresses, by the lock's name; the table must justify each. */
struct conform_exemption {
    const char *lock, *check, *reason;
};
extern const struct conform_exemption conform_exemptions[]; /* the last entry has no lock */

/* conform_basic.c */
void conform_again(struct trial *trial);
void conform_busy(struct trial *trial);
void conform_past(struct trial *trial);
void conform_keys(struct trial *trial);
void conform_describe(struct trial *trial);
void conform_commands(struct trial *trial);
void conform_descriptors(struct trial *trial);
/* conform_wait.c */
void conform_timed(struct trial *trial);
void conform_short(struct trial *trial);
void conform_handover(struct trial *trial);
void conform_cutoff(struct trial *trial);
/* For checks: judges a contest on one key after its end, and fails the trial unless it was clean.
 * Returns the number of grants. */
struct cell;
struct findings;
uint64_t conform_judge(struct trial *trial, const struct cell *cell,
                       const struct findings *findings);
/* conform_exclude.c */
void conform_exclude(struct trial *trial);
void conform_give_up(struct trial *trial);
/* conform_owner.c */
void conform_double_release(struct trial *trial);
void conform_stranger(struct trial *trial);
void conform_fence(struct trial *trial);
void conform_session(struct trial *trial);
/* conform_reentry.c */
void conform_reentry(struct trial *trial);
/* conform_shared.c */
void conform_shared(struct trial *trial);
void conform_shared_wait(struct trial *trial);
void conform_shared_mix(struct trial *trial);
void conform_reader_lease(struct trial *trial);
void conform_reader_session(struct trial *trial);
/* conform_semaphore.c */
void conform_permits_counted(struct trial *trial);
void conform_permits_several(struct trial *trial);
void conform_permits_contended(struct trial *trial);
void conform_arm_twice(struct trial *trial);
/* conform_latch.c */
void conform_latch(struct trial *trial);
void conform_latch_crowd(struct trial *trial);
/* conform_optimistic.c */
void conform_version(struct trial *trial);
void conform_conflict(struct trial *trial);
void conform_versions_unique(struct trial *trial);
void conform_atomic(struct trial *trial);
/* conform_multi.c */
void conform_multi(struct trial *trial);
void conform_multi_overlap(struct trial *trial);
/* conform_slots.c */
void conform_slots(struct trial *trial);
/* conform_crowd.c */
void conform_fair(struct trial *trial);
void conform_crowd(struct trial *trial);
void conform_share(struct trial *trial);
/* conform_residue.c */
void conform_residue(struct trial *trial);
void conform_armed_residue(struct trial *trial);
/* For other checks: the server must have nothing under the key any more within that time, as a new
 * session sees it. False after trial_fail. */
bool conform_nothing_left(struct trial *trial, const struct trial_key *key, const char *after,
                          int64_t limit_ns);
/* conform_count.c */
void conform_count(struct trial *trial);
/* True if the keys on the backend's servers can be counted from outside. */
bool conform_can_count(const struct lb_backend *backend);
/* conform_kill.c */
void conform_killed_clients(struct trial *trial);
/* conform_lease.c */
void conform_lease_ends(struct trial *trial);
void conform_renewal(struct trial *trial);
void conform_late_renewal(struct trial *trial);
/* conform_names.c */
void conform_odd_names(struct trial *trial);
void conform_long_names(struct trial *trial);
/* conform_lost.c */
void conform_lease_counts(struct trial *trial);
void conform_cut_answer(struct trial *trial);
void conform_cut_within_answer(struct trial *trial);
void conform_reset(struct trial *trial);
void conform_silent_answer(struct trial *trial);
void conform_silent_request(struct trial *trial);
void conform_cut_release(struct trial *trial);
void conform_crash(struct trial *trial);
void conform_told(struct trial *trial);
void conform_cut_write(struct trial *trial);
void conform_cut_await(struct trial *trial);
/* conform_server.c */
void conform_killed_server(struct trial *trial);

#endif
