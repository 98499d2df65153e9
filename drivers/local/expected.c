/* expected: what this machine's own locks do when their clients stand still or die. See
 * drivers/expect.h. They have no server and no wires. */
#include "drivers/expect.h"
#include "drivers/local/file.h"
#include "drivers/local/local.h"

#define MEMORY_ALIVE                                                                               \
    [LB_SCENARIO_NONE] = SAFE("one atomic operation takes it"),                                    \
    [LB_SCENARIO_PAUSE] = SAFE("a stopped process keeps it; others wait")

const struct lb_expectation memory_expected[LB_SCENARIOS] = {
    MEMORY_ALIVE,
    [LB_SCENARIO_HOLDER_KILL] = STUCK("nothing in it tells who holds it, so nobody can free it"),
    [LB_SCENARIO_WAITER_KILL] =
        SAFE("a waiter that is not granted has nothing; the others look every 100 ms"),
};

const struct lb_expectation memory_robust_expected[LB_SCENARIOS] = {
    MEMORY_ALIVE,
    [LB_SCENARIO_HOLDER_KILL] = SAFE("the kernel frees what a dead thread held"),
    [LB_SCENARIO_WAITER_KILL] = SAFE("a waiter that is not granted has nothing"),
};

const struct lb_expectation memory_queue_expected[LB_SCENARIOS] = {
    MEMORY_ALIVE,
    [LB_SCENARIO_HOLDER_KILL] = STUCK("nobody passes on what a dead holder had"),
    [LB_SCENARIO_WAITER_KILL] =
        STUCK("it is passed on to a dead waiter, who passes it on to nobody"),
};

const struct lb_expectation memory_rwlock_expected[LB_SCENARIOS] = {
    MEMORY_ALIVE,
    [LB_SCENARIO_HOLDER_KILL] = STUCK("nothing in it tells who holds it, so nobody can free it"),
    [LB_SCENARIO_WAITER_KILL] =
        STUCK("a waiting writer leaves its mark on it, and a dead one's stays"),
};

const struct lb_expectation file_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("the kernel lets one in at a time"),
    [LB_SCENARIO_PAUSE] =
        SAFE("a stopped process keeps its open file, and so the lock; others wait"),
    [LB_SCENARIO_HOLDER_KILL] =
        SAFE("the kernel closes a dead process's files, and so frees the lock"),
    [LB_SCENARIO_WAITER_KILL] = SAFE("the kernel drops its place"),
};

const struct lb_expectation file_lockfile_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = SAFE("a name can be given once"),
    [LB_SCENARIO_PAUSE] = SAFE("a stopped process is alive, so its file is not stale; others wait"),
    [LB_SCENARIO_HOLDER_KILL] = SAFE("who waits sees that the owner is dead, and removes the file"),
    [LB_SCENARIO_WAITER_KILL] = SAFE("a waiter has a file of its own only"),
};

const struct lb_expectation sim_expected[LB_SCENARIOS] = {EXPECT_LEASE_CLIENTS};

const struct lb_expectation unsafe_none_expected[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = VIOLATED("it is no lock"),
    [LB_SCENARIO_PAUSE] = VIOLATED("it is no lock"),
    [LB_SCENARIO_HOLDER_KILL] = VIOLATED("it is no lock"),
};
