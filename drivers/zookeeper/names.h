/* names: pure functions on ZooKeeper paths and on the names that Curator gives its nodes.
 *
 * Curator's layout: below the lock's path, each contender has one node "_c_<uuid>-<kind><sequence>", kind
 * being "lock-" for a mutex, the sequence ten digits added by the server. They talk to nobody and allocate
 * nothing.
 */
#ifndef DRIVERS_ZOOKEEPER_NAMES_H
#define DRIVERS_ZOOKEEPER_NAMES_H

#include <stddef.h>

#include "bench/base/rng.h"
#include "drivers/driver.h"

#define ZK_UUID_CHARS 36
#define ZK_PREFIX_MAX 320                                      /* "/chroot/lockbench" */
#define ZK_PARENT_MAX (ZK_PREFIX_MAX + 1 + 3 * LB_KEY_MAX + 1) /* a key's path, each byte escaped */
#define ZK_NAME_MAX 128                                        /* a node's own name */
#define ZK_PATH_MAX (ZK_PARENT_MAX + 1 + ZK_NAME_MAX)

/* "prefix/key" into out, size bytes. Bytes of the key that a path cannot have, and '/' and '%', become %XX;
 * so does the first dot of the names "." and "..". 0, or -1 when the key is empty or the path does not fit.
 */
int zk_path_of(const char *prefix, const char *key, size_t key_len, char *out, size_t size);

/* A random (version 4) UUID in lower-case hex, as Java prints it. */
void zk_uuid(struct lb_rng *rng, char out[ZK_UUID_CHARS + 1]);

/* What Curator sorts by: the text after the last `kind` ("lock-") in name, or all of name if it has none. */
const char *zk_sequence(const char *name, const char *kind);

/* Where in names[count] the one stands that comes right before `own` when sorted by zk_sequence (a stable
 * sort, as Java's): ZK_FIRST if own is the first, ZK_ABSENT if own is not among them. O(count), sorts
 * nothing. */
enum { ZK_FIRST = -1, ZK_ABSENT = -2 };
int zk_predecessor(char *const *names, int count, const char *own, const char *kind);

/* Which of names[count] was made under the protection of uuid ("_c_<uuid>..."), or ZK_ABSENT. */
int zk_protected(char *const *names, int count, const char *uuid);

#endif
