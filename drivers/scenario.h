/* scenario: the names of the fault scenarios that `lockbench check` puts each lock through, and
 * what each lock is expected to show in them. What happens in a scenario is a workload file,
 * workloads/check/<name>.ini; this header holds only what the drivers state.
 *
 * A driver states the worst verdict that the protocol of its lock permits in a scenario, and the
 * reason. The check reports a worse verdict as a finding; a better one is reported as well.
 * A scenario without a statement is not run for that lock. */
#ifndef DRIVERS_SCENARIO_H
#define DRIVERS_SCENARIO_H

#include <stdbool.h>

enum lb_scenario {
    LB_SCENARIO_NONE, /* nothing happens */
    /* nothing happens, but a pooler gives the server's sessions to one transaction at a time */
    LB_SCENARIO_POOLED,
    /* nothing happens, but the clients are spread over all nodes of a cluster that takes writes at each */
    LB_SCENARIO_MULTI_PRIMARY,

    /* Faults of clients. */
    /* a holder is stopped for longer than its lease or session, then continued */
    LB_SCENARIO_PAUSE,
    LB_SCENARIO_HOLDER_KILL,  /* a holder is killed */
    LB_SCENARIO_WAITER_KILL,  /* a client is killed while it waits */
    LB_SCENARIO_STARVED,      /* a holder is alive, but its renewals are sent too late */
    LB_SCENARIO_CLIENT_CLOCK, /* one client's wall clock is an hour ahead */

    /* Faults of servers. */
    /* the server (of several: the leader or primary) is stopped, then continued */
    LB_SCENARIO_SERVER_PAUSE,
    LB_SCENARIO_SERVER_RESTART, /* the server is killed and restarted with its data */
    LB_SCENARIO_SERVER_EMPTY,   /* the server is killed and restarted without its data */
    LB_SCENARIO_LEADER_KILL,    /* the leader of three servers is killed and stays dead */
    /* replication is cut, the primary is killed, the check itself promotes a replica */
    LB_SCENARIO_PRIMARY_LOST,
    /* a standby falls behind, the primary is killed, the check promotes that standby */
    LB_SCENARIO_STANDBY_BEHIND,
    LB_SCENARIO_SENTINEL,      /* the same, but Sentinel promotes the replica */
    LB_SCENARIO_CLUSTER,       /* the same, but the other primaries of a Redis Cluster promote it */
    LB_SCENARIO_MINORITY_LOST, /* fewer than half of several servers are killed and stay dead */
    /* more than half of several servers are killed, then restarted with their data */
    LB_SCENARIO_MAJORITY_LOST,
    LB_SCENARIO_SPLIT, /* the server that clients use is cut off from the others of its cluster */
    LB_SCENARIO_NODE_EMPTY, /* one of several servers is killed and restarted without its data */
    /* the server ends the connection of a holder (pg_terminate_backend, KILL) */
    LB_SCENARIO_TERMINATED,
    LB_SCENARIO_EVICTION,      /* the server is filled until it evicts keys */
    LB_SCENARIO_CLOCK_FORWARD, /* the server's wall clock jumps one minute forward */
    LB_SCENARIO_CLOCK_BACK,    /* the server's wall clock jumps one minute back */

    /* Faults of the connections between clients and servers. */
    LB_SCENARIO_WIRE_DELAY,  /* every byte is delayed by the same time */
    LB_SCENARIO_WIRE_JITTER, /* every byte is delayed, by varying times */
    LB_SCENARIO_WIRE_SLOW,   /* the bandwidth is limited to few bytes a second */
    /* a holder's connection drops everything both ways for longer than its lease, then works */
    LB_SCENARIO_WIRE_CUT,
    /* a holder's requests arrive but the answers are dropped, then the connection works again */
    LB_SCENARIO_WIRE_ONE_WAY,
    LB_SCENARIO_WIRE_RESET, /* all connections are reset */
    /* a connection ends after a given number of bytes of an answer, inside a message */
    LB_SCENARIO_WIRE_MIDWAY,
    LB_SCENARIO_LOST_REPLY,   /* the answer to an acquire is dropped and its connection ends */
    LB_SCENARIO_LOST_PUBLISH, /* the message that wakes a waiter is dropped */

    LB_SCENARIOS
};

/* What a lock may show in a scenario, from good to bad; also the order of the check's verdicts. */
enum lb_expect {
    LB_EXPECT_UNSTATED, /* the scenario does not apply, or nothing is known */
    LB_EXPECT_SAFE,     /* one holder at a time, and grants continue */
    /* a holder may outlive its lease or session; only a fencing token protects the data */
    LB_EXPECT_EXPIRED,
    LB_EXPECT_STUCK,   /* a key may stay unavailable for longer than the protocol allows */
    LB_EXPECT_VIOLATED /* two holders inside their leases, or the lock's state is lost */
};

struct lb_expectation {
    enum lb_expect worst;
    const char *why; /* one phrase: which part of the protocol permits it; static storage */
};

/* Whether anything is injected in it. */
bool lb_scenario_injects(enum lb_scenario scenario);
/* "pause", "server-restart", ...: also the name of the workload file in workloads/check/. */
const char *lb_scenario_name(enum lb_scenario scenario);
/* One line for help and reports. */
const char *lb_scenario_summary(enum lb_scenario scenario);
/* Returns LB_SCENARIOS for an unknown name. */
enum lb_scenario lb_scenario_from(const char *name);

/* "safe", "expired", "stuck", "violated"; "unstated". */
const char *lb_expect_name(enum lb_expect expect);

#endif
