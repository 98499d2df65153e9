/* registry: the tables of all locks and backends, in the order of list.h. Read-only, any thread. */
#ifndef DRIVERS_REGISTRY_H
#define DRIVERS_REGISTRY_H

#include "drivers/driver.h"

/* All locks; ends with NULL. */
const struct lb_lock *const *registry_locks(void);
/* All backends that a lock names, each once, in the locks' order; ends with NULL. */
const struct lb_backend *const *registry_backends(void);
/* Find a lock or backend by name; NULL if there is none. */
const struct lb_lock *registry_lock(const char *name);
const struct lb_backend *registry_backend(const char *name);
/* The backend that itself speaks to the server of a URL, by the URL's scheme; NULL if there is none. */
const struct lb_backend *registry_backend_of_url(const char *url);

/* 0, or -1 with err for a name of list.h that no file defines although its backend is here: it is misspelt. */
int registry_check(struct lb_err *err);

/* Checks the tables of a lock and of its backend. Returns the reason why the lock must not be called: a function is
 * missing, or two fields contradict each other. NULL if the tables are right, or if the backend is unavailable. The
 * lock need not be in the list. */
const char *registry_fault(const struct lb_lock *lock);

/* The first backend that this build lacks, whose locks are unavailable; NULL if the build has
 * all. */
const struct lb_backend *registry_left_out(void);

#endif
