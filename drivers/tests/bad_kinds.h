/* bad_kinds: locks of every primitive in this process's memory that are right, and can be told to
 * be wrong in one way each: each mistake must be noticed by the conformance suite's checks for
 * modes, permits, counts and versions. For fibers of one thread and forked clients that are killed;
 * they are in no list. */
#ifndef DRIVERS_TESTS_BAD_KINDS_H
#define DRIVERS_TESTS_BAD_KINDS_H

#include "drivers/driver.h"

/* By the option "fault". */
enum kind_fault {
    KIND_RIGHT,
    /* of all that hold something */
    KIND_STARVES,      /* the client of number 20 never gets it */
    KIND_OVERTAKES,    /* the last that came goes first */
    KIND_FORGETS_DEAD, /* what a killed process held stays held */
    KIND_TRUSTS_DEAD,  /* a killed process's place in the queue stays */
    KIND_BLIND,        /* residue sees nothing */
    KIND_LEAVES,       /* a waiter that gives up leaves its place in the queue */
    KIND_ONE_KEY,      /* all keys are one lock */
    KIND_SPINS,        /* a waiter neither returns nor lets others run */
    KIND_CRASHES,      /* a waiter writes to address 0 */
    KIND_HOARDS,       /* each acquire opens two files that nobody closes */
    /* re-entry, shared sessions */
    KIND_FREES_AT_ONCE, /* the first release frees what was taken several times */
    KIND_NOT_TWICE,     /* its holder finds it busy */
    KIND_OWNER_IS_SESSION,
    /* reading and writing */
    KIND_READS_ALONE,  /* one reader at a time */
    KIND_WRITES_AMONG, /* a writer comes in where readers are */
    KIND_READER_FREES, /* one reader's release frees for all */
    KIND_FORGETS_LATE, /* a writer that waits does not see the readers that come after it */
    KIND_READER_STAYS, /* a reader's part does not end by itself */
    KIND_ENDS_ALL,     /* ... or takes those of the others along */
    /* permits */
    KIND_ONE_MORE,   /* than there are */
    KIND_GIVES_TWO,  /* back for one */
    KIND_TAKES_PART, /* of what it can't have in full, and keeps it */
    KIND_ARMS_ANEW,
    KIND_POLLS,       /* a try looks again for 60 ms */
    KIND_KEEPS_ARMED, /* disarm does nothing */
    /* versions */
    KIND_WRITES_ANYWAY,
    KIND_SAME_VERSION,
    KIND_FAULTS
};

extern const struct lb_lock bad_mutex, bad_rwlock, bad_semaphore, bad_optimistic, bad_atomic;

#endif
