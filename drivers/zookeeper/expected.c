/* expected: what ZooKeeper's locks do under each fault. See drivers/expect.h. */
#include "drivers/expect.h"
#include "drivers/zookeeper/session.h"

const struct lb_expectation zk_expected[LB_FAULTS] = {
    EXPECT_SESSION,
    [LB_FAULT_LOST_REPLY] = SAFE("who lost an answer looks for its own node, and deletes it"),
};

const struct lb_expectation zk_ignores_loss_expected[LB_FAULTS] = {
    [LB_FAULT_NONE] = SAFE("no session ends"),
    [LB_FAULT_PAUSE] =
        VIOLATED("who does not listen for its session's end works on beside the next one"),
    [LB_FAULT_HOLDER_KILL] = SAFE("a dead holder's session ends by itself"),
    [LB_FAULT_SERVER_RESTART] =
        SAFE("keys and sessions are on disk; sessions get their full time again"),
    [LB_FAULT_WIRE_CUT] =
        VIOLATED("who does not listen for its session's end works on beside the next one"),
};
