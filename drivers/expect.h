/* expect: the macros with which drivers write their tables of expectations (scenario.h), and the
 * rows that are the same for all locks of one kind, whatever their server. Only for the expected.c
 * of a backend's folder.
 *
 * There are three kinds, by what a grant lives by: a lease that the request asked for, a session
 * that is kept alive on its own, or a connection. A reason is a phrase of at most 100 bytes without
 * a full stop. */
#ifndef DRIVERS_EXPECT_H
#define DRIVERS_EXPECT_H

#include "drivers/driver.h"

#define SAFE(reason)                                                                               \
    { .worst = LB_EXPECT_SAFE, .why = reason }
#define EXPIRED(reason)                                                                            \
    { .worst = LB_EXPECT_EXPIRED, .why = reason }
#define STUCK(reason)                                                                              \
    { .worst = LB_EXPECT_STUCK, .why = reason }
#define VIOLATED(reason)                                                                           \
    { .worst = LB_EXPECT_VIOLATED, .why = reason }

/* The same, with the settings that the scenario needs for this lock. */
#define SAFE_WITH(reason, ...)                                                                     \
    {                                                                                              \
        .worst = LB_EXPECT_SAFE, .why = reason, .sets = { __VA_ARGS__ }                            \
    }
#define EXPIRED_WITH(reason, ...)                                                                  \
    {                                                                                              \
        .worst = LB_EXPECT_EXPIRED, .why = reason, .sets = { __VA_ARGS__ }                         \
    }
#define STUCK_WITH(reason, ...)                                                                    \
    {                                                                                              \
        .worst = LB_EXPECT_STUCK, .why = reason, .sets = { __VA_ARGS__ }                           \
    }

/* Rows with the same expectation. EXPECT_OF_CONTROL:
 * `none` and the scenarios of the short tour (bench/check/matrix.c), for a control that fails even without a fault. */
#define EXPECT_OF_CONTROL(all)                                                                     \
    [LB_SCENARIO_NONE] = all, [LB_SCENARIO_PAUSE] = all, [LB_SCENARIO_HOLDER_KILL] = all,          \
    [LB_SCENARIO_SERVER_RESTART] = all, [LB_SCENARIO_WIRE_CUT] = all

/* For a lock whose server reserves tokens in blocks: after a crash the server may give out the newest block again. */
#define RESTART_TOKEN_AGAIN                                                                        \
    VIOLATED("its session ends unnoticed; a crash may give out its token once more")

/* The restarts of ZooKeeper and of databases take up to 6 s on a busy machine. Whoever holds when they answer again must
 * still be inside. */
#define OUTLASTS_RESTART "load.hold=8s", "acquire.lease=10s", "run.duration=18s"

/* --- a lease: it ends by time; a random token identifies its owner, over any connection --- */

#define EXPECT_LEASE_CLIENTS                                                                       \
    [LB_SCENARIO_NONE] =                                                                           \
        SAFE("one atomic request grants it, and leases last while nothing fails"),                 \
    [LB_SCENARIO_PAUSE] = EXPIRED("the lease ends, and a stopped process does not notice"),        \
    [LB_SCENARIO_HOLDER_KILL] = SAFE("a dead holder's lease ends by itself"),                      \
    [LB_SCENARIO_WAITER_KILL] =                                                                    \
        SAFE("a waiter owns nothing on the server, at worst a lease that ends by itself")

/* Rows of locks that can renew. */
#define EXPECT_LEASE_STARVED                                                                       \
    [LB_SCENARIO_STARVED] =                                                                        \
        EXPIRED("the lease ends, and its holder notices only when it renews or releases")

/* Connections that are slow or break. */
#define EXPECT_LEASE_BAD_WIRES                                                                     \
    [LB_SCENARIO_WIRE_DELAY] = SAFE("a lease is counted from before its request was sent"),        \
    [LB_SCENARIO_WIRE_RESET] =                                                                     \
        SAFE("the lease outlives its connection; an unknown outcome is settled by the token"),     \
    [LB_SCENARIO_LOST_REPLY] = SAFE("what is in doubt is settled by the owner's token")

/* The same, and connections that are silent. */
#define EXPECT_LEASE_WIRES                                                                         \
    EXPECT_LEASE_BAD_WIRES,                                                                        \
        [LB_SCENARIO_WIRE_CUT] =                                                                   \
            EXPIRED("no renewal arrives; the lease ends, and its holder continues"),               \
        [LB_SCENARIO_WIRE_ONE_WAY] =                                                               \
            EXPIRED("the next renewal waits for an answer, and the lease ends")

/* --- a session: the driver keeps it alive, and gives up by its own clock --- */

