/* expected: the verdicts that are expected of ZooKeeper's locks under each fault. See
 * drivers/expect.h. */
#include "drivers/expect.h"
#include "drivers/zookeeper/backend.h"

const struct lb_expectation zk_expected[LB_SCENARIOS] = {
    EXPECT_SESSION,
    [LB_SCENARIO_STARVED] = EXPIRED(
        "one thread pings and hears of the end: while it has no turn, the holder continues"),
    [LB_SCENARIO_LOST_REPLY] =
        SAFE("a client that lost an answer looks for its own node, and deletes it"),
};

const struct lb_expectation zk_ignores_loss_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("no session ends"),
    [LB_SCENARIO_PAUSE] =
        VIOLATED("a client that ignores the end of its session continues beside the next holder"),
    [LB_SCENARIO_HOLDER_KILL] = SAFE("a dead holder's session ends by itself"),
    [LB_SCENARIO_STARVED] =
        VIOLATED("a client that ignores the end of its session continues beside the next holder"),
    [LB_SCENARIO_SERVER_RESTART] =
        SAFE("keys and sessions are on disk; sessions restart with their full time"),
    [LB_SCENARIO_WIRE_CUT] =
        VIOLATED("a client that ignores the end of its session continues beside the next holder"),
};
