/* variants: leases, round trips and topologies of a plan, each of which makes further stages; see stages.h. */
#include <stdio.h>
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/option/text.h"
#include "bench/workload/sections.h"
#include "bench/workload/stages.h"
#include "drivers/registry.h"

int64_t leases_shortest_ns(const struct plan *plan) {
    int64_t shortest_ns = plan->leases_ns[0];
    for (int i = 1; i < plan->leases_count; i++) {
        if (plan->leases_ns[i] < shortest_ns) shortest_ns = plan->leases_ns[i];
    }
    return shortest_ns;
}

bool leases_differ(const struct plan *plan, const struct lb_lock *lock) {
    bool ends = (lock->caps & LB_CAP_LEASE) || lock->about.crash == LB_CRASH_SESSION;
    return plan->leases_count > 1 && ends;
}

bool distance_same(const struct distance *a, const struct distance *b) {
    return a->wired == b->wired && a->rtt_ns == b->rtt_ns;
}

bool distance_of(const struct plan *plan, bool embedded, int index, struct distance *ret) {
    *ret = (struct distance){0};
    if (embedded) return index == 0;
    if (index >= plan->rtts_count) return false;
    bool wired = plan->rtts_ns[index] != NO_DURATION;
    *ret = (struct distance){.wired = wired, .rtt_ns = wired ? plan->rtts_ns[index] : 0};
    return true;
}

static bool can_run_on(const struct lb_lock *lock, const char *topology) {
    for (const char *const *names = lb_topologies(lock); names && *names; names++) {
        if (strcmp(*names, topology) == 0) return true;
    }
    return false;
}

/* 0 if a lock runs on a topology of this name, or may do so in a whole build; -1 with err
 * (LB_EXIT_USAGE) and the nearest name. */
static int topology_check(const char *name, struct lb_err *err) {
    struct nearest nearest;
    char hint[100];
    nearest_init(&nearest, name);
    for (int i = 0; registry_locks()[i]; i++) {
        if (can_run_on(registry_locks()[i], name)) return 0;
        for (const char *const *own = lb_topologies(registry_locks()[i]); own && *own; own++)
            nearest_offer(&nearest, *own);
    }
    /* Accepts an unknown name if this build lacks a backend: the name may belong to one of its locks. */
    if (registry_left_out()) return 0;
    return err_set(err, LB_EXIT_USAGE, "no lock runs on a topology '%.60s'%s", name,
                   nearest_hint(&nearest, hint, sizeof hint));
}

static int read_topologies(const struct option_into *into, const char *text, struct lb_err *err) {
    struct plan *plan = into->values;
    const char *found[PLAN_LADDER_MAX] = {0};
    int count = 0;
    char name[64];
    bool usual = strcmp(text, "default") == 0;
    for (const char *at = usual ? NULL : text; text_item(&at, name, sizeof name);) {
        if (!*name) return err_set(err, LB_EXIT_USAGE, "a name is missing between commas");
        if (count == PLAN_LADDER_MAX)
            return err_set(err, LB_EXIT_USAGE, "more than %d topologies", PLAN_LADDER_MAX);
        if (topology_check(name, err) || names_add(found, &count, name, into->arena, err))
            return -1;
    }
    memcpy(plan->topologies, found, sizeof *found * (size_t)count);
    plan->topology_count = count;
    return 0;
}

static void format_topologies(const struct lb_option *option, const void *in, char *text,
                              size_t size) {
    const struct plan *plan = (const void *)((const char *)in - option->offset);
    snprintf(text, size, "default");
    names_text(plan->topologies, plan->topology_count, ", ", text, size);
}

const struct lb_option_type type_topologies = {
    .bytes = sizeof(char *[PLAN_LADDER_MAX]),
    .read = read_topologies,
    .text = format_topologies,
    .words =
        "default, or names of topologies with commas between ('lockbench list LOCK' shows a lock's)",
};

const char *topologies_of(const struct plan *plan, const struct lb_lock *lock, int index) {
    const char *const *own = lb_topologies(lock);
    int seen = 0;
    if (!own) return NULL;
    for (int i = 0; i < plan->topology_count; i++) {
        if (can_run_on(lock, plan->topologies[i]) && seen++ == index) return plan->topologies[i];
    }
    return seen == 0 && index == 0 ? own[0] : NULL;
}
