/* sql_expected: what the SQL databases' locks do under each fault, by what a grant hangs on. See
 * expect.h. */
#include "drivers/expect.h"
#include "drivers/sql_lock.h"

const struct lb_expectation sql_session_expected[LB_SCENARIOS] = {
    EXPECT_CONNECTION_CLIENTS,
    EXPECT_CONNECTION_WIRES,
    [LB_SCENARIO_SERVER_PAUSE] = SAFE("nothing ends by time"),
    [LB_SCENARIO_SERVER_RESTART] =
        EXPIRED("its session ends, and a holder that makes no request does not notice"),
    [LB_SCENARIO_SERVER_EMPTY] =
        EXPIRED("its session ends, and a holder that makes no request does not notice"),
    [LB_SCENARIO_TERMINATED] =
        EXPIRED("its session ends, and a holder that makes no request does not notice"),
};

const struct lb_expectation sql_row_expected[LB_SCENARIOS] = {
    EXPECT_CONNECTION_CLIENTS,
    EXPECT_CONNECTION_WIRES,
    [LB_SCENARIO_SERVER_PAUSE] = SAFE("nothing ends by time"),
    [LB_SCENARIO_SERVER_RESTART] =
        EXPIRED("its session ends, and a holder that makes no request does not notice"),
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("its session ends, and tokens start at one again"),
    [LB_SCENARIO_TERMINATED] =
        EXPIRED("its session ends, and a holder that makes no request does not notice"),
};

const struct lb_expectation sql_lease_expected[LB_SCENARIOS] = {
    EXPECT_LEASE_CLIENTS,
    EXPECT_LEASE_STARVED,
    EXPECT_LEASE_WIRES,
    [LB_SCENARIO_SERVER_PAUSE] = EXPIRED("leases continue to run while nobody can renew them"),
    [LB_SCENARIO_SERVER_RESTART] =
        SAFE("the row is on disk before the answer, and has an end of its own"),
    [LB_SCENARIO_SERVER_EMPTY] =
        VIOLATED("the row is gone with the data, and its holder does not notice"),
    [LB_SCENARIO_TERMINATED] = SAFE("the row outlives its holder's connection"),
    [LB_SCENARIO_CLOCK_FORWARD] =
        VIOLATED("leases end by the server's wall clock: all of them end at once"),
    [LB_SCENARIO_CLOCK_BACK] = STUCK("a dead holder's lease lasts one minute longer"),
};

const struct lb_expectation sql_optimistic_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("a write is refused if the version has changed since it was read"),
    [LB_SCENARIO_PAUSE] = SAFE("a late write is refused by its version"),
    [LB_SCENARIO_HOLDER_KILL] = SAFE("nothing is held"),
    [LB_SCENARIO_SERVER_PAUSE] = SAFE("nothing is held"),
    [LB_SCENARIO_SERVER_RESTART] = SAFE("the row is on disk before the answer"),
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("the row is gone, and its versions start again"),
    [LB_SCENARIO_TERMINATED] = SAFE("nothing is held"),
    [LB_SCENARIO_WIRE_DELAY] = SAFE("nothing is held"),
    [LB_SCENARIO_WIRE_JITTER] = SAFE("nothing is held"),
    [LB_SCENARIO_WIRE_SLOW] = SAFE("nothing is held"),
    [LB_SCENARIO_WIRE_CUT] = SAFE("a late write is refused by its version"),
    [LB_SCENARIO_WIRE_ONE_WAY] =
        SAFE("a write with an unknown outcome happens once or never, as its version shows"),
    [LB_SCENARIO_WIRE_RESET] =
        SAFE("a write with an unknown outcome happens once or never, as its version shows"),
    [LB_SCENARIO_WIRE_MIDWAY] =
        SAFE("a write with an unknown outcome happens once or never, as its version shows"),
    [LB_SCENARIO_LOST_REPLY] =
        SAFE("a write with an unknown outcome happens once or never, as its version shows"),
};
