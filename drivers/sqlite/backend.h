/* backend: the parts of the backend that do not need its client library. */
#ifndef DRIVERS_SQLITE_BACKEND_H
#define DRIVERS_SQLITE_BACKEND_H

#include "drivers/driver.h"

extern const struct lb_backend backend_sqlite;
/* Weak: NULL where the library is missing. */
extern const struct lb_connector sqlite_connector __attribute__((weak));

#endif
