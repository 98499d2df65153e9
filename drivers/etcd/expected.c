/* expected: what etcd's locks do under each fault. See drivers/expect.h. */
#include "drivers/etcd/backend.h"
#include "drivers/expect.h"

const struct lb_expectation etcd_expected[LB_SCENARIOS] = {
    EXPECT_SESSION,
    [LB_SCENARIO_LOST_REPLY] =
        SAFE("what is in doubt is settled: its lease is revoked, and the key goes with it"),
};
