/* keys: pure functions on the keys that etcd's Go client (concurrency.Mutex) makes. */
#ifndef DRIVERS_ETCD_KEYS_H
#define DRIVERS_ETCD_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "drivers/driver.h"

#define ETCD_ROOT_MAX 16 /* the most bytes before and after a name */
#define ETCD_KEY_MAX (LB_KEY_MAX + ETCD_ROOT_MAX + 1 + 16) /* name, slash, lease in hex */

/* Writes "name/" into out (ETCD_KEY_MAX bytes, not a string). Returns its length. */
size_t etcd_prefix(const char *name, size_t len, char *out);

/* Writes "name/<lease in hex>" into out (ETCD_KEY_MAX bytes, not a string). Returns its length. */
size_t etcd_lock_key(const char *name, size_t len, int64_t lease, char *out);

/* Writes the first key after all keys that begin with prefix into out (len bytes, at least 1). Returns its
 * length. A prefix of bytes 0xff only has no such key: then out is a zero byte, which means "to the end". */
size_t etcd_prefix_end(const char *prefix, size_t len, char *out);

#endif
