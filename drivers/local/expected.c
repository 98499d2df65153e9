/* expected: the verdicts that are expected of this machine's own locks when their clients stand
 * still or die. See drivers/expect.h. These locks have no server and no wires. */
#include "drivers/expect.h"
#include "drivers/local/file.h"
#include "drivers/local/local.h"

#define MEMORY_ALIVE                                                                               \
    [LB_SCENARIO_NONE] = SAFE("one atomic operation takes the lock"),                              \
    [LB_SCENARIO_PAUSE] = SAFE("a stopped process keeps the lock; others wait")

const struct lb_expectation memory_expected[LB_SCENARIOS] = {
    MEMORY_ALIVE,
    [LB_SCENARIO_HOLDER_KILL] =
        STUCK("the lock does not record its holder, so no other process can free it"),
    [LB_SCENARIO_WAITER_KILL] =
        SAFE("a waiter without a grant owns nothing; the others look every 100 ms"),
};

const struct lb_expectation memory_robust_expected[LB_SCENARIOS] = {
    MEMORY_ALIVE,
    [LB_SCENARIO_HOLDER_KILL] = SAFE("the kernel frees what a dead thread held"),
    [LB_SCENARIO_WAITER_KILL] = SAFE("a waiter without a grant owns nothing"),
};

const struct lb_expectation memory_queue_expected[LB_SCENARIOS] = {
    MEMORY_ALIVE,
    [LB_SCENARIO_HOLDER_KILL] = STUCK("nobody hands over the lock of a dead holder"),
    [LB_SCENARIO_WAITER_KILL] =
        STUCK("the lock is handed over to a dead waiter, which hands it over to nobody"),
};

const struct lb_expectation memory_rwlock_expected[LB_SCENARIOS] = {
    MEMORY_ALIVE,
    [LB_SCENARIO_HOLDER_KILL] =
        STUCK("the lock does not record its holder, so no other process can free it"),
    [LB_SCENARIO_WAITER_KILL] =
        STUCK("a waiting writer marks the lock, and a dead writer's mark stays"),
};

const struct lb_expectation file_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("the kernel admits one holder at a time"),
    [LB_SCENARIO_PAUSE] =
        SAFE("a stopped process keeps its open file, and so the lock; others wait"),
    [LB_SCENARIO_HOLDER_KILL] =
        SAFE("the kernel closes a dead process's files, and so frees the lock"),
    [LB_SCENARIO_WAITER_KILL] = SAFE("the kernel removes its place in the queue"),
};

const struct lb_expectation file_lockfile_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("a file name can be created only once"),
    [LB_SCENARIO_PAUSE] = SAFE("a stopped process is alive, so its file is not stale; others wait"),
    [LB_SCENARIO_HOLDER_KILL] = SAFE("a waiter sees that the owner is dead, and removes the file"),
    [LB_SCENARIO_WAITER_KILL] = SAFE("a waiter has only a file of its own"),
};

const struct lb_expectation sim_expected[LB_SCENARIOS] = {EXPECT_LEASE_CLIENTS};

const struct lb_expectation unsafe_none_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = VIOLATED("it does not lock at all"),
    [LB_SCENARIO_PAUSE] = VIOLATED("it does not lock at all"),
    [LB_SCENARIO_HOLDER_KILL] = VIOLATED("it does not lock at all"),
};
