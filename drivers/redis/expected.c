/* expected: the verdicts that are expected of Redis' locks under each fault. The first table is for locks
 * of one key with a lease on one server; the tables of the other families differ from it. See
 * drivers/expect.h. Servers keep keys in memory only, unless the plan asks for durability = sync. */
#include "drivers/expect.h"
#include "drivers/redis/backend.h"

#define FORGETS                                                                                    \
    [LB_SCENARIO_SERVER_RESTART] =                                                                 \
        VIOLATED("the key is in memory only, unless durability is sync"),                          \
    [LB_SCENARIO_SERVER_EMPTY] =                                                                   \
        VIOLATED("the key is gone with the data, and its holder does not notice")

#define FAILS_OVER                                                                                 \
    [LB_SCENARIO_PRIMARY_LOST] = VIOLATED("the promoted replica has never had the key"),           \
    [LB_SCENARIO_SENTINEL] = VIOLATED("the promoted replica has never had the key"),               \
    [LB_SCENARIO_CLUSTER] = VIOLATED("the promoted replica has never had the key")

#define ENDS_BY_CLOCK                                                                              \
    [LB_SCENARIO_CLOCK_FORWARD] =                                                                  \
        VIOLATED("leases end by the server's wall clock: all of them end at once"),                \
    [LB_SCENARIO_CLOCK_BACK] = STUCK("a dead holder's lease lasts one minute longer")

/* One key with a lease on one server. */
#define ONE_KEY                                                                                    \
    EXPECT_LEASE_CLIENTS, EXPECT_LEASE_STARVED, EXPECT_LEASE_WIRES, FORGETS, FAILS_OVER,           \
        ENDS_BY_CLOCK,                                                                             \
        [LB_SCENARIO_SERVER_PAUSE] =                                                               \
            EXPIRED("leases continue to run while nobody can renew them"),                         \
        [LB_SCENARIO_TERMINATED] = SAFE("the key outlives its holder's connection"),               \
        [LB_SCENARIO_EVICTION] = VIOLATED("a full server evicts the key before its lease ends")

const struct lb_expectation redis_expected[LB_SCENARIOS] = {ONE_KEY};

/* Nobody is granted anything without a replica: the promoted one has none until the dead primary is back, at 14 s. Who
 * holds then must hold since before the replica was cut off. */
#define OUTLASTS_FAILOVER "load.hold=17s", "acquire.lease=19s", "run.duration=20s"

const struct lb_expectation redis_wait_expected[LB_SCENARIOS] = {
    EXPECT_LEASE_CLIENTS,
    EXPECT_LEASE_STARVED,
    EXPECT_LEASE_WIRES,
    ENDS_BY_CLOCK,
    [LB_SCENARIO_SERVER_PAUSE] = EXPIRED("leases continue to run while nobody can renew them"),
    [LB_SCENARIO_SERVER_RESTART] =
        VIOLATED("a primary that restarts without data empties its replicas"),
    [LB_SCENARIO_SERVER_EMPTY] =
        VIOLATED("a primary that restarts without data empties its replicas"),
    [LB_SCENARIO_PRIMARY_LOST] =
        VIOLATED("the promoted replica may be one that does not have the key"),
    [LB_SCENARIO_SENTINEL] = VIOLATED("the promoted replica may be one that does not have the key"),
    [LB_SCENARIO_CLUSTER] =
        SAFE_WITH("each primary has one replica: without its acknowledgement nothing is granted",
                  OUTLASTS_FAILOVER),
    [LB_SCENARIO_TERMINATED] = SAFE("the key outlives its holder's connection"),
    [LB_SCENARIO_EVICTION] = VIOLATED("a full server evicts the key before its lease ends"),
};

/* Only the row for a waiter's death differs from the other locks whose waiters get a message. */
const struct lb_expectation redis_fair_expected[LB_SCENARIOS] = {
    EXPECT_LEASE_STARVED,
    EXPECT_LEASE_WIRES,
    FORGETS,
    FAILS_OVER,
    ENDS_BY_CLOCK,
    [LB_SCENARIO_NONE] = SAFE("one script grants it, and leases last while nothing fails"),
    [LB_SCENARIO_PAUSE] = EXPIRED("the lease ends, and a stopped process does not notice"),
    [LB_SCENARIO_HOLDER_KILL] = SAFE("a dead holder's lease ends by itself"),
    [LB_SCENARIO_WAITER_KILL] =
        STUCK("a dead first waiter keeps its place for queue_timeout, 5 min"),
    [LB_SCENARIO_CLIENT_CLOCK] = STUCK(
        "a client whose clock is ahead drops all waiters as dead; they sleep on, and nobody tells them"),
    [LB_SCENARIO_SERVER_PAUSE] = EXPIRED("leases continue to run while nobody can renew them"),
    [LB_SCENARIO_TERMINATED] = SAFE("key and queue outlive their clients' connections"),
    [LB_SCENARIO_EVICTION] = VIOLATED("a full server evicts the key before its lease ends"),
};

