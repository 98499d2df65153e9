/* conform: the conformance suite: what every lock of drivers/list.h must do, as checks that each
 * lock gets by its capabilities. A new lock gets all that apply by being in the list.
 *
 * A check is a script (conform_trial.h) with the capabilities that it needs. The files
 * conform_<subject>.c have them; checks.h lists them all. */
#ifndef BENCH_CONFORM_CONFORM_H
#define BENCH_CONFORM_CONFORM_H

#include <signal.h>

#include "bench/conform/conform_trial.h"
#include "bench/servers/wire.h"

/* The needs of a check besides capabilities, and who else gets it: without CONFORM_ALL and CONFORM_CONTROLS only real
 * locks. */
enum conform_need {
    CONFORM_FAR = 1 << 0, /* a server that can be reached through a wire */
    /* a server that lockbench started, since the check kills it and starts it again */
    CONFORM_OWNED = 1 << 1,
    CONFORM_CHILDREN = 1 << 2, /* processes of clients: trial->holder, trial->waiter */
    CONFORM_RESIDUE = 1 << 3,  /* a lock that can report its residue */
    CONFORM_ARMS = 1 << 4,     /* a lock that has to be armed */
    CONFORM_TELLS = 1 << 5,    /* a session with a lease of its own */
    CONFORM_BASIC = 1 << 6,    /* no need: the check also runs on each further topology of a lock */
    CONFORM_COUNTS = 1 << 7,   /* a server whose keys can be counted without the driver */
    /* with CONFORM_FAR: the clients through the wire wait for answers as long as all others do */
    CONFORM_PATIENT = 1 << 8,
    CONFORM_FREED =
        1 << 9,            /* a lock that claims to be free after a crash: LB_CLAIM_CRASH_RELEASE */
    CONFORM_ALL = 1 << 10, /* the baseline and the controls, too */
    /* real locks must pass the check, and a control that any contention exposes must fail it */
    CONFORM_CONTROLS = 1 << 11,
};

/* The primitives that a check is for. */
#define CONFORM_KIND(primitive) (1U << (primitive))
/* an optimistic lock with LB_CAP_ATOMIC: a separate kind, because such a lock never refuses a client */
#define CONFORM_ATOMIC (1U << 31)
/* a semaphore of one permit excludes too */
#define CONFORM_EXCLUDES                                                                           \
    (CONFORM_KIND(LB_MUTEX) | CONFORM_KIND(LB_RWLOCK) | CONFORM_KIND(LB_SEMAPHORE))
#define CONFORM_ANY (~0U)

struct conform_check {
    void (*script)(struct trial *trial);
    const char *name; /* "busy while another holds it" */
    unsigned kinds;   /* CONFORM_KIND: the lock is of one of these primitives */
    unsigned caps;    /* enum lb_cap: the lock has all of these */
    unsigned needs;   /* enum conform_need */
};

/* All checks of checks.h; the last one has no name. */
extern const struct conform_check conform_checks[];

/* True if a lock gets a check; further: on another topology than its first. *ret_reason: why the
 * lock is exempt although its capabilities ask for the check, else NULL. */
bool conform_applies(const struct conform_check *check, const struct lb_lock *lock, bool further,
                     const char **ret_reason);

enum conform_end { CONFORM_PASSED, CONFORM_FAILED, CONFORM_LEFT_OUT };

/* The result of a check. failure: what went wrong, or why it was left out, or "". */
struct conform_result {
    char failure[1024];
    enum trial_shown shown; /* what the failure shows about the lock */
    char first[1024];       /* set by conform_try: why the check was tried twice, or "" */
    enum conform_end end;   /* this and the next one: of conform_suite */
    int64_t took_ns;
};

/* After so many seconds a check ends the process, with a message that names the lock and the check: a
 * driver's call that neither returns nor waits can't be ended in another way. */
extern unsigned conform_limit_s;

/* Notes that the lock has failed a check for good: from now on its checks wait less, and are not tried twice. */
void conform_note_failed(const struct lb_lock *lock);

/* Runs one check at a place. lock: with its options; far_lock: the same for the way through the
 * wire. After a failure an embedded place is opened anew (NULL if that fails), because the
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

/* ---- all checks of one lock on one server, one after the other. On a server of the user a check that has to kill or
 * inspect the server is left out, with the reason. ---- */

#define CONFORM_SUITE_SETS_MAX 24

struct conform_ask {
    const struct lb_lock *lock;
    const char *url; /* a server that runs already; NULL = lockbench starts one */
    /* "name=value" for options of the lock and its backend, NULL at the end, at most CONFORM_SUITE_SETS_MAX;
     * NULL = all by default */
    const char *const *sets;
    void (*tell)(void *arg, const struct conform_check *check, const struct conform_result *result);
    void *arg;
    const volatile sig_atomic_t *interrupts; /* looked at between two checks */
};

/* Runs and reports each check of the lock. A call of a driver that neither returns nor waits ends
 * the process, with a message. To be called on the main thread, while there is no other. Returns 0
 * when all were tried, or -1 with err: no server, or interrupted (LB_EXIT_INTERRUPTED). */
int conform_suite(const struct conform_ask *ask, struct lb_err *err);

/* Exceptions that no capability expresses, by the lock's name; the table must justify each. */
struct conform_exemption {
    const char *lock, *check, *reason;
};
extern const struct conform_exemption conform_exemptions[]; /* the last entry has no lock */

/* The checks' scripts, in the files conform_<subject>.c. */
#define CHECK(script, ...) void conform_##script(struct trial *trial);
#include "bench/conform/checks.h"
#undef CHECK

/* For scripts with CONFORM_FAR. strike: the wire does this, and nothing else, to all connections. struck: it has done it
 * at least once. heal: it ends what it does; connections that lost bytes are reset, and new ones work. */
void conform_strike(struct trial *trial, struct wire_fault fault);
bool conform_struck(const struct trial *trial);
void conform_heal(struct trial *trial);

/* What a call gives whose server or connection is gone: the grant is lost, or nobody knows. */
static inline bool conform_in_doubt(enum lb_outcome outcome) {
    return outcome == LB_UNKNOWN || outcome == LB_BROKEN || outcome == LB_LOST;
}

/* For the end of a script: the key is disarmed by the client, all sessions end, and the lock must have left nothing under
 * the key after that use, if it can report its residue. */
void conform_leaves_nothing(struct trial *trial, struct actor *client, const struct trial_key *key,
                            const char *use);

/* A shell command that counts the keys on one of the backend's servers; NULL = they can't be counted from outside. */
const char *conform_counter(const struct lb_backend *backend);

#endif
