/* available: see available.h. */
#include "bench/cli/available.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/place/place.h"
#include "drivers/registry.h"

struct available_topology {
    const char *name;
    struct topo_info info;
    struct lb_err no_script; /* why the script could not be asked; code 0 = it was asked */
    char reason[300];        /* what is missing, as a phrase */
    struct lb_err refused;   /* why the servers can't have the flavour of the last question */
};

int available_init(struct available *available, struct lb_err *err) {
    int locks = 0, topologies = 0;
    for (; registry_locks()[locks]; locks++) {
        const char *const *names = lb_topologies(registry_locks()[locks]);
        for (; names && *names; names++) topologies++;
    }
    *available = (struct available){0};
    if (home_path("compose/local", available->folder, sizeof available->folder, err) != 0)
        return -1;
    available->item = calloc((size_t)topologies + 1, sizeof *available->item);
    available->url = calloc((size_t)locks + 1, sizeof *available->url);
    if (!available->item || !available->url) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    return 0;
}

void available_done(struct available *available) {
    free(available->item);
    free(available->url);
    *available = (struct available){0};
}

/* Asks the topology's script about itself, once. */
static struct available_topology *ask_topology(struct available *available, const char *name) {
    for (int i = 0; i < available->count; i++) {
        if (strcmp(available->item[i].name, name) == 0) return &available->item[i];
    }
    struct available_topology *item = &available->item[available->count++];
    item->name = name;
    topo_info(available->folder, name, &item->info, &item->no_script);
    return item;
}

static const char **url_of(const struct available *available, const struct lb_backend *backend) {
    const char **url = available->url;
    for (int i = 0; registry_backends()[i] && registry_backends()[i] != backend; i++) url++;
    return url;
}

void available_url(struct available *available, const struct lb_backend *backend, const char *url) {
    *url_of(available, backend) = url;
}

/* The part that is missing on this machine for the topology with the servers that the plan asks
 * for. */
static const char *lacks(struct available_topology *item, const struct plan *plan,
                         const char **ret_install) {
    struct topo_info info = item->info;
    item->refused = (struct lb_err){0};
    if (topo_info_flavour(&info, plan ? plan->program : NULL, plan ? plan->listen : NULL,
                          &item->refused) != 0)
        return item->refused.text;
    if (*info.missing) {
        if (*info.install) *ret_install = item->info.install;
        snprintf(item->reason, sizeof item->reason, "%s not found on this machine", info.missing);
        return item->reason;
    }
    if (plan && !topo_durability_of(&item->info, plan->durability, &item->refused))
        return item->refused.text;
    return NULL;
}

const char *available_why_not(struct available *available, const struct lb_backend *backend,
                              const char *topology, const struct plan *plan,
                              const char **ret_install) {
    *ret_install = NULL;
    if (lb_unavailable(backend)) {
        *ret_install = backend->install;
        return lb_unavailable(backend);
    }
    if (!backend->topologies || *url_of(available, backend)) return NULL;
    struct available_topology *item =
        ask_topology(available, topology ? topology : backend->topologies[0]);
    if (item->no_script.code) return item->no_script.text;
    return lacks(item, plan, ret_install);
}

const char *available_lock(struct available *available, const struct lb_lock *lock,
                           const char **ret_install) {
    const char *const *topologies = lb_topologies(lock);
    return available_why_not(available, lock->backend, topologies ? topologies[0] : NULL, NULL,
                             ret_install);
}

const struct topo_info *available_info(struct available *available, const char *topology) {
    struct available_topology *item = ask_topology(available, topology);
    return item->no_script.code ? NULL : &item->info;
}

/* True if both URLs begin with the same "scheme://". */
static bool same_scheme(const char *a, const char *b) {
    size_t len = strcspn(a, ":");
    return len == strcspn(b, ":") && strncmp(a, b, len) == 0;
}

const char *available_for_plan(void *context, const struct lb_lock *lock, const char *topology,
                               const struct plan *plan, const char **ret_install) {
    const char *reason = available_why_not(context, lock->backend, topology, plan, ret_install);
    const char *url = *url_of(context, lock->backend);
    if (reason || !url || !lock->topologies || !lock->topologies[0]) return reason;
    for (const char *const *name = lock->topologies; *name; name++) {
        const struct available_topology *fit = ask_topology(context, *name);
        if (fit->no_script.code || same_scheme(fit->info.url, url) ||
            same_scheme(fit->info.url_tls, url))
            return NULL;
    }
    struct available_topology *item = ask_topology(context, lock->topologies[0]);
    snprintf(item->reason, sizeof item->reason, "needs other servers than that URL's: %.*s://",
             (int)strcspn(item->info.url, ":"), item->info.url);
    return item->reason;
}

const char *available_reach(void *context, const struct plan *plan, const struct lb_lock *lock,
                            char *text, size_t size) {
    struct lb_err why = {0};
    const char *url = *url_of(context, lock->backend);
    if (!url) return NULL;
    if (place_check_faults(plan, url, &why) == 0) {
        struct lb_err unreached = {0}; /* the cell tells of it */
        struct place_ask ask = {.lock = &plan->locks[0], .url = url};
        struct place *place = place_needs_kind(plan) ? place_open(&ask, &unreached) : NULL;
        if (place) place_check_kind(place, plan, &why);
        place_close(place);
    }
    snprintf(text, size, "%s", why.text);
    return why.code ? text : NULL;
}

int available_weight(void *context, const char *topology) {
    const struct topo_info *info = available_info(context, topology);
    return info ? info->weight : 1;
}