/* --- a counter that knows no holders --- */

const struct lb_expectation redis_semaphore_expected[LB_SCENARIOS] = {
    FAILS_OVER,
    [LB_SCENARIO_NONE] = SAFE("one script takes a permit"),
    [LB_SCENARIO_PAUSE] = SAFE("a permit does not end by time; others wait"),
    [LB_SCENARIO_HOLDER_KILL] =
        STUCK("nobody knows who holds which permit, so a dead holder's permits are lost"),
    [LB_SCENARIO_WAITER_KILL] =
        STUCK("a permit that is being granted to a waiter when the waiter dies is lost"),
    [LB_SCENARIO_SERVER_PAUSE] = STUCK("a permit that is granted after its client gave up is lost"),
    [LB_SCENARIO_SERVER_RESTART] =
        STUCK("the counter is in memory only: without it there are no permits"),
    [LB_SCENARIO_SERVER_EMPTY] =
        STUCK("without its counter there are no permits, and nobody creates it again"),
    [LB_SCENARIO_TERMINATED] = STUCK("a permit that can't be returned over its connection is lost"),
    [LB_SCENARIO_EVICTION] =
        STUCK("without its counter there are no permits, and nobody creates it again"),
    [LB_SCENARIO_CLOCK_FORWARD] = SAFE("nothing ends by time"),
    [LB_SCENARIO_CLOCK_BACK] = STUCK("a dead holder's permits are lost, whatever the clock"),
    [LB_SCENARIO_WIRE_DELAY] = SAFE("nothing ends by time"),
    [LB_SCENARIO_WIRE_CUT] = STUCK("a permit that can't be returned over its connection is lost"),
    [LB_SCENARIO_WIRE_ONE_WAY] = STUCK("a permit whose grant was never received is lost"),
    [LB_SCENARIO_WIRE_RESET] = STUCK("a permit that can't be returned over its connection is lost"),
    [LB_SCENARIO_LOST_REPLY] = STUCK("a permit whose grant was never received is lost"),
};

/* Permits have ids and ends, by the clients' clocks. */
const struct lb_expectation redis_permit_expected[LB_SCENARIOS] = {
    EXPECT_LEASE_CLIENTS,
    EXPECT_LEASE_STARVED,
    EXPECT_LEASE_WIRES,
    FAILS_OVER,
    [LB_SCENARIO_SERVER_PAUSE] = EXPIRED("leases continue to run while nobody can renew them"),
    [LB_SCENARIO_SERVER_RESTART] =
        STUCK("the counter is in memory only: without it there are no permits"),
    [LB_SCENARIO_SERVER_EMPTY] =
        STUCK("without its counter there are no permits, and nobody creates it again"),
    [LB_SCENARIO_TERMINATED] = SAFE("a permit outlives its holder's connection"),
    [LB_SCENARIO_EVICTION] =
        STUCK("without its counter there are no permits, and nobody creates it again"),
    [LB_SCENARIO_CLIENT_CLOCK] =
        VIOLATED("to a client whose clock is ahead every permit has ended, and it takes them"),
    [LB_SCENARIO_CLOCK_FORWARD] = SAFE("permits end by the clients' clocks, not the server's"),
    [LB_SCENARIO_CLOCK_BACK] = SAFE("permits end by the clients' clocks, not the server's"),
};

/* A missing latch is open. A latch that never opens is unstated: each round makes a latch of its
 * own, and the load's waiters ask again every 2 s, so no run can show it. The one-way cut is
 * unstated too, because all clients wait for the client whose answers are lost, and so is a
 * cluster's failover: its one round is still going on when the primary dies. */
const struct lb_expectation redis_latch_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("one script counts down, and notifies at zero"),
    [LB_SCENARIO_PAUSE] = SAFE("a count does not end by time; others wait"),
    [LB_SCENARIO_SERVER_PAUSE] = SAFE("nothing ends by time"),
    [LB_SCENARIO_SERVER_RESTART] =
        VIOLATED("the counter is in memory only: without it the latch is open"),
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("without its counter the latch is open"),
    [LB_SCENARIO_PRIMARY_LOST] =
        VIOLATED("a replica that has never had the counter has an open latch"),
    [LB_SCENARIO_SENTINEL] = VIOLATED("a replica that has never had the counter has an open latch"),
    [LB_SCENARIO_EVICTION] = VIOLATED("without its counter the latch is open"),
    [LB_SCENARIO_CLOCK_FORWARD] = SAFE("nothing ends by time"),
    [LB_SCENARIO_WIRE_DELAY] = SAFE("nothing ends by time"),
    [LB_SCENARIO_LOST_REPLY] = SAFE("awaiting takes nothing, so nothing is lost with its answer"),
};

