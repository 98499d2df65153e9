/* unsafe_expected: the verdicts that are expected of the controls on Redis, without faults and under the faults
 * of the short tour. Each mistake must show in the workload that exposes it (.about); some mistakes also
 * show here. See drivers/expect.h. */
#include "drivers/expect.h"
#include "drivers/redis/backend.h"

#define FORGETS                                                                                    \
    [LB_SCENARIO_SERVER_RESTART] = VIOLATED("the key is in memory only, unless durability is sync")
#define LEASE_FREES [LB_SCENARIO_HOLDER_KILL] = SAFE("a dead holder's lease ends by itself")

const struct lb_expectation unsafe_setnx_expire_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("no client dies between SETNX and EXPIRE"),
    [LB_SCENARIO_PAUSE] = EXPIRED("the lease ends, and a stopped process does not notice"),
    [LB_SCENARIO_HOLDER_KILL] =
        STUCK("a client that dies between SETNX and EXPIRE leaves a key for ever"),
    [LB_SCENARIO_WIRE_CUT] =
        EXPIRED("no renewal arrives; the lease ends, and its holder continues"),
    FORGETS,
};

const struct lb_expectation unsafe_setnx_forever_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("one atomic request grants it, and nothing ends by time"),
    [LB_SCENARIO_PAUSE] = SAFE("nothing ends by time; others wait"),
    [LB_SCENARIO_HOLDER_KILL] = STUCK("a dead holder's key has no expiry"),
    [LB_SCENARIO_WIRE_CUT] = SAFE("nothing ends by time; others wait"),
    FORGETS,
};

/* A DEL that does not check the owner, or checks it by a GET before; or an owner's name that several clients have. */
const struct lb_expectation unsafe_del_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("no client releases late"),
    [LB_SCENARIO_PAUSE] =
        VIOLATED("a late holder deletes the next holder's lock, and a third client enters"),
    [LB_SCENARIO_WIRE_CUT] =
        VIOLATED("a late holder deletes the next holder's lock, and a third client enters"),
    LEASE_FREES,
    FORGETS,
};

/* The code as articles print it. */
const struct lb_expectation unsafe_getset_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = VIOLATED("it grants to every client that asks"),
    [LB_SCENARIO_PAUSE] = VIOLATED("it grants to every client that asks"),
    [LB_SCENARIO_HOLDER_KILL] = VIOLATED("it grants to every client that asks"),
    [LB_SCENARIO_CLIENT_CLOCK] = VIOLATED("it grants to every client that asks"),
    [LB_SCENARIO_WIRE_CUT] = VIOLATED("it grants to every client that asks"),
    FORGETS,
};

const struct lb_expectation unsafe_getset_repaired_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_CLIENT_CLOCK] =
        VIOLATED("to a client whose clock is ahead every lease has ended, and it takes over"),
    [LB_SCENARIO_NONE] = SAFE("no client releases late"),
    [LB_SCENARIO_PAUSE] =
        VIOLATED("the value has no owner: a late holder deletes the next holder's lock"),
    [LB_SCENARIO_WIRE_CUT] =
        VIOLATED("the value has no owner: a late holder deletes the next holder's lock"),
    LEASE_FREES,
    FORGETS,
};

const struct lb_expectation unsafe_reentrant_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("no client takes it twice"),
    [LB_SCENARIO_PAUSE] = EXPIRED("the lease ends, and a stopped process does not notice"),
    [LB_SCENARIO_WIRE_CUT] =
        EXPIRED("no renewal arrives; the lease ends, and its holder continues"),
    LEASE_FREES,
    FORGETS,
};

const struct lb_expectation unsafe_renew_late_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("leases last without renewals"),
    [LB_SCENARIO_PAUSE] =
        VIOLATED("it extends an ended lease, or another client's, and believes that it holds"),
    [LB_SCENARIO_WIRE_CUT] =
        VIOLATED("it extends an ended lease, or another client's, and believes that it holds"),
    LEASE_FREES,
    FORGETS,
};

const struct lb_expectation unsafe_ttl_short_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("the lease is longer than the work"),
    [LB_SCENARIO_PAUSE] = EXPIRED("the lease ends, and a stopped process does not notice"),
    [LB_SCENARIO_WIRE_CUT] = EXPIRED("the lease ends, and its holder continues"),
    LEASE_FREES,
    FORGETS,
};

const struct lb_expectation unsafe_unlock_old_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("leases last while nothing fails"),
    [LB_SCENARIO_PAUSE] = VIOLATED("a late holder is told that it held all the time"),
    [LB_SCENARIO_WIRE_CUT] = VIOLATED("a late holder is told that it held all the time"),
    LEASE_FREES,
    FORGETS,
};

const struct lb_expectation unsafe_redlock_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("the lease is far longer than the work and the requests"),
    [LB_SCENARIO_PAUSE] = VIOLATED("the time for the requests is missing at the end of the lease"),
    [LB_SCENARIO_WIRE_CUT] =
        VIOLATED("the time for the requests is missing at the end of the lease"),
    [LB_SCENARIO_SERVER_RESTART] =
        VIOLATED("a server that lost the key grants it again: with two more, two clients hold it"),
    LEASE_FREES,
};

/* A client reads a number, and writes the number plus one. */
#define OVERWRITES VIOLATED("what others write between GET and SET is overwritten")
const struct lb_expectation unsafe_get_set_expected[LB_SCENARIOS] = {
    EXPECT_OF_CONTROL(OVERWRITES),
};
