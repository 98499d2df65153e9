/* expected: the worst verdicts that are expected of client programs under faults: one table for grants
 * that live by a lease on one server, and one for grants that live by a session. The tables are for all
 * programs; a single program may do better. See drivers/expect.h. */
#include "drivers/exec/backend.h"
#include "drivers/expect.h"

#define RENEWALS EXPIRED("the lease ends, and the program learns of it when it renews")
#define SLOW SAFE("a lease is counted from before the program sent its request")
#define DOUBT SAFE("what is in doubt is waited for until its lease has ended")

const struct lb_expectation exec_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("the library grants to one client, and leases last"),
    [LB_SCENARIO_PAUSE] = EXPIRED("the lease ends, and a stopped process does not notice"),
    [LB_SCENARIO_HOLDER_KILL] =
        SAFE("the program dies with its client, and its lease ends by itself"),
    [LB_SCENARIO_WAITER_KILL] = SAFE("a waiter owns at worst a lease that ends by itself"),
    [LB_SCENARIO_STARVED] = RENEWALS,
    [LB_SCENARIO_SERVER_PAUSE] = EXPIRED("leases continue to run while nobody can renew them"),
    [LB_SCENARIO_SERVER_RESTART] = VIOLATED("a server that has only its memory forgets the lock"),
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("the lock is gone with the server's data"),
    [LB_SCENARIO_WIRE_DELAY] = SLOW,
    [LB_SCENARIO_WIRE_RESET] = DOUBT,
    [LB_SCENARIO_WIRE_CUT] = RENEWALS,
    [LB_SCENARIO_WIRE_ONE_WAY] = RENEWALS,
    [LB_SCENARIO_LOST_REPLY] = DOUBT,
};

#define SILENT EXPIRED("the session ends, and the program learns of it when it reaches its server")
#define OUTLASTS SAFE("a session outlasts many round trips")

const struct lb_expectation exec_session_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("the library grants to one client, and sessions last"),
    [LB_SCENARIO_PAUSE] = EXPIRED("the session ends while the program is stopped"),
    [LB_SCENARIO_HOLDER_KILL] =
        SAFE("the program dies with its client, and its session ends by itself"),
    [LB_SCENARIO_WAITER_KILL] = SAFE("a dead waiter's place in the queue ends with its session"),
    [LB_SCENARIO_SERVER_PAUSE] = SILENT,
    [LB_SCENARIO_SERVER_RESTART] = SAFE("locks and sessions are on the server's disk"),
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("locks and sessions are gone with the server's data"),
    [LB_SCENARIO_WIRE_DELAY] = OUTLASTS,
    [LB_SCENARIO_WIRE_RESET] = SAFE("a session outlives its connection"),
    [LB_SCENARIO_WIRE_CUT] = SILENT,
    [LB_SCENARIO_WIRE_ONE_WAY] = SILENT,
    [LB_SCENARIO_LOST_REPLY] = SAFE("what is in doubt is waited for until its session has ended"),
};
