/* local: the backends that need no server; their state is in a mapping that all workers share. */
#ifndef DRIVERS_LOCAL_LOCAL_H
#define DRIVERS_LOCAL_LOCAL_H

#include "drivers/driver.h"

/* Locks in the shared mapping. A further key shares the lock of another key, so it still
 * excludes. */
#define LOCAL_SLOTS 4096

extern const struct lb_backend backend_memory;

#endif
