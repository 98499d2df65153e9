/* store: the guarded value beside a Redis lock; see drivers/store.h. */
#ifndef DRIVERS_REDIS_STORE_H
#define DRIVERS_REDIS_STORE_H

#include "drivers/redis/redis.h"
#include "drivers/store.h"

extern const struct lb_store redis_store;

#endif
