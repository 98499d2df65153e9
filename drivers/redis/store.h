/* store: what a Redis lock guards, kept beside it; see drivers/store.h. */
#ifndef DRIVERS_REDIS_STORE_H
#define DRIVERS_REDIS_STORE_H

#include "drivers/redis/redis.h"
#include "drivers/store.h"

extern const struct lb_store redis_store;

#endif
