/* sqlite_expected: the verdicts that are expected of SQLite's locks when their clients stand still
 * or die. See drivers/expect.h. These locks have no server and no wires. */
#include "drivers/expect.h"
#include "drivers/sqlite/backend.h"

const struct lb_expectation sqlite_immediate_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("a database has one writer at a time"),
    [LB_SCENARIO_PAUSE] = SAFE("a stopped process keeps its file locks; others wait"),
    [LB_SCENARIO_HOLDER_KILL] =
        SAFE("the kernel frees a dead process's file locks, and its journal is rolled back"),
    [LB_SCENARIO_WAITER_KILL] = SAFE("a waiter owns nothing"),
};

const struct lb_expectation sqlite_table_expected[LB_SCENARIOS] = {EXPECT_LEASE_CLIENTS,
                                                                   EXPECT_LEASE_STARVED};

const struct lb_expectation sqlite_optimistic_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("a write is refused if the version has changed since it was read"),
    [LB_SCENARIO_PAUSE] = SAFE("a late write is refused by its version"),
    [LB_SCENARIO_HOLDER_KILL] = SAFE("nothing is held"),
};
