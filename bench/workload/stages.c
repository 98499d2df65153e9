/* stages: see stages.h. */
#include "bench/workload/stages.h"

#include <stdlib.h>
#include <string.h>

/* Other random numbers than those of arrivals and clients with the same seed. */
#define STREAM (UINT64_C(1) << 42)

/* Servers that stages share; .topology NULL = embedded. */
struct site {
    const struct lb_backend *backend;
    const char *topology;
    bool tls;
    struct distance distance;
};

/* A lock at one of its sites. */
struct entry {
    const struct plan_lock *lock;
    const struct site *site;
    bool again;
};

struct building {
    const struct plan *plan;
    enum stages_order order;
    struct plan_stage *stage; /* NULL: only count */
    int count;
    struct site *sites;
    struct entry *entries; /* those of one site are together */
    int site_count, entry_count;
    int *drawn; /* numbers of the entries, in the current repeat */
};

/* The loads of a plan: its rates, or else its numbers of clients; in every second repeat from the last to the first. */
static int load_at(const struct plan *plan, int repeat, int i, double *ret_rate_per_s) {
    int count = plan->rates_count > 0 ? plan->rates_count : plan->clients_count;
    int at = repeat % 2 ? count - 1 - i : i;
    *ret_rate_per_s = plan->rates_count > 0 ? plan->rates[at] : 0;
    return plan->rates_count > 0 ? plan->clients[0] : plan->clients[at];
}

static int64_t window_of(const struct building *building, const struct plan *plan, int clients) {
    bool lone = building->order == STAGES_BY_ROUND && clients == 1 && plan->clients_count > 1;
    bool timed = plan->tick_ns > 0; /* something is to happen at times of the whole window */
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) timed |= plan->faults[i].kind != INJECT_NONE;
    return lone && !timed ? plan->duration_ns / 2 : plan->duration_ns;
}