#define EXPECT_SESSION                                                                             \
    [LB_SCENARIO_NONE] = SAFE("the servers put all requests in one order"),                        \
    [LB_SCENARIO_PAUSE] =                                                                          \
        EXPIRED("its session ends while it is stopped; it learns of that when it continues"),      \
    [LB_SCENARIO_HOLDER_KILL] = SAFE("a dead holder's session ends by itself"),                    \
    [LB_SCENARIO_WAITER_KILL] = SAFE("a dead waiter's place in the queue ends with its session"),  \
    [LB_SCENARIO_SERVER_PAUSE] =                                                                   \
        SAFE("a holder gives up when its session may have ended by its own clock"),                \
    [LB_SCENARIO_SERVER_RESTART] = SAFE_WITH(                                                      \
        "keys and sessions are on disk; sessions restart with their full time", OUTLASTS_RESTART), \
    [LB_SCENARIO_SERVER_EMPTY] =                                                                   \
        VIOLATED("keys and sessions are gone, and other clients may ask first"),                   \
    [LB_SCENARIO_LEADER_KILL] =                                                                    \
        SAFE("a majority has every key; sessions restart with their full time at the new leader"), \
    [LB_SCENARIO_MINORITY_LOST] = SAFE("a majority has every key, and continues"),                 \
    [LB_SCENARIO_MAJORITY_LOST] =                                                                  \
        SAFE("nothing is granted without a majority, which comes back with its keys"),             \
    [LB_SCENARIO_WIRE_DELAY] = SAFE("a session outlasts many round trips"),                        \
    [LB_SCENARIO_WIRE_CUT] =                                                                       \
        SAFE("a holder gives up when its session may have ended by its own clock"),                \
    [LB_SCENARIO_WIRE_ONE_WAY] =                                                                   \
        SAFE("a holder gives up when its session may have ended by its own clock"),                \
    [LB_SCENARIO_WIRE_RESET] = SAFE("a session outlives its connection")

/* --- a connection: the server frees the lock when it ends, and nothing ends by time --- */

#define EXPECT_CONNECTION_CLIENTS                                                                  \
    [LB_SCENARIO_NONE] = SAFE("the server admits one holder at a time"),                           \
    [LB_SCENARIO_PAUSE] =                                                                          \
        SAFE("a stopped process keeps its connection, and so the lock; others wait"),              \
    [LB_SCENARIO_HOLDER_KILL] =                                                                    \
        SAFE("the connection ends with its process, and the lock with that"),                      \
    [LB_SCENARIO_WAITER_KILL] = SAFE("a dead waiter that gets the lock frees it at once")

#define EXPECT_CONNECTION_WIRES                                                                    \
    [LB_SCENARIO_WIRE_DELAY] = SAFE("nothing ends by time"),                                       \
    [LB_SCENARIO_WIRE_CUT] =                                                                       \
        SAFE("the connection stays open, and so the lock stays held; others wait"),                \
    [LB_SCENARIO_WIRE_ONE_WAY] =                                                                   \
        SAFE("the connection stays open, and so the lock stays held; others wait"),                \
    [LB_SCENARIO_WIRE_RESET] =                                                                     \
        EXPIRED("its session ends, and a holder that makes no request does not notice"),           \
    [LB_SCENARIO_LOST_REPLY] = SAFE("the session ends with the lost answer, and so does the lock")

/* --- the SQL databases: locks of a session, rows with an end, rows with a version --- */

#define EXPECT_SQL_SESSION                                                                         \
    EXPECT_CONNECTION_CLIENTS, EXPECT_CONNECTION_WIRES,                                            \
        [LB_SCENARIO_SERVER_PAUSE] = SAFE("nothing ends by time"),                                 \
        [LB_SCENARIO_SERVER_RESTART] =                                                             \
            EXPIRED("its session ends, and a holder that makes no request does not notice"),       \
        [LB_SCENARIO_SERVER_EMPTY] =                                                               \
            EXPIRED("its session ends, and a holder that makes no request does not notice"),       \
        [LB_SCENARIO_TERMINATED] =                                                                 \
            EXPIRED("its session ends, and a holder that makes no request does not notice")

#define EXPECT_SQL_LEASE                                                                           \
    EXPECT_LEASE_CLIENTS, EXPECT_LEASE_STARVED, EXPECT_LEASE_WIRES,                                \
        [LB_SCENARIO_SERVER_PAUSE] =                                                               \
            EXPIRED("leases continue to run while nobody can renew them"),                         \
        [LB_SCENARIO_SERVER_RESTART] = SAFE_WITH(                                                  \
            "the row is on disk before the answer, and has an end of its own", OUTLASTS_RESTART),  \
        [LB_SCENARIO_SERVER_EMPTY] =                                                               \
            VIOLATED("the row is gone with the data, and its holder does not notice"),             \
        [LB_SCENARIO_TERMINATED] = SAFE("the row outlives its holder's connection"),               \
        [LB_SCENARIO_CLOCK_FORWARD] =                                                              \
            VIOLATED("leases end by the server's wall clock: all of them end at once"),            \
        [LB_SCENARIO_CLOCK_BACK] = STUCK("a dead holder's lease lasts one minute longer")

