/* pg_expected: what PostgreSQL's locks do under each fault where that is not what SQL databases'
 * locks do (drivers/sql_expected.c). See drivers/expect.h. */
#include "drivers/expect.h"
#include "drivers/postgres/backend.h"

#define POOLED_TRANSACTION                                                                         \
    [LB_SCENARIO_POOLED] = SAFE("the pooler leaves a transaction its session until it ends")

/* The synchronous standby is promoted; sessions live in the memory of the server that died. */
#define PRIMARY_LOST_SESSION                                                                       \
    [LB_SCENARIO_PRIMARY_LOST] =                                                                   \
        EXPIRED("no standby has its session, and a holder that makes no request does not notice")

/* pg-row, pg-nowait. Of 32 tokens the first one's place is not yet in the log on disk while it is
 * held. */
const struct lb_expectation pg_row_expected[LB_SCENARIOS] = {
    EXPECT_CONNECTION_CLIENTS,
    EXPECT_CONNECTION_WIRES,
    [LB_SCENARIO_SERVER_PAUSE] = SAFE("nothing ends by time"),
    [LB_SCENARIO_SERVER_RESTART] =
        VIOLATED("its session ends unnoticed; a crash may give out its token once more"),
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("its session ends, and tokens start at one again"),
    [LB_SCENARIO_TERMINATED] =
        EXPIRED("its session ends, and a holder that makes no request does not notice"),
    POOLED_TRANSACTION,
    [LB_SCENARIO_PRIMARY_LOST] =
        VIOLATED("its session ends unnoticed; the standby may give out its token once more"),
};

const struct lb_expectation pg_advisory_expected[LB_SCENARIOS] = {
    EXPECT_SQL_SESSION,
    [LB_SCENARIO_POOLED] = VIOLATED(
        "the lock stays with a session of the server, which the pooler gives to other clients"),
    PRIMARY_LOST_SESSION,
};

const struct lb_expectation pg_advisory_xact_expected[LB_SCENARIOS] = {
    EXPECT_SQL_SESSION,
    POOLED_TRANSACTION,
    PRIMARY_LOST_SESSION,
};

const struct lb_expectation pg_lease_expected[LB_SCENARIOS] = {
    EXPECT_SQL_LEASE,
    [LB_SCENARIO_POOLED] = SAFE("a row belongs to its owner's name, over any session"),
    [LB_SCENARIO_PRIMARY_LOST] = SAFE("the synchronous standby has the row before the answer"),
};

const struct lb_expectation pg_flag_expected[LB_SCENARIOS] = {
    EXPECT_SQL_FLAG,
    [LB_SCENARIO_POOLED] = SAFE("a row belongs to its owner's name, over any session"),
    [LB_SCENARIO_PRIMARY_LOST] = SAFE("the synchronous standby has the row before the answer"),
};

const struct lb_expectation pg_optimistic_expected[LB_SCENARIOS] = {
    EXPECT_SQL_OPTIMISTIC,
    [LB_SCENARIO_POOLED] = SAFE("each write is one statement"),
    [LB_SCENARIO_PRIMARY_LOST] = SAFE("the synchronous standby has the row before the answer"),
};

const struct lb_expectation pg_unsafe_owner_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = VIOLATED("two clients of one host count as one owner"),
    [LB_SCENARIO_PAUSE] = VIOLATED("two clients of one host count as one owner"),
    [LB_SCENARIO_HOLDER_KILL] = VIOLATED("two clients of one host count as one owner"),
    [LB_SCENARIO_SERVER_RESTART] = VIOLATED("two clients of one host count as one owner"),
    [LB_SCENARIO_WIRE_CUT] = VIOLATED("two clients of one host count as one owner"),
};

const struct lb_expectation pg_unsafe_version_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = VIOLATED("no write is ever refused"),
    [LB_SCENARIO_PAUSE] = VIOLATED("no write is ever refused"),
    [LB_SCENARIO_HOLDER_KILL] = VIOLATED("no write is ever refused"),
    [LB_SCENARIO_SERVER_RESTART] = VIOLATED("no write is ever refused"),
    [LB_SCENARIO_WIRE_CUT] = VIOLATED("no write is ever refused"),
};

#define COMES_BACK "a value that was changed and changed back looks untouched"

const struct lb_expectation pg_unsafe_aba_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = VIOLATED(COMES_BACK),
    [LB_SCENARIO_PAUSE] = VIOLATED(COMES_BACK),
    [LB_SCENARIO_HOLDER_KILL] = VIOLATED(COMES_BACK),
    [LB_SCENARIO_SERVER_RESTART] = VIOLATED(COMES_BACK),
    [LB_SCENARIO_WIRE_CUT] = VIOLATED(COMES_BACK),
};
