/* stages: see stages.h. */
#include "bench/workload/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/workload/sections.h"
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

/* The index-th distance between clients and servers in the plan's stages; embedded locks have one, which is zero. False:
 * there is no such distance. */
static bool distance_of(const struct plan *plan, bool embedded, int index, struct distance *ret) {
    *ret = (struct distance){0};
    if (embedded) return index == 0;
    if (index >= plan->rtts_count) return false;
    bool wired = plan->rtts_ns[index] != NO_DURATION;
    *ret = (struct distance){.wired = wired, .rtt_ns = wired ? plan->rtts_ns[index] : 0};
    return true;
}

/* The lock's own name for the topology, which outlives every plan; NULL = the lock does not run on it. */
static const char *own_topology(const struct lb_lock *lock, const char *topology) {
    for (const char *const *names = lb_topologies(lock); names && *names; names++) {
        if (strcmp(*names, topology) == 0) return *names;
    }
    return NULL;
}

/* 0 if a lock runs on a topology of this name, or may do so in a whole build; -1 with err
 * (LB_EXIT_USAGE) and the nearest name. */
static int topology_check(const char *name, struct lb_err *err) {
    struct nearest nearest;
    char hint[100];
    nearest_init(&nearest, name);
    for (int i = 0; registry_locks()[i]; i++) {
        if (own_topology(registry_locks()[i], name)) return 0;
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
        const char *name = own_topology(lock, plan->topologies[i]);
        if (name && seen++ == index) return name;
    }
    return seen == 0 && index == 0 ? own[0] : NULL;
}

/* --- the list --- */

/* Other random numbers than those of arrivals and clients with the same seed. */
#define STREAM (UINT64_C(1) << 42)

/* Stages, or what is said of all stages of a lock on the same servers: those members that load and repeat don't change. */
struct list {
    struct plan_stage *item;
    int count, room;
    bool failed; /* memory ran out */
};

struct building {
    const struct plan *plan;
    enum stages_order order;
    struct list entries; /* the locks on their servers; those of the same servers are together */
    struct plan_stage *drawn; /* the entries in the order of the current repeat */
    struct list stages;
};

static void add_item(struct list *list, struct plan_stage stage) {
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 64;
        struct plan_stage *grown = realloc(list->item, (size_t)room * sizeof *grown);
        list->failed |= !grown;
        if (!grown) return;
        list->item = grown;
        list->room = room;
    }
    list->item[list->count++] = stage;
}

static int64_t window_of(const struct building *building, int clients) {
    const struct plan *plan = building->plan;
    bool lone = building->order == STAGES_BY_ROUND && clients == 1 && plan->clients_count > 1;
    bool timed = plan->tick_ns > 0; /* something is to happen at times of the whole window */
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) timed |= plan->faults[i].kind != INJECT_NONE;
    return lone && !timed ? plan->duration_ns / 2 : plan->duration_ns;
}

/* The stages of one lock with one lease: its rates, or else its numbers of clients; in every second repeat from the last
 * to the first. */
