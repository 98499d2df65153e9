/* local: the backends that need no server; their state is in a mapping that all workers share. */
#ifndef DRIVERS_LOCAL_LOCAL_H
#define DRIVERS_LOCAL_LOCAL_H

#include "drivers/driver.h"

/* Locks in the shared mapping. A further key shares the lock of another key, so it still
 * excludes. */
#define LOCAL_SLOTS 4096

extern const struct lb_backend backend_memory;

/* The verdicts that are expected of locks under faults, LB_SCENARIOS each; see expected.c. */
extern const struct lb_expectation memory_expected[], memory_robust_expected[],
    memory_queue_expected[], memory_rwlock_expected[], sim_expected[], unsafe_none_expected[];

#endif
