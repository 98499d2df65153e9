/* key_names: the names that a key has on the server, so that users find it there with other clients and
 * tools: the path of a znode, the number of an advisory lock, the keys of a Redisson lock.
 *
 * Each driver reports the names (lb_algorithm.names), by the same functions that make them for an acquire. */
#ifndef DRIVERS_KEY_NAMES_H
#define DRIVERS_KEY_NAMES_H

#include "drivers/driver.h"

#define LB_NAMES_MAX 8
#define LB_NAME_TEXT_MAX (4 * LB_KEY_MAX + 512)

/* A zeroed struct has no names. */
struct lb_names {
    int count;
    struct lb_name {
        const char *what;            /* "key (a hash)"; static */
        char text[LB_NAME_TEXT_MAX]; /* the name; what a client adds by itself is in <> */
    } item[LB_NAMES_MAX];
};

/* Adds a name; leaves it out if there are already LB_NAMES_MAX names. */
void lb_names_add(struct lb_names *names, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Asks the lock for the names of a key. options: the lock's options. lease_ns: the lease of a grant,
 * because some names contain it. Sends nothing to a server. Returns false if no other program can
 * reach the lock, because it is in the memory or in a private folder of one run. */
bool lb_names_of(const struct lb_lock *lock, const void *options, int64_t lease_ns, const char *key,
                 struct lb_names *ret_names);

#endif
