/* registry: see registry.h. The list itself is list.h. */
#include "drivers/registry.h"

#include <string.h>

#define LB_LOCK(name) extern const struct lb_lock name;
#include "drivers/list.h"
#undef LB_LOCK

#define LB_LOCK(name) &name,
static const struct lb_lock *const locks[] = {
#include "drivers/list.h"
    NULL};
#undef LB_LOCK

const struct lb_lock *const *registry_locks(void) {
    return locks;
}

const struct lb_backend *const *registry_backends(void) {
    static const struct lb_backend *backends[sizeof locks / sizeof *locks];
    int count = 0;
    /* Filled anew with the same values at each call: harmless if two threads do it at once. */
    for (int i = 0; locks[i]; i++) {
        int j = 0;
        while (j < count && backends[j] != locks[i]->backend) j++;
        if (j == count) backends[count++] = locks[i]->backend;
    }
    return backends;
}

const struct lb_lock *registry_lock(const char *name) {
    for (int i = 0; locks[i]; i++) {
        if (strcmp(locks[i]->name, name) == 0) return locks[i];
    }
    return NULL;
}

const struct lb_backend *registry_backend(const char *name) {
    for (int i = 0; locks[i]; i++) {
        if (strcmp(locks[i]->backend->name, name) == 0) return locks[i]->backend;
    }
    return NULL;
}
