/* conform_place: see conform_place.h. */
#include "bench/conform/conform_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/option/option.h"
#include "bench/servers/topo.h"

#define OWN_SETS_MAX 2 /* entries of one lock in settings */

static volatile sig_atomic_t no_interrupts;

/* The names of one and the same option in different backends. */
const char *const conform_impatient[] = {"command_timeout=500ms", "answer_timeout=500ms", NULL};

static void *options_of(const struct lb_option *table, size_t bytes, const char *const *sets,
                        struct arena *arena, struct lb_err *err) {
    void *options = options_new(table, bytes, arena, err);
    for (int i = 0; options && sets[i]; i++) {
        const char *equals = strchr(sets[i], '=');
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(equals - sets[i]), sets[i]);
        const struct lb_option *option = options_find(table, name);
        if (option && option_read(option, options, equals + 1, arena, err) != 0) return NULL;
    }
    return options;
}

/* Options that make checks shorter or longer; the protocol stays the same. */
static const struct setting {
    const char *lock, *set, *reason;
} settings[] = {
    {"redis-redlock", "node_timeout=1s", "a busy machine's servers are slow, not down"},
    {"unsafe-redlock-no-validity", "node_timeout=1s", "the same"},
    {"redis-fair", "queue_timeout=2s",
     "a killed waiter's place in the queue is kept so long: 5 min by default"},
};

int conform_lock(const struct lb_lock *lock, const char *const *sets, struct arena *arena,
                 struct plan_lock *ret_lock, struct lb_err *err) {
    const struct lb_algorithm *algorithm = lock->algorithm;
    const struct lb_connector *connector = lock->backend->connector;
    const char *all[OWN_SETS_MAX + CONFORM_SETS_MAX + 1] = {NULL};
    int count = 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (strcmp(settings[i].lock, lock->name) == 0) all[count++] = settings[i].set;
    }
    while (sets && *sets && count < OWN_SETS_MAX + CONFORM_SETS_MAX) all[count++] = *sets++;
    struct plan_lock made = {.lock = lock};
    made.options = options_of(algorithm->options, algorithm->options_bytes, all, arena, err);
    made.backend_options =
        options_of(connector->options, connector->options_bytes, all, arena, err);
    if (!made.options || !made.backend_options) return -1;
    *ret_lock = made;
    return 0;
}

static const char *topologies(void) {
    static char folder[512];
    struct lb_err err = {0};
    return home_path("compose/local", folder, sizeof folder, &err) == 0 ? folder : "";
}

const char *conform_lacks(const struct lb_lock *lock, const char *topology, char *text,
                          size_t size) {
    const struct lb_backend *backend = lock->backend;
    struct topo_info info;
    struct lb_err err = {0};
    if (lb_unavailable(backend)) {
        snprintf(text, size, "%s: %s: install %s", backend->name, lb_unavailable(backend),
                 backend->install);
        return text;
    }
    if (!topology && lb_topologies(lock)) topology = lb_topologies(lock)[0];
    if (!topology) return NULL;
    if (topo_info(topologies(), topology, &info, &err) != 0) {
        snprintf(text, size, "%s: %s", backend->name, err.text);
        return text;
    }
    if (!*info.missing) return NULL;
    snprintf(text, size, "%s: %s is missing: install %s", backend->name, info.missing,
             info.install);
    return text;
}

struct place *conform_open(const struct plan_lock *lock, const char *topology, struct lb_err *err) {
    struct place_ask ask = {.lock = lock,
                            .topology = topology,
                            .topologies = topologies(),
                            .durability = "default",
                            .interrupts = &no_interrupts};
    struct place *place = place_open(&ask, err);
    if (place) topo_login(place->topo);
    return place;
}

struct place *conform_open_url(const struct plan_lock *lock, const char *url, bool wired,
                               struct lb_err *err) {
    struct place_ask ask = {.lock = lock, .url = url, .wired = wired, .interrupts = &no_interrupts};
    return place_open(&ask, err);
}
