/* backend: the parts of the backend that do not need its client library. */
#ifndef DRIVERS_POSTGRES_BACKEND_H
#define DRIVERS_POSTGRES_BACKEND_H

#include "drivers/driver.h"
#include "drivers/sql_lock.h"

extern const struct lb_backend backend_postgres;
/* Weak: NULL where the library is missing. */
extern const struct lb_connector postgres_connector __attribute__((weak));

/* The verdicts that are expected of the locks in each scenario, LB_SCENARIOS entries each; see
 * pg_expected.c. Several locks may use the same table. */
extern const struct lb_expectation pg_advisory_expected[], pg_advisory_xact_expected[],
    pg_row_expected[], pg_lease_expected[], pg_flag_expected[], pg_optimistic_expected[],
    pg_update_expected[], pg_sequence_expected[], pg_unsafe_owner_expected[],
    pg_unsafe_aba_expected[], pg_unsafe_version_expected[];

#endif
