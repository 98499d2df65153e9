/* fault: the faults that `lockbench check` puts a lock through, by name, and what a lock is
 * expected to do under each. The faults themselves are workloads/check/<name>.ini; this page has
 * only what drivers state of them.
 *
 * A driver's expectation is the worst that its lock may show, from what its protocol promises, with
 * the reason. To show worse is a finding; to show better is said too. What a fault leaves unstated
 * is not run. */
#ifndef DRIVERS_FAULT_H
#define DRIVERS_FAULT_H

enum lb_fault {
    LB_FAULT_NONE, /* nothing happens */

    /* To clients. */
    /* a holder stands still for longer than its lease or session, then goes on */
    LB_FAULT_PAUSE,
    LB_FAULT_HOLDER_KILL, /* a holder is killed */
    LB_FAULT_WAITER_KILL, /* a client is killed while it waits */
    LB_FAULT_STARVED,     /* a holder lives, but its renewals come too late */

    /* To servers. */
    /* the server (of several: the leader or primary) stands still and goes on */
    LB_FAULT_SERVER_PAUSE,
    LB_FAULT_SERVER_RESTART, /* it is killed and started again with its data */
    LB_FAULT_SERVER_EMPTY,   /* it is killed and started again without its data */
    LB_FAULT_LEADER_KILL,    /* of three, the leader is killed for good */
    /* replication is cut, the primary is killed, a replica is promoted by hand */
    LB_FAULT_PRIMARY_LOST,
    LB_FAULT_SENTINEL,      /* the same, and Sentinel promotes */
    LB_FAULT_MINORITY_LOST, /* of several servers, fewer than half are killed for good */
    LB_FAULT_MAJORITY_LOST, /* of several servers, more than half are killed; they come back with their data
                              */
    LB_FAULT_NODE_EMPTY, /* one of several is killed and started again without its data */
    /* the server ends a holder's connection (pg_terminate_backend, KILL) */
    LB_FAULT_TERMINATED,
    LB_FAULT_EVICTION,      /* the server is filled until it throws keys away */
    LB_FAULT_CLOCK_FORWARD, /* the server's wall clock jumps a minute ahead */
    LB_FAULT_CLOCK_BACK,    /* ... a minute back */

    /* To the wires between clients and servers. */
    LB_FAULT_WIRE_DELAY,  /* each byte comes later, all by the same time */
    LB_FAULT_WIRE_JITTER, /* ... by times that differ */
    LB_FAULT_WIRE_SLOW,   /* few bytes a second pass */
    /* a holder's wire swallows everything both ways for longer than its lease; heals */
    LB_FAULT_WIRE_CUT,
    LB_FAULT_WIRE_ONE_WAY, /* a holder's requests arrive, the answers do not; heals */
    LB_FAULT_WIRE_RESET,   /* all connections are reset */
    /* a connection ends after the k-th byte of an answer, in the middle of a message */
    LB_FAULT_WIRE_MIDWAY,
    LB_FAULT_LOST_REPLY,   /* an answer to an acquire is lost and its connection ends */
    LB_FAULT_LOST_PUBLISH, /* the message that wakes a waiter is lost */

    LB_FAULTS
};

/* From good to bad; as the verdicts of a cell of the matrix. */
enum lb_expect {
    LB_EXPECT_UNSTATED, /* does not apply, or nothing is known */
    LB_EXPECT_SAFE,     /* one holder at a time, and it goes on */
    /* a holder may outlive its lease or session: only a fencing token saves the data */
    LB_EXPECT_EXPIRED,
    LB_EXPECT_STUCK,   /* the key may become unavailable for longer than the theory allows */
    LB_EXPECT_VIOLATED /* two holders inside their leases, or the lock's state is lost */
};

struct lb_expectation {
    enum lb_expect worst;
    const char *why; /* one phrase: what in the protocol makes it so; static storage */
};

struct lb_lock;

/* What its driver states: the lock's own table, else its backend's. Never NULL. */
const struct lb_expectation *lb_expected(const struct lb_lock *lock, enum lb_fault fault);

/* "pause", "server-restart", ...: also the name of the workload in workloads/check/. */
const char *lb_fault_name(enum lb_fault fault);
/* One line for people. */
const char *lb_fault_summary(enum lb_fault fault);
/* LB_FAULTS for an unknown name. */
enum lb_fault lb_fault_from(const char *name);

/* "safe", "expired", "stuck", "violated"; "unstated". */
const char *lb_expect_name(enum lb_expect expect);

#endif
