/* backend: the parts of the backend that do not need its client library. */
#ifndef DRIVERS_REDIS_BACKEND_H
#define DRIVERS_REDIS_BACKEND_H

#include "drivers/driver.h"

extern const struct lb_backend backend_redis;
/* Weak: NULL where the library is missing. */
extern const struct lb_connector redis_connector __attribute__((weak));

#endif
