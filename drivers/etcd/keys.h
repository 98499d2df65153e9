/* keys: pure functions on the keys that etcd's Go client (concurrency.Mutex) makes. */
#ifndef DRIVERS_ETCD_KEYS_H
#define DRIVERS_ETCD_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "drivers/driver.h"

#define ETCD_ROOT_MAX 16 /* what may stand before and behind a name */
#define ETCD_KEY_MAX (LB_KEY_MAX + ETCD_ROOT_MAX + 1 + 16) /* name, slash, lease in hex */

/* "name/" into out (ETCD_KEY_MAX bytes, not a string); its length. */
size_t etcd_prefix(const char *name, size_t len, char *out);

/* "name/<lease in hex>" into out (ETCD_KEY_MAX bytes, not a string); its length. */
size_t etcd_lock_key(const char *name, size_t len, int64_t lease, char *out);

/* The first key after all that begin with prefix, into out (len bytes, at least 1); its length. A
 * prefix of 0xff only has none: then it is the single zero byte that means "to the end". */
size_t etcd_prefix_end(const char *prefix, size_t len, char *out);

#endif
