/* registry: see registry.h. The list itself is list.h.
 *
 * Locks are declared weak: where a backend's client library is missing, the files of its locks are
 * left out of the build, and each is replaced here by an entry that has only a name. */
#include "drivers/registry.h"

#include <pthread.h>
#include <string.h>

#define NAME_MAX_BYTES 64

#define LB_LOCK(backend, name)                                                                     \
    extern const struct lb_backend backend_##backend;                                              \
    extern const struct lb_lock lock_##name __attribute__((weak));
#include "drivers/list.h"
#undef LB_LOCK

static const struct entry {
    const struct lb_lock *lock; /* NULL where it was left out */
    const struct lb_backend *backend;
    const char *symbol; /* the lock's name, with _ for - */
} entries[] = {
#define LB_LOCK(backend, name) {&lock_##name, &backend_##backend, #name},
#include "drivers/list.h"
#undef LB_LOCK
};

#define LOCKS (sizeof entries / sizeof *entries)

static const struct lb_lock *locks[LOCKS + 1];
static const struct lb_backend *backends[LOCKS + 1];
static struct lb_lock left_out[LOCKS];
static char names[LOCKS][NAME_MAX_BYTES];

/* What is known of a lock that this build lacks. */
static const struct lb_lock *name_only(size_t i) {
    static const struct lb_algorithm none = {0};
    size_t len = strlen(entries[i].symbol);
    if (len >= NAME_MAX_BYTES) len = NAME_MAX_BYTES - 1;
    for (size_t at = 0; at < len; at++)
        names[i][at] = entries[i].symbol[at] == '_' ? '-' : entries[i].symbol[at];
    left_out[i] = (struct lb_lock){
        .name = names[i],
        .summary = entries[i].backend->missing,
        .backend = entries[i].backend,
        .primitive = LB_NO_PRIMITIVE,
        .waits = "",
        .about = {.compatible = "", .order = "", .hazards = "", .guarantee = LB_NO_GUARANTEE},
        .algorithm = &none,
    };
    return &left_out[i];
}

static void fill(void) {
    size_t count = 0;
    for (size_t i = 0; i < LOCKS; i++) {
        locks[i] = entries[i].lock ? entries[i].lock : name_only(i);
        size_t j = 0;
        while (j < count && backends[j] != entries[i].backend) j++;
        if (j == count) backends[count++] = entries[i].backend;
    }
}

static void fill_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill);
}

const struct lb_lock *const *registry_locks(void) {
    fill_once();
    return locks;
}

const struct lb_backend *const *registry_backends(void) {
    fill_once();
    return backends;
}

const struct lb_lock *registry_lock(const char *name) {
    fill_once();
    for (size_t i = 0; i < LOCKS; i++) {
        if (strcmp(locks[i]->name, name) == 0) return locks[i];
    }
    return NULL;
}

const struct lb_backend *registry_backend(const char *name) {
    fill_once();
    for (size_t i = 0; backends[i]; i++) {
        if (strcmp(backends[i]->name, name) == 0) return backends[i];
    }
    return NULL;
}

const struct lb_backend *registry_backend_of_url(const char *url) {
    const char *end = strstr(url, "://");
    for (const struct lb_backend *const *each = registry_backends(); end && *each; each++) {
        const char *const *scheme = (*each)->program_speaks ? NULL : (*each)->schemes;
        for (; scheme && *scheme; scheme++) {
            if (strlen(*scheme) == (size_t)(end - url) &&
                strncmp(url, *scheme, strlen(*scheme)) == 0)
                return *each;
        }
    }
    return NULL;
}

const struct lb_backend *registry_left_out(void) {
    fill_once();
    for (size_t i = 0; backends[i]; i++) {
        if (lb_unavailable(backends[i])) return backends[i];
    }
    return NULL;
}

#define TABLE "is not whole: its table "
#define BACKEND "is not whole: its backend's table "

int registry_check(struct lb_err *err) {
    for (size_t i = 0; i < LOCKS; i++)
        if (!entries[i].lock && !lb_unavailable(entries[i].backend))
            return err_set(err, LB_EXIT_USAGE,
                           "drivers/list.h names %s, but no file defines lock_%s: is it misspelt?",
                           entries[i].symbol, entries[i].symbol);
    return 0;
}

const char *registry_fault(const struct lb_lock *lock) {
    if (!lock->algorithm) return TABLE "has no .algorithm";
    if (!lock->backend) return TABLE "has no .backend";
    if (lb_unavailable(lock->backend)) return NULL;
    const struct lb_algorithm *algorithm = lock->algorithm;
    const struct lb_connector *connector = lock->backend->connector;
    const struct {
        bool bad;
        const char *what;
    } rules[] = {
        {!lock->summary, TABLE "has no .summary"},
        {!lock->waits, TABLE "has no .waits"},
        {!algorithm->acquire, TABLE "has no .acquire"},
        {!algorithm->release, TABLE "has no .release"},
        {(lock->caps & LB_CAP_RENEW) && !algorithm->renew, TABLE "has LB_CAP_RENEW, but no .renew"},
        {!(lock->caps & LB_CAP_RENEW) && algorithm->renew, TABLE "has .renew, but no LB_CAP_RENEW"},
        {(lock->caps & LB_CAP_RENEW) && !(lock->caps & LB_CAP_LEASE),
         TABLE "has LB_CAP_RENEW, but no LB_CAP_LEASE"},
        {algorithm->options && !algorithm->options_bytes,
         TABLE "has .options, but no .options_bytes"},
        {!algorithm->options && algorithm->options_bytes,
         TABLE "has .options_bytes, but no .options"},
        {!algorithm->disarm && algorithm->arm, TABLE "has .arm, but no .disarm"},
        {connector->options && !connector->options_bytes,
         BACKEND "has .options, but no .options_bytes"},
        {!connector->options && connector->options_bytes,
         BACKEND "has .options_bytes, but no .options"},
        {!connector->describe, BACKEND "has no .describe"},
        {lock->backend->topologies && !connector->ping, BACKEND "has no .ping"},
        {connector->connect && !connector->disconnect, BACKEND "has .connect, but no .disconnect"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].bad) return rules[i].what;
    }
    return NULL;
}
