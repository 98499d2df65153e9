/* stages: see stages.h. */
#include "bench/workload/stages.h"

#include <stdlib.h>
#include <string.h>

#define SHUFFLED_MAX 512 /* locks; more of them run in the plan's order */
#define PLACES_MAX 256   /* (backend, topology) pairs */
/* Other random numbers than those of arrivals, clients and sweeps with the same seed. */
#define STREAM (UINT64_C(1) << 42)

struct building {
    const struct plan *plan;
    struct plan_stage *stage; /* NULL: only count */
    int count;
    int order[SHUFFLED_MAX]; /* numbers of the plan's locks, in the current repeat */
};

/* Leaves out a latch with one client, which would wait for itself. */
static bool makes_sense(const struct lb_lock *lock, int clients) {
    return lock->primitive != LB_LATCH || clients >= 2;
}

/* Servers that stages share; .topology NULL = embedded. */
struct site {
    const struct lb_backend *backend;
    const char *topology;
    bool tls;
    struct distance distance;
};

/* The stages of one lock with one lease. */
static void add_loads(struct building *building, const struct plan *plan,
                      const struct plan_lock *lock, const struct site *site, int repeat) {
    struct rung rungs[SWEEP_RUNGS_MAX];
    int count = sweep_rungs(plan, repeat, rungs);
    for (int i = 0; i < count; i++) {
        for (int r = 0; r < plan->readers_count; r++) {
            if (!makes_sense(lock->lock, rungs[i].clients)) continue;
            if (building->stage) {
                building->stage[building->count] =
                    (struct plan_stage){.plan = plan,
                                        .lock = lock,
                                        .topology = site->topology,
                                        .tls = site->tls,
                                        .distance = site->distance,
                                        .clients = rungs[i].clients,
                                        .readers = plan->readers[r],
                                        .repeat = repeat,
                                        .rate_per_s = rungs[i].rate_per_s,
                                        .sweep = rungs[i].at};
            }
            building->count++;
        }
    }
}

