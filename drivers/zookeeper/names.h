/* names: pure functions on ZooKeeper paths and on the names that real clients give their nodes.
 * They send nothing and allocate nothing.
 *
 * Below the lock's path each contender has one node, its name ending with a sequence that the
 * server adds: ten digits. Curator: "_c_<uuid>-lock-<sequence>" for a mutex, "-__READ__" and
 * "-__WRIT__" for a read-write lock, "-lease-" for a semaphore. ZooKeeper's C recipe: "x-<session,
 * 16 hex digits>-<sequence>". */
#ifndef DRIVERS_ZOOKEEPER_NAMES_H
#define DRIVERS_ZOOKEEPER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "bench/base/rng.h"
#include "drivers/driver.h"

#define ZK_ROOT "/lockbench" /* the locks' paths are below it, after the URL's own path */
#define ZK_UUID_CHARS 36
#define ZK_PREFIX_MAX 320                                      /* "/chroot/lockbench" */
#define ZK_PARENT_MAX (ZK_PREFIX_MAX + 1 + 3 * LB_KEY_MAX + 1) /* a key's path, each byte escaped */
#define ZK_NAME_MAX 128                                        /* a node's own name */
#define ZK_PATH_MAX (ZK_PARENT_MAX + 1 + ZK_NAME_MAX)

/* "prefix/key" into out, size bytes. Bytes of the key that a path cannot have, and '/' and '%',
 * become %XX; so does the first dot of the names "." and "..". 0, or -1 when the key is empty or
 * the path does not fit. */
int zk_path_of(const char *prefix, const char *key, size_t key_len, char *out, size_t size);

/* A random (version 4) UUID in lower-case hex, as Java prints it. */
void zk_uuid(struct lb_rng *rng, char out[ZK_UUID_CHARS + 1]);

/* The part of a name that a recipe sorts by. Curator's mutex: the text after the last "lock-",
 * or the whole name if it has none; its read-write lock: the same with "__READ__", then
 * "__WRIT__". The C recipe: the text after the last '-'. */
typedef const char *zk_order_fn(const char *name);
zk_order_fn zk_order_lock, zk_order_read_write, zk_order_recipe;

/* Finds the node that `own` waits for, as an index into names[count]: ZK_FIRST if `own` waits
 * for none, ZK_ABSENT if `own` is not in the list. A client waits for the node right before its
 * own in sort order (a stable sort, as Java's). Curator's reader waits for the first writer if
 * that writer comes before it, so all readers behind a writer wake together. O(count); it sorts
 * nothing. */
enum { ZK_FIRST = -1, ZK_ABSENT = -2 };
typedef int zk_ahead_fn(char *const *names, int count, const char *own);
zk_ahead_fn zk_ahead_lock, zk_ahead_write, zk_ahead_read, zk_ahead_recipe;

/* The index in names[count] of the node that was created under the protection of uuid
 * ("_c_<uuid>..."), or ZK_ABSENT. */
int zk_protected(char *const *names, int count, const char *uuid);

/* "x-<session>-", as the C recipe writes it. */
void zk_recipe_base(int64_t session, char out[ZK_NAME_MAX]);

#endif
