/* backend: the two backends of this folder: any program as a client of any server, and the child that grants at
 * once. */
#ifndef DRIVERS_EXEC_BACKEND_H
#define DRIVERS_EXEC_BACKEND_H

#include "drivers/driver.h"

extern const struct lb_backend backend_exec, backend_exec_null;

/* The worst verdicts that are expected of a client program, LB_SCENARIOS entries each: if its grants live
 * by a lease, and if they live by a session. */
extern const struct lb_expectation exec_expected[], exec_session_expected[];

#endif
