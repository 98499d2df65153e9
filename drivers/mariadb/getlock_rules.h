/* getlock_rules: the limits of GET_LOCK that differ between MariaDB and MySQL; pure functions. */
#ifndef DRIVERS_MARIADB_GETLOCK_RULES_H
#define DRIVERS_MARIADB_GETLOCK_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a name can't be a lock's here, or NULL if it can. MariaDB takes 192 bytes, MySQL 64
 * characters. */
const char *getlock_name_problem(const char *name, size_t len, bool is_mariadb);

/* GET_LOCK's second argument for a wait that starts now: seconds, never negative (that is an error
 * on MariaDB and "for ever" on MySQL). LB_NEVER gives a year. MariaDB takes microseconds, rounded
 * down so that the answer is not late; MySQL takes whole seconds, rounded up so that a short wait
 * is a wait. 0 = ask once. */
double getlock_seconds(int64_t deadline_ns, int64_t now_ns, bool is_mariadb);

#endif
