/* backend: the parts of the backend that do not need its client library. */
#ifndef DRIVERS_MARIADB_BACKEND_H
#define DRIVERS_MARIADB_BACKEND_H

#include "drivers/driver.h"
#include "drivers/sql_lock.h"

extern const struct lb_backend backend_mariadb;
/* Weak: NULL where the library is missing. */
extern const struct lb_connector mariadb_connector __attribute__((weak));

/* The verdicts that are expected of the locks in each scenario, LB_SCENARIOS entries each; see maria_expected.c. */
extern const struct lb_expectation maria_getlock_expected[], maria_row_expected[],
    maria_lease_expected[], maria_flag_expected[], maria_optimistic_expected[],
    maria_update_expected[];

#endif
