/* backend: the two backends of this folder: any program as a client of any server, and the child that grants at
 * once. */
#ifndef DRIVERS_EXEC_BACKEND_H
#define DRIVERS_EXEC_BACKEND_H

#include "drivers/driver.h"

extern const struct lb_backend backend_exec, backend_exec_null;

#endif
