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

/* redis-setnx with one mistake, for checks of lost requests and answers. */
enum bad_redis_fault {
    BAD_REDIS_NOTHING,
    BAD_REDIS_CERTAIN,       /* an acquire in doubt is called busy */
    BAD_REDIS_UNSETTLED,     /* settle only says that it has settled */
    BAD_REDIS_UNCOUNTED,     /* commands are not counted */
    BAD_REDIS_HOARDS,        /* each acquire opens a file that nobody closes */
    BAD_REDIS_SURE,          /* a release in doubt is called ok */
    BAD_REDIS_HOLDS_ON,      /* the lease is a hundred times as long as asked for */
    BAD_REDIS_NO_LEASE,      /* nothing ends by itself, though the grant says so */
    BAD_REDIS_SHORT,         /* a lease lasts for 90 % of what is stated */
    BAD_REDIS_SECONDS,       /* ... for whole seconds, rounded down */
    BAD_REDIS_RENEWED_SHORT, /* ... a renewed one, for 90 % */
    BAD_REDIS_GET_DEL,       /* a release asks who holds, and then frees */
    BAD_REDIS_SIDE_KEY,      /* a release leaves a key that the residue function does not know */
    BAD_REDIS_FROM_ANSWER,   /* a lease counts from the answer */
    BAD_REDIS_RENEWED_FROM_ANSWER, /* ... a renewed one */
    BAD_REDIS_RENEWS_NEVER,        /* each renewal is refused */
    BAD_REDIS_RENEWAL_SURE,        /* a renewal in doubt is called ok */
    BAD_REDIS_RENEWAL_LOST,        /* ... and lost */
    BAD_REDIS_RENEWAL_COUNTS,      /* ... extends the grant */
    BAD_REDIS_GET_SET,             /* an acquire looks whether the key is free, and then sets it */
    BAD_REDIS_SLEEPS,              /* a waiter misses a release between its two requests */
    BAD_REDIS_HASTY,               /* a grant that comes after the deadline is called a time-out */
    BAD_REDIS_FREES_AGAIN,         /* a release deletes the key a second time */
    BAD_REDIS_RENEWS_ANEW,         /* a renewal frees it and takes it again */
    BAD_REDIS_FAULTS
};

/* redis-latch and pg-optimistic that treat a missing answer as a refusal. */
struct lb_lock bad_redis_latch(void);
struct lb_lock bad_pg_optimistic(void);

/* zk-lock that does not tell the holder of the end of its session. */
struct lb_lock bad_zk_lock(void);

struct lb_lock bad_redis_lock(enum bad_redis_fault fault);

#endif
