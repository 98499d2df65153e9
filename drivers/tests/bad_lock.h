/* bad_lock: a lock in this process's memory that is right, and can be told to make one mistake,
 * which the conformance suite must notice. For fibers of one thread; it is in no list. */
#ifndef DRIVERS_TESTS_BAD_LOCK_H
#define DRIVERS_TESTS_BAD_LOCK_H

#include "drivers/driver.h"

/* By the option "fault". */
enum bad_fault {
    BAD_NOTHING,
    BAD_GRANTS_TWICE,     /* each fifth acquire is granted although another holds it */
    BAD_FORGETS_RELEASE,  /* each seventh release does nothing */
    BAD_TOKEN_REPEATS,    /* each fifth grant has the token of the one before it */
    BAD_TOKEN_ZERO,       /* there is none */
    BAD_TRY_TIMES_OUT,    /* a try of a held lock is called a time-out */
    BAD_TRY_GETS_NOTHING, /* a try of a free lock gives busy */
    BAD_TIMES_OUT_EARLY,  /* halfway to the deadline */
    BAD_LEAVES_TRACE,     /* a waiter that gives up stays in the queue, and gets it */
    BAD_WAITER_GETS_IT,   /* a waiter does not wait */
    BAD_WAITER_SLEEPS,    /* a waiter does not notice that it was freed */
    BAD_DEAF,             /* a wait does not end with the cut-off */
    BAD_ONE_KEY,          /* all keys are one lock */
    BAD_FREES_ANYBODYS,   /* a release frees whoever holds it */
    BAD_RELEASE_IS_OK,    /* a release of what is not held says ok, and does nothing */
    BAD_SESSION_STAYS,    /* the end of a session frees nothing */
    BAD_LEASE_NEVER_ENDS,
    BAD_LEASE_ENDS_EARLY,
    BAD_LEASE_UNKNOWN,   /* the holder whose lease ended is not told */
    BAD_RENEWS_NOTHING,  /* renew says ok and changes nothing */
    BAD_RENEWS_ANYBODYS, /* renew of what another holds says ok */
    BAD_NAME_BREAKS,     /* a blank in a name breaks it */
    BAD_NAME_SILENT,     /* a long name is refused without a word */
    BAD_NO_VERSION,      /* describe says nothing */
    BAD_TRY_POLLS,       /* a try of a held lock looks again for 60 ms */
    BAD_WAITS_ON,        /* a timed wait lasts 700 ms longer */
    BAD_OLD_WORD,        /* a grant's word frees the client's next grant */
    BAD_CUTS_NAME,       /* after 64 bytes */
    BAD_FOLDS_CASE,      /* of names */
    BAD_CUTS_NUMBER,     /* ignores a bit of a name's number */
    BAD_FAULTS
};

extern const struct lb_lock lock_bad;

/* A real lock with one mistake in its requests, and the check that is there for it. */
struct bad_real {
    const char *check;
    const char *lock;       /* NULL = redis-setnx */
    lb_acquire_fn *acquire; /* in place of the lock's own; NULL = that */
    lb_release_fn *release;
    lb_renew_fn *renew;
    lb_settle_fn *settle;
    bool says_yes; /* a client is told that it holds, or has freed, what it may not */
};

#define BAD_ENDLESS "a lease ends, not too early" /* caught by it: a lock without a lease */

/* The last one has no check. */
extern const struct bad_real bad_reals[];
/* Good until the next call. */
struct lb_lock bad_real_lock(const struct bad_real *fault);

#endif