/* The stages of one lock with one lease. */
static void add_loads(struct building *building, const struct plan *plan, const struct entry *entry,
                      int repeat) {
    const struct plan_lock *lock = entry->lock;
    const struct site *site = entry->site;
    int count = plan->rates_count > 0 ? plan->rates_count : plan->clients_count;
    for (int i = 0; i < count; i++) {
        double rate_per_s;
        int clients = load_at(plan, repeat, i, &rate_per_s);
        for (int r = 0; r < plan->readers_count; r++) {
            if (building->stage) {
                building->stage[building->count] =
                    (struct plan_stage){.plan = plan,
                                        .lock = lock,
                                        .topology = site->topology,
                                        .tls = site->tls,
                                        .distance = site->distance,
                                        .clients = clients,
                                        .readers = plan->readers[r],
                                        .repeat = repeat,
                                        .window_ns = window_of(building, plan, clients),
                                        .rate_per_s = rate_per_s,
                                        .again = entry->again};
            }
            building->count++;
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

static bool runs_at(const struct plan *plan, const struct plan_lock *lock,
                    const struct lb_backend *backend, const char *topology) {
    const char *own;
    if (lock->lock->backend != backend) return false;
    for (int i = 0; topology_at(plan, lock, i, &own); i++) {
        if (same_text(own, topology)) return true;
    }
    return false;
}

/* Lists the locks that run at a site. */
static void add_site(struct building *building, const struct site *site) {
    const struct plan *plan = building->plan;
    struct site *kept = &building->sites[building->site_count++];
    *kept = *site;
    for (int i = 0; i < plan->lock_count; i++) {
        if (runs_at(plan, &plan->locks[i], site->backend, site->topology))
            building->entries[building->entry_count++] =
                (struct entry){.lock = &plan->locks[i], .site = kept};
    }
}

/* All sites of these servers. Embedded locks have no connections to encrypt or to delay. */
static void add_sites(struct building *building, const struct lb_backend *backend,
                      const char *topology) {
    const struct plan *plan = building->plan;
    struct site site = {.backend = backend, .topology = topology};
    for (int i = 0; distance_of(plan, !topology, i, &site.distance); i++) {
        site.tls = false;
        if (!topology || plan->tls != PLAN_TLS_YES) add_site(building, &site);
        site.tls = true;
        if (topology && plan->tls != PLAN_TLS_NO) add_site(building, &site);
    }
}

static bool is_listed(const struct building *building, const struct lb_backend *backend,
                      const char *topology) {
    for (int s = 0; s < building->site_count; s++) {
        if (building->sites[s].backend == backend &&
            same_text(building->sites[s].topology, topology))
            return true;
    }
    return false;
}

/* Lists the sites, and the locks at each. 0, or -1 when out of memory. */
static int list_entries(struct building *building) {
    const struct plan *plan = building->plan;
    size_t most = 0, variants = 2 * (size_t)plan->rtts_count;
    const char *topology;
    for (int i = 0; i < plan->lock_count; i++) {
        for (int t = 0; topology_at(plan, &plan->locks[i], t, &topology); t++) most += variants;
    }
    building->sites = calloc(most + 1, sizeof *building->sites);
    building->entries = calloc(most + 2, sizeof *building->entries);
    building->drawn = calloc(most + 2, sizeof *building->drawn);
    if (!building->sites || !building->entries || !building->drawn) return -1;
    for (int i = 0; i < plan->lock_count; i++) {
        const struct lb_backend *backend = plan->locks[i].lock->backend;
        for (int t = 0; topology_at(plan, &plan->locks[i], t, &topology); t++) {
            if (!is_listed(building, backend, topology)) add_sites(building, backend, topology);
        }
    }
    return 0;
}

/* A baseline or a control that the user did not name is there to show that the tool works: one round shows it. */
static bool is_for_show(const struct plan_lock *lock) {
    bool simulated = strcmp(lock->lock->backend->name, "sim") == 0;
    return !lock->chosen && (simulated || (lock->lock->caps & (LB_CAP_CONTROL | LB_CAP_BASELINE)));
}

/* Lists a lock of a server once more: what two equal entries differ by is no difference of locks. A lock that serves in
 * turn is preferred, since the luck of who asks first scatters the others by itself. */
static void add_again(struct building *building) {
    const struct entry *chosen = NULL;
    for (int i = 0; i < building->entry_count && building->entry_count > 1; i++) {
        const struct entry *entry = &building->entries[i];
        bool fair = entry->lock->lock->caps & LB_CAP_FAIR;
        if (!entry->site->topology || is_for_show(entry->lock)) continue;
        if (!chosen || (fair && !(chosen->lock->lock->caps & LB_CAP_FAIR))) chosen = entry;
    }
    if (!chosen) return;
    building->entries[building->entry_count] = *chosen;
    building->entries[building->entry_count++].again = true;
}

/* Draws the order of the entries for a pair of repeats (Fisher and Yates); the second one mirrors the first, so that
 * no lock is always the first on fresh servers, or the one after a heavy one. */
static void order_entries(struct building *building, int repeat) {
    int count = building->entry_count, *order = building->drawn;
    struct lb_rng rng;
    for (int i = 0; i < count; i++) order[i] = i;
    rng_seed(&rng, building->plan->seed + (uint64_t)(repeat / 2), STREAM);
    for (int i = count - 1; i > 0; i--) {
        int other = (int)rng_below(&rng, (uint64_t)i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < count / 2 && repeat % 2; i++) {
        int kept = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = kept;
    }
}

/* One repeat of the locks at a site; NULL = at all sites. */
static void add_repeat(struct building *building, const struct site *site, int repeat) {
    order_entries(building, repeat);
    for (int i = 0; i < building->entry_count; i++) {
        const struct entry *entry = &building->entries[building->drawn[i]];
        if (!site && repeat != 1 && is_for_show(entry->lock)) continue;
        if (repeat == 0 && entry->again) continue;
        if (site && entry->site != site) continue;
        /* A lock without a lease runs only once, even if the plan has several leases. */
        const struct plan *at;
        bool all = leases_differ(building->plan, entry->lock->lock);
        for (int l = 0; (l == 0 || all) && (at = leases_plan(building->plan, l)); l++)
            add_loads(building, at, entry, repeat);
    }
}

static void add_all(struct building *building) {
    int repeats = building->plan->repeat;
    building->count = 0;
    for (int round = 0; round <= repeats + STAGES_SPARE && building->order == STAGES_BY_ROUND;
         round++)
        add_repeat(building, NULL, round);
    for (int s = 0; s < building->site_count && building->order == STAGES_BY_PLACE; s++) {
        for (int repeat = 0; repeat < repeats; repeat++)
            add_repeat(building, &building->sites[s], repeat);
    }
}

struct plan_stage *stages_new(const struct plan *plan, enum stages_order order, int *ret_count) {
    struct building building = {.plan = plan, .order = order};
    if (list_entries(&building) == 0) {
        if (order == STAGES_BY_ROUND) add_again(&building);
        add_all(&building);
        building.stage = calloc((size_t)building.count + 1, sizeof *building.stage);
        if (building.stage) add_all(&building);
    }
    free(building.sites);
    free(building.entries);
    free(building.drawn);
    if (building.stage) *ret_count = building.count;
    return building.stage;
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
        snprintf(lease, sizeof lease, "-lease%s", duration_text(plan->lease_ns, time, sizeof time));
    snprintf(text, size, "%s%s%s%s%s-c%d%s%s-r%d%s", stage->lock->lock->name, where, tls, rtt,
             lease, stage->clients, shared, rate, stage->repeat, stage->again ? "-again" : "");
    return text;
}

int plan_stages(const struct plan *plan) {
    int count = 0;
    free(stages_new(plan, STAGES_BY_PLACE, &count));
    return count;
}

int64_t plan_time_ns(const struct plan *plan) {
    int count = 0;
    struct plan_stage *stages = stages_new(plan, STAGES_BY_PLACE, &count);
    int64_t time_ns = 0;
    for (int i = 0; stages && i < count; i++) {
        time_ns += stages[i].plan->warmup_ns + stages[i].window_ns;
    }
    free(stages);
    return time_ns;
}
