/* unsafe_expected: what the controls on Redis do when nothing happens and under the faults of the
 * short tour. Their mistakes must show in the workloads that expose them (.about); some show here
 * too. See drivers/expect.h. */
#include "drivers/expect.h"
#include "drivers/redis/backend.h"

#define FORGETS                                                                                    \
    [LB_SCENARIO_SERVER_RESTART] = VIOLATED("the key is in memory only, unless durability is sync")
#define LEASE_FREES [LB_SCENARIO_HOLDER_KILL] = SAFE("a dead holder's lease ends by itself")

const struct lb_expectation unsafe_setnx_expire_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("nobody dies between SETNX and EXPIRE"),
    [LB_SCENARIO_PAUSE] = EXPIRED("the lease ends, and nobody tells a stopped process"),
    [LB_SCENARIO_HOLDER_KILL] = STUCK("who dies between SETNX and EXPIRE leaves a key for ever"),
    [LB_SCENARIO_WIRE_CUT] = EXPIRED("no renewal arrives; the lease ends, and its holder goes on"),
    FORGETS,
};

/* DEL without owner check, at once or after a GET. */
const struct lb_expectation unsafe_del_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("nobody comes late"),
    [LB_SCENARIO_PAUSE] =
        VIOLATED("who comes late deletes the next one's lock, and a third comes in"),
    [LB_SCENARIO_WIRE_CUT] =
        VIOLATED("who comes late deletes the next one's lock, and a third comes in"),
    LEASE_FREES,
    FORGETS,
};

/* As printed. */
const struct lb_expectation unsafe_getset_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = VIOLATED("it grants to everybody who asks"),
    [LB_SCENARIO_PAUSE] = VIOLATED("it grants to everybody who asks"),
    [LB_SCENARIO_HOLDER_KILL] = VIOLATED("it grants to everybody who asks"),
    [LB_SCENARIO_WIRE_CUT] = VIOLATED("it grants to everybody who asks"),
    FORGETS,
};

const struct lb_expectation unsafe_getset_repaired_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("nobody comes late"),
    [LB_SCENARIO_PAUSE] = VIOLATED("the value has no owner: who comes late deletes the next one's"),
    [LB_SCENARIO_WIRE_CUT] =
        VIOLATED("the value has no owner: who comes late deletes the next one's"),
    LEASE_FREES,
    FORGETS,
};

const struct lb_expectation unsafe_reentrant_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("nobody takes it twice"),
    [LB_SCENARIO_PAUSE] = EXPIRED("the lease ends, and nobody tells a stopped process"),
    [LB_SCENARIO_WIRE_CUT] = EXPIRED("no renewal arrives; the lease ends, and its holder goes on"),
    LEASE_FREES,
    FORGETS,
};

const struct lb_expectation unsafe_renew_late_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("leases last without renewals"),
    [LB_SCENARIO_PAUSE] =
        VIOLATED("it extends what has ended, or another's, and believes that it holds"),
    [LB_SCENARIO_WIRE_CUT] =
        VIOLATED("it extends what has ended, or another's, and believes that it holds"),
    LEASE_FREES,
    FORGETS,
};

const struct lb_expectation unsafe_ttl_short_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("the lease is longer than the work"),
    [LB_SCENARIO_PAUSE] = EXPIRED("the lease ends, and nobody tells a stopped process"),
    [LB_SCENARIO_WIRE_CUT] = EXPIRED("the lease ends, and its holder goes on"),
    LEASE_FREES,
    FORGETS,
};

const struct lb_expectation unsafe_redlock_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("the lease is far longer than the work and the asking"),
    [LB_SCENARIO_PAUSE] = VIOLATED("the time that asking took is missing at the end of the lease"),
    [LB_SCENARIO_WIRE_CUT] =
        VIOLATED("the time that asking took is missing at the end of the lease"),
    [LB_SCENARIO_SERVER_RESTART] =
        VIOLATED("a server that forgot grants again: two more, and two hold it"),
    LEASE_FREES,
};