/* A lock without a lease runs only once, even if the plan has several leases. */
static void add_lock(struct building *building, const struct plan_lock *lock,
                     const struct site *site, int repeat) {
    const struct plan *plan = lock->plan ? lock->plan : building->plan, *at;
    bool all = leases_differ(plan, lock->lock);
    for (int i = 0; (i == 0 || all) && (at = leases_plan(plan, i)); i++)
        add_loads(building, at, lock, site, repeat);
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The index-th place of a lock. True if there is one; *ret_topology is NULL for an embedded
 * lock. */
static bool place_of(const struct plan *plan, const struct plan_lock *lock, int index,
                     const char **ret_topology) {
    *ret_topology = topologies_of(lock->plan ? lock->plan : plan, lock->lock, index);
    return *ret_topology || (index == 0 && !lb_topologies(lock->lock));
}

static bool runs_at(const struct plan *plan, const struct plan_lock *lock,
                    const struct lb_backend *backend, const char *topology) {
    const char *own;
    if (lock->lock->backend != backend) return false;
    for (int i = 0; place_of(plan, lock, i, &own); i++) {
        if (same_text(own, topology)) return true;
    }
    return false;
}

static bool is_shuffled(const struct plan *plan) {
    return plan->lock_count <= SHUFFLED_MAX;
}

/* Draws the order of the locks anew for a repeat (Fisher and Yates), so that no lock is always the
 * first on fresh servers, or the one after a heavy one. */
static void order_locks(struct building *building, int repeat) {
    const struct plan *plan = building->plan;
    struct lb_rng rng;
    if (!is_shuffled(plan)) return;
    for (int i = 0; i < plan->lock_count; i++) building->order[i] = i;
    rng_seed(&rng, plan->seed + (uint64_t)repeat, STREAM);
    for (int i = plan->lock_count - 1; i > 0; i--) {
        int other = (int)rng_below(&rng, (uint64_t)i + 1), kept = building->order[i];
        building->order[i] = building->order[other];
        building->order[other] = kept;
    }
}

/* All stages at one place. */
static void add_place(struct building *building, const struct site *site) {
    const struct plan *plan = building->plan;
    for (int repeat = 0; repeat < plan->repeat; repeat++) {
        order_locks(building, repeat);
        for (int i = 0; i < plan->lock_count; i++) {
            int number = is_shuffled(plan) ? building->order[i] : i;
            const struct plan_lock *lock = &plan->locks[number];
            if (runs_at(plan, lock, site->backend, site->topology))
                add_lock(building, lock, site, repeat);
        }
    }
}

/* All places of these servers. Embedded locks have no connections to encrypt or to delay. */
static void add_places(struct building *building, const struct lb_backend *backend,
                       const char *topology) {
    const struct plan *plan = building->plan;
    struct site site = {.backend = backend, .topology = topology};
    for (int i = 0; distance_of(plan, !topology, i, &site.distance); i++) {
        site.tls = false;
        if (!topology || plan->tls != PLAN_TLS_YES) add_place(building, &site);
        site.tls = true;
        if (topology && plan->tls != PLAN_TLS_NO) add_place(building, &site);
    }
}

static void add_all(struct building *building) {
    const struct plan *plan = building->plan;
    struct {
        const struct lb_backend *backend;
        const char *topology;
    } seen[PLACES_MAX];
    int count = 0;
    building->count = 0;
    for (int i = 0; i < plan->lock_count; i++) {
        const struct plan_lock *lock = &plan->locks[i];
        const struct lb_backend *backend = lock->lock->backend;
        const char *topology;
        for (int t = 0; place_of(plan, lock, t, &topology); t++) {
            bool known = false;
            for (int s = 0; s < count; s++) {
                known |= seen[s].backend == backend && same_text(seen[s].topology, topology);
            }
            if (known || count == PLACES_MAX) continue;
            seen[count].backend = backend;
            seen[count++].topology = topology;
            add_places(building, backend, topology);
        }
    }
}

struct plan_stage *stages_new(const struct plan *plan, int *ret_count) {
    struct building building = {.plan = plan};
    add_all(&building);
    building.stage = calloc((size_t)building.count + 1, sizeof *building.stage);
    if (!building.stage) return NULL;
    add_all(&building);
    *ret_count = building.count;
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
    if (plan->distance_count > 1 && stage->distance.wired)
        snprintf(rtt, sizeof rtt, "-rtt%s",
                 duration_text(stage->distance.rtt_ns, time, sizeof time));
    if (leases_differ(plan, stage->lock->lock))
        snprintf(lease, sizeof lease, "-lease%s", duration_text(plan->lease_ns, time, sizeof time));
    snprintf(text, size, "%s%s%s%s%s-c%d%s%s-r%d", stage->lock->lock->name, where, tls, rtt, lease,
             stage->clients, shared, rate, stage->repeat);
    return text;
}

int plan_stages(const struct plan *plan) {
    struct building building = {.plan = plan};
    add_all(&building);
    return building.count;
}

int64_t plan_time_ns(const struct plan *plan) {
    int count = 0;
    struct plan_stage *stages = stages_new(plan, &count);
    int64_t time_ns = 0;
    for (int i = 0; stages && i < count; i++) {
        time_ns += stages[i].plan->warmup_ns + stages[i].plan->duration_ns;
    }
    free(stages);
    return time_ns;
}

#define SWEEP_STREAM                                                                               \
    (UINT64_C(1)                                                                                   \
     << 41) /* other random numbers than those of arrivals and clients with the same seed */

static const char *const orders[] = {"as-listed", "up", "down", "shuffled", "mirror"};

static double load_of(const struct rung *rung) {
    return rung->rate_per_s > 0 ? rung->rate_per_s : rung->clients;
}

static int by_load(const void *a, const void *b) {
    double x = load_of(a), y = load_of(b);
    return (x > y) - (x < y);
}

static void swap_rungs(struct rung *a, struct rung *b) {
    struct rung kept = *a;
    *a = *b;
    *b = kept;
}

/* Fisher and Yates. */
static void shuffle_rungs(struct rung *rungs, int count, uint64_t seed) {
    struct lb_rng rng;
    rng_seed(&rng, seed, SWEEP_STREAM);
    for (int i = count - 1; i > 0; i--)
        swap_rungs(&rungs[i], &rungs[rng_below(&rng, (uint64_t)i + 1)]);
}

/* One ladder at a time: a checked plan with rates has one number of clients. */
static int list_rungs(const struct plan *plan, struct rung *rungs) {
    for (int i = 0; i < plan->rates_count; i++) {
        rungs[i] = (struct rung){.clients = plan->clients[0], .rate_per_s = plan->rates[i]};
    }
    if (plan->rates_count > 0) return plan->rates_count;
    for (int i = 0; i < plan->clients_count; i++)
        rungs[i] = (struct rung){.clients = plan->clients[i]};
    return plan->clients_count;
}

int sweep_rungs(const struct plan *plan, int repeat, struct rung rungs[SWEEP_RUNGS_MAX]) {
    int count = list_rungs(plan, rungs), up = count;
    if (plan->sweep == SWEEP_LISTED) return count;
    qsort(rungs, (size_t)count, sizeof *rungs, by_load);
    if (plan->sweep == SWEEP_SHUFFLED) shuffle_rungs(rungs, count, plan->seed + (uint64_t)repeat);
    if (plan->sweep == SWEEP_DOWN) {
        for (int i = 0; i < count / 2; i++) swap_rungs(&rungs[i], &rungs[count - 1 - i]);
        up = 0;
    }
    /* The greatest load runs only once: it ends the way up and begins the way down. */
    if (plan->sweep == SWEEP_MIRROR) {
        for (int i = count - 2; i >= 0; i--) rungs[count++] = rungs[i];
    }
    for (int i = 0; i < count; i++) {
        rungs[i].at =
            (struct sweep_at){.by = plan->rates_count > 0 ? "rate" : "clients",
                              .order = orders[plan->sweep],
                              .leg = plan->sweep == SWEEP_SHUFFLED ? orders[SWEEP_SHUFFLED]
                                     : i < up                      ? orders[SWEEP_UP]
                                                                   : orders[SWEEP_DOWN],
                              .step = i};
    }
    return count;
}