static void add_loads(struct building *building, struct plan_stage stage) {
    const struct plan *plan = building->plan;
    bool rates = plan->rates_count > 0;
    int count = rates ? plan->rates_count : plan->clients_count;
    stage.plan = plan;
    for (int i = 0; i < count; i++) {
        int at = stage.repeat % 2 ? count - 1 - i : i;
        stage.clients = plan->clients[rates ? 0 : at];
        stage.rate_per_s = rates ? plan->rates[at] : 0;
        stage.window_ns = window_of(building, stage.clients);
        for (int r = 0; r < plan->readers_count; r++) {
            stage.readers = plan->readers[r];
            add_item(&building->stages, stage);
        }
    }
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The index-th topology of a lock. True if there is one; *ret_topology is NULL for an embedded
 * lock. */
static bool topology_at(const struct plan *plan, const struct plan_lock *lock, int index,
                        const char **ret_topology) {
    *ret_topology = topologies_of(plan, lock->lock, index);
    return *ret_topology || (index == 0 && !lb_topologies(lock->lock));
}

/* Adds the locks that run on the same servers as the entry's. */
static void add_site(struct building *building, struct plan_stage entry) {
    const struct plan *plan = building->plan;
    const struct lb_backend *backend = entry.lock->lock->backend;
    const char *own;
    for (int i = 0; i < plan->lock_count; i++) {
        bool runs = false;
        entry.lock = &plan->locks[i];
        for (int t = 0; !runs && topology_at(plan, entry.lock, t, &own); t++)
            runs = entry.lock->lock->backend == backend && same_text(own, entry.topology);
        if (runs) add_item(&building->entries, entry);
    }
}

/* The same for each distance, without and with TLS, unless they are listed. Embedded locks have no connections to
 * encrypt or to delay. */
static void add_sites(struct building *building, struct plan_stage entry) {
    const struct plan *plan = building->plan;
    bool embedded = !entry.topology;
    for (int i = 0; i < building->entries.count; i++) {
        const struct plan_stage *other = &building->entries.item[i];
        if (other->lock->lock->backend == entry.lock->lock->backend &&
            same_text(other->topology, entry.topology))
            return;
    }
    for (int i = 0; distance_of(plan, embedded, i, &entry.distance); i++) {
        entry.tls = false;
        if (embedded || plan->tls != PLAN_TLS_YES) add_site(building, entry);
        entry.tls = true;
        if (!embedded && plan->tls != PLAN_TLS_NO) add_site(building, entry);
    }
}

static void list_entries(struct building *building) {
    const struct plan *plan = building->plan;
    struct plan_stage entry = {0};
    for (int i = 0; i < plan->lock_count; i++) {
        entry.lock = &plan->locks[i];
        for (int t = 0; topology_at(plan, entry.lock, t, &entry.topology); t++)
            add_sites(building, entry);
    }
}

/* A baseline or a control that the user did not name is there to show that the tool works: one round shows it. */
static bool is_for_show(const struct plan_lock *lock) {
    bool simulated = strcmp(lock->lock->backend->name, "sim") == 0;
    return !lock->chosen && (simulated || (lock->lock->caps & (LB_CAP_CONTROL | LB_CAP_BASELINE)));
}

/* Lists a lock of a server once more: what two equal entries differ by is no difference of locks. A lock that serves in
 * turn is preferred, since the luck of who asks first scatters the others by itself. */
static void add_again(struct list *entries) {
    struct plan_stage chosen = {0};
    for (int i = 0; i < entries->count && entries->count > 1; i++) {
        const struct plan_stage *entry = &entries->item[i];
        bool fair = entry->lock->lock->caps & LB_CAP_FAIR;
        if (!entry->topology || is_for_show(entry->lock)) continue;
        if (!chosen.lock || (fair && !(chosen.lock->lock->caps & LB_CAP_FAIR))) chosen = *entry;
    }
    chosen.again = true;
    if (chosen.lock) add_item(entries, chosen);
}

static void swap(struct plan_stage *a, struct plan_stage *b) {
    struct plan_stage kept = *a;
    *a = *b;
    *b = kept;
}

/* Draws the order of the entries for a pair of repeats (Fisher and Yates); the second one mirrors the first, so that
 * no lock is always the first on fresh servers, or the one after a heavy one. */
static void order_entries(struct building *building, int repeat) {
    int count = building->entries.count;
    struct plan_stage *drawn = building->drawn;
    struct lb_rng rng;
    memcpy(drawn, building->entries.item, sizeof *drawn * (size_t)count);
    rng_seed(&rng, building->plan->seed + (uint64_t)(repeat / 2), STREAM);
    for (int i = count - 1; i > 0; i--) swap(&drawn[i], &drawn[rng_below(&rng, (uint64_t)i + 1)]);
    for (int i = 0; i < count / 2 && repeat % 2; i++) swap(&drawn[i], &drawn[count - 1 - i]);
}

/* One repeat of the locks on the servers of an entry; NULL = on all servers. */
static void add_repeat(struct building *building, const struct plan_stage *site, int repeat) {
    order_entries(building, repeat);
    for (int i = 0; i < building->entries.count; i++) {
        struct plan_stage entry = building->drawn[i];
        if (!site && repeat != 1 && is_for_show(entry.lock)) continue;
        if (repeat == 0 && entry.again) continue;
        if (site && !stages_share(&entry, site)) continue;
        entry.repeat = repeat;
        /* A lock without a lease runs only once, even if the plan has several leases. */
        int leases =
            leases_differ(building->plan, entry.lock->lock) ? building->plan->leases_count : 1;
        for (int l = 0; l < leases; l++) {
            entry.lease_ns = building->plan->leases_ns[l];
            add_loads(building, entry);
        }
    }
}

struct plan_stage *stages_new(const struct plan *plan, enum stages_order order, int *ret_count) {
    struct building building = {.plan = plan, .order = order};
    struct list *entries = &building.entries, *stages = &building.stages;
    bool rounds = order == STAGES_BY_ROUND;
    list_entries(&building);
    if (rounds) add_again(entries);
    building.drawn = malloc(sizeof *building.drawn * (size_t)entries->count + 1);
    bool failed = entries->failed || !building.drawn;
    for (int round = 0; !failed && rounds && round <= plan->repeat + STAGES_SPARE; round++)
        add_repeat(&building, NULL, round);
    for (int i = 0; !failed && !rounds && i < entries->count; i++) {
        bool listed = i > 0 && stages_share(&entries->item[i - 1], &entries->item[i]);
        for (int repeat = 0; !listed && repeat < plan->repeat; repeat++)
            add_repeat(&building, &entries->item[i], repeat);
    }
    free(entries->item);
    free(building.drawn);
    if (!failed && !stages->failed) {
        *ret_count = stages->count;
        return stages->item;
    }
    free(stages->item);
    return NULL;
}

char *stage_name(const struct plan_stage *stage, char *text, size_t size) {
    const struct plan *plan = stage->plan;
    const char *tls = plan->tls == PLAN_TLS_BOTH && stage->tls ? "-tls" : "";
    char where[48] = "", shared[16] = "", rate[24] = "", rtt[48] = "", lease[48] = "", time[40];
    if (topologies_of(plan, stage->lock->lock, 1))
        snprintf(where, sizeof where, "-%.46s", stage->topology);
    if (plan->readers_count > 1) snprintf(shared, sizeof shared, "-rd%d", stage->readers);
    if (stage->rate_per_s > 0)
        snprintf(rate, sizeof rate, stage->rate_per_s < 100 ? "-%.3gps" : "-%.0fps",
                 stage->rate_per_s);
    if (plan->rtts_count > 1 && stage->distance.wired)
        snprintf(rtt, sizeof rtt, "-rtt%s",
                 duration_text(stage->distance.rtt_ns, time, sizeof time));
    if (leases_differ(plan, stage->lock->lock))
        snprintf(lease, sizeof lease, "-lease%s",
                 duration_text(stage->lease_ns, time, sizeof time));
    snprintf(text, size, "%s%s%s%s%s-c%d%s%s-r%d%s", stage->lock->lock->name, where, tls, rtt,
             lease, stage->clients, shared, rate, stage->repeat, stage->again ? "-again" : "");
    return text;
}

int plan_stages(const struct plan *plan, int64_t *ret_time_ns) {
    int count = 0;
    struct plan_stage *stages = stages_new(plan, STAGES_BY_PLACE, &count);
    *ret_time_ns = 0;
    for (int i = 0; i < count; i++) *ret_time_ns += stages[i].plan->warmup_ns + stages[i].window_ns;
    free(stages);
    return count;
}
