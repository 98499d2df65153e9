/* expected: what ZooKeeper's locks do under each fault. See drivers/expect.h. */
#include "drivers/expect.h"
#include "drivers/zookeeper/backend.h"

const struct lb_expectation zk_expected[LB_SCENARIOS] = {
    EXPECT_SESSION,
    [LB_SCENARIO_LOST_REPLY] = SAFE("who lost an answer looks for its own node, and deletes it"),
};

const struct lb_expectation zk_ignores_loss_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("no session ends"),
    [LB_SCENARIO_PAUSE] =
        VIOLATED("who does not listen for its session's end works on beside the next one"),
    [LB_SCENARIO_HOLDER_KILL] = SAFE("a dead holder's session ends by itself"),
    [LB_SCENARIO_SERVER_RESTART] =
        SAFE("keys and sessions are on disk; sessions get their full time again"),
    [LB_SCENARIO_WIRE_CUT] =
        VIOLATED("who does not listen for its session's end works on beside the next one"),
};
