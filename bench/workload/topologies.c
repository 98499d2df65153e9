/* topologies: see topologies.h. */
#include "bench/workload/topologies.h"

#include <stdio.h>
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/workload/text.h"
#include "drivers/registry.h"

/* The name as a lock's own table has it; NULL if no lock has it. */
static const char *known(const char *name, struct nearest *nearest) {
    for (int i = 0; registry_locks()[i]; i++) {
        const char *const *names = lb_topologies(registry_locks()[i]);
        for (; names && *names; names++) {
            if (strcmp(*names, name) == 0) return *names;
            nearest_offer(nearest, *names);
        }
    }
    return NULL;
}

int topologies_read(const char *text, struct plan *plan, struct lb_err *err) {
    const char *found[PLAN_LADDER_MAX];
    int count = 0;
    if (strcmp(text, "default") == 0) {
        plan->topology_count = 0;
        return 0;
    }
    for (const char *at = text;; at++) {
        char name[64], hint[100];
        struct nearest nearest;
        size_t len = strcspn(at, ",");
        if (text_trim(at, len, name, sizeof name)) snprintf(name, sizeof name, "%.60s", at);
        if (!*name) return err_set(err, LB_EXIT_USAGE, "a name is missing between commas");
        nearest_init(&nearest, name);
        const char *topology = known(name, &nearest);
        if (!topology) {
            return err_set(err, LB_EXIT_USAGE, "no lock runs on a topology '%s'%s", name,
                           nearest_hint(&nearest, hint, sizeof hint));
        }
        for (int i = 0; i < count; i++) {
            if (found[i] == topology) return err_set(err, LB_EXIT_USAGE, "%s is there twice", name);
        }
        if (count == PLAN_LADDER_MAX) {
            return err_set(err, LB_EXIT_USAGE, "more than %d topologies", PLAN_LADDER_MAX);
        }
        found[count++] = topology;
        at += len;
        if (*at == '\0') break;
    }
    memcpy(plan->topologies, found, sizeof *found * (size_t)count);
    plan->topology_count = count;
    return 0;
}

char *topologies_text(const struct plan *plan, char *text, size_t size) {
    size_t used = 0;
    snprintf(text, size, "default");
    for (int i = 0; i < plan->topology_count && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, i ? ", %s" : "%s", plan->topologies[i]);
    }
    return text;
}

static bool can_run_on(const struct lb_lock *lock, const char *topology) {
    for (const char *const *names = lb_topologies(lock); names && *names; names++) {
        if (strcmp(*names, topology) == 0) return true;
    }
    return false;
}

const char *topologies_of(const struct plan *plan, const struct lb_lock *lock, int index) {
    const char *const *own = lb_topologies(lock);
    int seen = 0;
    if (!own) return NULL;
    for (int i = 0; i < plan->topology_count; i++) {
        if (can_run_on(lock, plan->topologies[i]) && seen++ == index) return plan->topologies[i];
    }
    return seen == 0 && index == 0 ? own[0] : NULL;
}
