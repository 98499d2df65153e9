/* conform: the conformance suite: what every lock of drivers/list.h must do, as checks that each lock gets by
 * its capabilities. A new lock gets all that apply by being in the list.
 *
 * A check is a script (conform_trial.h) with the capabilities that it needs. The files conform_<subject>.c
 * have them; conform.c has the table.
 */
#ifndef DRIVERS_TESTS_CONFORM_H
#define DRIVERS_TESTS_CONFORM_H

#include "drivers/tests/conform_actor.h"

/* What a check needs beside capabilities. */
enum conform_need {
    CONFORM_FAR = 1 << 0,   /* a server that can be reached through the proxy */
    CONFORM_OWNED = 1 << 1, /* a server of ours, which it may kill and start again */
};

/* What becomes of locks that are no locks. */
enum conform_for {
    CONFORM_LOCKS,    /* real locks only */
    CONFORM_ALL,      /* the baseline and the controls too */
    CONFORM_CONTROLS, /* real locks pass it, and a control must fail it: it is there to be caught */
};

struct conform_check {
    const char *name; /* "busy while another holds it" */
    unsigned caps;    /* enum lb_cap: all of these */
    unsigned claims;  /* enum lb_claim: all of these */
    unsigned needs;
    enum conform_for who;
    void (*script)(struct trial *trial);
};

/* All checks; the last has no name. Those that end a server's life come last. */
extern const struct conform_check conform_checks[];

/* Whether a lock gets a check. *ret_reason: why it is exempt where its capabilities alone would let it, else
 * NULL. */
bool conform_applies(const struct conform_check *check, const struct lb_lock *lock, const char **ret_reason);

/* An exception that no capability can tell, by name; must be justified here, in the table. */
struct conform_exemption {
    const char *lock, *check, *reason;
};
extern const struct conform_exemption conform_exemptions[]; /* the last has no lock */

/* conform_basic.c */
void conform_again(struct trial *trial);
void conform_busy(struct trial *trial);
void conform_past(struct trial *trial);
void conform_keys(struct trial *trial);
void conform_describe(struct trial *trial);
void conform_commands(struct trial *trial);
/* conform_wait.c */
void conform_timed(struct trial *trial);
void conform_short(struct trial *trial);
void conform_handover(struct trial *trial);
void conform_cutoff(struct trial *trial);
/* conform_exclude.c */
void conform_exclude(struct trial *trial);
/* conform_owner.c */
void conform_double_release(struct trial *trial);
void conform_stranger(struct trial *trial);
void conform_fence(struct trial *trial);
void conform_session(struct trial *trial);
/* conform_lease.c */
void conform_lease_ends(struct trial *trial);
void conform_renewal(struct trial *trial);
void conform_late_renewal(struct trial *trial);
/* conform_names.c */
void conform_odd_names(struct trial *trial);
void conform_long_names(struct trial *trial);
/* conform_lost.c */
void conform_cut_answer(struct trial *trial);
void conform_cut_within_answer(struct trial *trial);
void conform_reset(struct trial *trial);
void conform_silent_answer(struct trial *trial);
void conform_silent_request(struct trial *trial);
void conform_cut_release(struct trial *trial);
void conform_crash(struct trial *trial);
/* conform_server.c */
void conform_killed_server(struct trial *trial);

#endif
