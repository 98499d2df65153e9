/* backend: the parts of the backend that do not need its client library. */
#ifndef DRIVERS_REDIS_BACKEND_H
#define DRIVERS_REDIS_BACKEND_H

#include "drivers/driver.h"

extern const struct lb_backend backend_redis;
/* Weak: NULL where the library is missing. */
extern const struct lb_connector redis_connector __attribute__((weak));

/* The verdicts that are expected of the locks in each scenario, LB_SCENARIOS entries each; see expected.c. */
extern const struct lb_expectation redis_expected[], redis_fair_expected[],
    redis_semaphore_expected[], redis_permit_expected[], redis_latch_expected[],
    redis_multi_expected[], redis_redlock_expected[], redis_wait_expected[], redis_incr_expected[];
/* The same for the controls; see unsafe_expected.c. */
extern const struct lb_expectation unsafe_setnx_expire_expected[], unsafe_setnx_forever_expected[],
    unsafe_del_expected[], unsafe_getset_expected[], unsafe_getset_repaired_expected[],
    unsafe_reentrant_expected[], unsafe_renew_late_expected[], unsafe_ttl_short_expected[],
    unsafe_unlock_old_expected[], unsafe_redlock_expected[], unsafe_get_set_expected[];

#endif