/* The last three are STUCK: an UPDATE whose client has given up may still arrive and set the flag,
 * and nothing clears the flag after a time. */
#define EXPECT_SQL_FLAG                                                                            \
    [LB_SCENARIO_NONE] = SAFE("one UPDATE sets the flag if it is not set"),                        \
    [LB_SCENARIO_PAUSE] = SAFE("nothing ends by time; others wait"),                               \
    [LB_SCENARIO_HOLDER_KILL] = STUCK("nobody clears a dead holder's flag"),                       \
    [LB_SCENARIO_WAITER_KILL] = STUCK("a waiter that dies while it sets the flag leaves it set"),  \
    [LB_SCENARIO_SERVER_RESTART] = SAFE_WITH(                                                      \
        "the row is on disk before the answer, and nothing ends by time", OUTLASTS_RESTART),       \
    [LB_SCENARIO_SERVER_EMPTY] = STUCK("without its row there is no flag to set"),                 \
    [LB_SCENARIO_TERMINATED] = SAFE("the row outlives its holder's connection"),                   \
    [LB_SCENARIO_WIRE_DELAY] = SAFE("nothing ends by time"),                                       \
    [LB_SCENARIO_LOST_REPLY] = SAFE("what is in doubt is settled by the owner's token"),           \
    [LB_SCENARIO_WIRE_ONE_WAY] = SAFE("what is in doubt is settled by the owner's token"),         \
    [LB_SCENARIO_SERVER_PAUSE] =                                                                   \
        STUCK("an UPDATE that runs after its client gave up leaves the flag set"),                 \
    [LB_SCENARIO_WIRE_CUT] =                                                                       \
        STUCK("an UPDATE that runs after its client gave up leaves the flag set"),                 \
    [LB_SCENARIO_WIRE_RESET] =                                                                     \
        STUCK("an UPDATE that runs after its client gave up leaves the flag set")

#define EXPECT_SQL_OPTIMISTIC                                                                      \
    [LB_SCENARIO_NONE] = SAFE("a write is refused if the version has changed since it was read"),  \
    [LB_SCENARIO_PAUSE] = SAFE("a late write is refused by its version"),                          \
    [LB_SCENARIO_HOLDER_KILL] = SAFE("nothing is held"),                                           \
    [LB_SCENARIO_SERVER_PAUSE] = SAFE("nothing is held"),                                          \
    [LB_SCENARIO_SERVER_RESTART] = SAFE("the row is on disk before the answer"),                   \
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("the row is gone, and its versions start again"),        \
    [LB_SCENARIO_TERMINATED] = SAFE("nothing is held"),                                            \
    [LB_SCENARIO_WIRE_DELAY] = SAFE("nothing is held"),                                            \
    [LB_SCENARIO_WIRE_CUT] = SAFE("a late write is refused by its version"),                       \
    [LB_SCENARIO_WIRE_ONE_WAY] =                                                                   \
        SAFE("a write with an unknown outcome happens once or never, as its version shows"),       \
    [LB_SCENARIO_WIRE_RESET] =                                                                     \
        SAFE("a write with an unknown outcome happens once or never, as its version shows"),       \
    [LB_SCENARIO_LOST_REPLY] =                                                                     \
        SAFE("a write with an unknown outcome happens once or never, as its version shows")

/* --- one statement that reads, computes and writes: LB_CAP_ATOMIC --- */

#define EXPECT_ATOMIC                                                                              \
    [LB_SCENARIO_NONE] = SAFE("the server does one statement after the other"),                    \
    [LB_SCENARIO_PAUSE] = SAFE("nothing is held, and nothing was read before"),                    \
    [LB_SCENARIO_HOLDER_KILL] = SAFE("nothing is held"),                                           \
    [LB_SCENARIO_SERVER_PAUSE] = SAFE("nothing is held"),                                          \
    [LB_SCENARIO_TERMINATED] = SAFE("nothing is held"),                                            \
    [LB_SCENARIO_WIRE_DELAY] = SAFE("nothing is held"),                                            \
    [LB_SCENARIO_WIRE_CUT] = SAFE("a statement that arrives late counts from what is there then"), \
    [LB_SCENARIO_WIRE_ONE_WAY] =                                                                   \
        SAFE("a statement with an unknown outcome happens once or never"),                         \
    [LB_SCENARIO_WIRE_RESET] = SAFE("a statement with an unknown outcome happens once or never"),  \
    [LB_SCENARIO_LOST_REPLY] = SAFE("a statement with an unknown outcome happens once or never")

#define EXPECT_SQL_UPDATE                                                                          \
    EXPECT_ATOMIC, [LB_SCENARIO_SERVER_RESTART] = SAFE("the row is on disk before the answer"),    \
                   [LB_SCENARIO_SERVER_EMPTY] =                                                    \
                       VIOLATED("the row is gone, and its versions start again")

#endif
