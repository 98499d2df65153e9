/* backend: the parts of the backend that do not need its client library. */
#ifndef DRIVERS_MARIADB_BACKEND_H
#define DRIVERS_MARIADB_BACKEND_H

#include "drivers/driver.h"
#include "drivers/sql_lock.h"

extern const struct lb_backend backend_mariadb;
/* Weak: NULL where the library is missing. */
extern const struct lb_connector mariadb_connector __attribute__((weak));

#endif
