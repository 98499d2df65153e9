/* expected: the verdicts that are expected of etcd's locks under each fault. See drivers/expect.h. */
#include "drivers/etcd/backend.h"
#include "drivers/expect.h"

const struct lb_expectation etcd_expected[LB_SCENARIOS] = {
    EXPECT_SESSION,
    [LB_SCENARIO_STARVED] =
        SAFE("the lease ends, and a holder gives up when it may have ended by its own clock"),
    [LB_SCENARIO_LOST_REPLY] =
        SAFE("after an unknown outcome its lease is revoked, which deletes the key"),
};