/* --- one command --- */

#define NUMBERS_AGAIN                                                                              \
    "the promoted replica has not got the last writes, and gives their numbers out again"

const struct lb_expectation redis_incr_expected[LB_SCENARIOS] = {
    EXPECT_ATOMIC,
    [LB_SCENARIO_SERVER_RESTART] =
        VIOLATED("the number is in memory only, unless durability is sync, and starts again"),
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("the number is gone with the data, and starts again"),
    [LB_SCENARIO_PRIMARY_LOST] = VIOLATED(NUMBERS_AGAIN),
    [LB_SCENARIO_SENTINEL] = VIOLATED(NUMBERS_AGAIN),
    [LB_SCENARIO_CLUSTER] = VIOLATED(NUMBERS_AGAIN),
    [LB_SCENARIO_EVICTION] = VIOLATED("a full server evicts the number, and it starts again"),
    [LB_SCENARIO_CLOCK_FORWARD] = SAFE("nothing ends by time"),
    [LB_SCENARIO_CLOCK_BACK] = SAFE("nothing ends by time"),
};

/* --- several servers --- */

/* All servers are needed for a grant, so one server that still has the key prevents a second
 * grant. */
const struct lb_expectation redis_multi_expected[LB_SCENARIOS] = {
    EXPECT_LEASE_CLIENTS,
    EXPECT_LEASE_STARVED,
    EXPECT_LEASE_WIRES,
    FAILS_OVER,
    [LB_SCENARIO_SERVER_PAUSE] =
        EXPIRED("a server that stands still stops all clients, and leases continue to run"),
    [LB_SCENARIO_SERVER_RESTART] =
        SAFE("all servers are needed, and the others still have the key"),
    [LB_SCENARIO_SERVER_EMPTY] = SAFE("all servers are needed, and the others still have the key"),
    [LB_SCENARIO_MINORITY_LOST] = STUCK("all servers are needed"),
    [LB_SCENARIO_MAJORITY_LOST] = SAFE("all servers are needed, and the others still have the key"),
    [LB_SCENARIO_NODE_EMPTY] = SAFE("all servers are needed, and the others still have the key"),
    [LB_SCENARIO_TERMINATED] = SAFE("the keys outlive their holder's connections"),
    [LB_SCENARIO_EVICTION] = SAFE("all servers are needed, and the others still have the key"),
    [LB_SCENARIO_CLOCK_FORWARD] = SAFE("all servers are needed, and on the others the lease lasts"),
    [LB_SCENARIO_CLOCK_BACK] =
        STUCK("a dead holder's lease lasts one minute longer on one server, and all are needed"),
};

/* A renewal of these locks waits only briefly for each server, so a holder gives up before its lease
 * ends. */
const struct lb_expectation redis_redlock_expected[LB_SCENARIOS] = {
    EXPECT_LEASE_CLIENTS,
    EXPECT_LEASE_STARVED,
    EXPECT_LEASE_BAD_WIRES,
    [LB_SCENARIO_WIRE_CUT] =
        SAFE("its renewals fail before the lease ends, and the holder gives up then"),
    [LB_SCENARIO_WIRE_ONE_WAY] =
        SAFE("its renewals fail before the lease ends, and the holder gives up then"),
    [LB_SCENARIO_SERVER_PAUSE] = SAFE("the others are a majority, and continue"),
    [LB_SCENARIO_SERVER_RESTART] =
        VIOLATED("a server that lost the key grants it again: with two more, two clients hold it"),
    [LB_SCENARIO_SERVER_EMPTY] =
        VIOLATED("a server that lost the key grants it again: with two more, two clients hold it"),
    [LB_SCENARIO_MINORITY_LOST] = SAFE("the others are a majority, and continue"),
    [LB_SCENARIO_MAJORITY_LOST] =
        SAFE("they stay away for longer than a lease, so the grants that they lost have ended"),
    [LB_SCENARIO_NODE_EMPTY] =
        VIOLATED("a server that lost the key grants it again: with two more, two clients hold it"),
    [LB_SCENARIO_TERMINATED] = SAFE("the keys outlive their holder's connections"),
    [LB_SCENARIO_EVICTION] = VIOLATED(
        "a server that evicted the key grants it again: with two more, two clients hold it"),
    [LB_SCENARIO_CLOCK_FORWARD] =
        VIOLATED("a server whose clock jumps grants it again: with two more, two clients hold it"),
    [LB_SCENARIO_CLOCK_BACK] = SAFE("on the other servers a dead holder's lease ends in time"),
};
