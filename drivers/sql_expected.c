/* sql_expected: what the SQL databases' locks do under each fault, by what a grant hangs on. See
 * expect.h. */
#include "drivers/expect.h"
#include "drivers/sql_lock.h"

const struct lb_expectation sql_session_expected[LB_SCENARIOS] = {
    EXPECT_SQL_SESSION,
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
    EXPECT_SQL_LEASE,
};

const struct lb_expectation sql_flag_expected[LB_SCENARIOS] = {
    EXPECT_SQL_FLAG,
};

const struct lb_expectation sql_optimistic_expected[LB_SCENARIOS] = {
    EXPECT_SQL_OPTIMISTIC,
};
