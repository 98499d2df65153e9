/* tick: see tick.h. */
#include "bench/load/tick.h"

uint32_t tick_count(const struct plan *plan) {
    if (plan->tick_ns == 0) return 0;
    return (uint32_t)((plan->warmup_ns + plan->duration_ns) / plan->tick_ns + 1);
}

/* Ticks count from the begin of the load, so that all threads and processes agree on them. */
static void go_to(struct client *client, uint32_t tick) {
    const struct shared *shared = client->worker->shared;
    int64_t late_ns = dist_draw(&shared->plan->think, &client->rng);
    client->tick = tick;
    client->next_ns = shared->go_ns + (int64_t)tick * shared->plan->tick_ns + late_ns;
}

void tick_first(struct client *client) {
    go_to(client, 0);
}

void tick_next(struct client *client) {
    const struct shared *shared = client->worker->shared;
    int64_t passed = (client->ended_ns - shared->go_ns) / shared->plan->tick_ns;
    uint32_t now = passed < shared->ticks ? (uint32_t)passed : shared->ticks;
    go_to(client, (now > client->tick ? now : client->tick) + 1);
}

static void note_run(struct client *client, void *mine, int64_t started_ns, int64_t acquired_ns) {
    struct shared *shared = client->worker->shared;
    (void)mine, (void)started_ns, (void)acquired_ns;
    if (client->tick < shared->ticks)
        atomic_fetch_add_explicit(&shared->tick_runs[client->tick], 1, memory_order_relaxed);
}

const struct observer tick_observer = {.entered = note_run};

struct tick_counts tick_sum(const struct shared *shared) {
    struct tick_counts counts = {0};
    int64_t tick_ns = shared->plan->tick_ns;
    for (uint32_t i = 0; i < shared->ticks; i++) {
        int64_t begin_ns = shared->go_ns + (int64_t)i * tick_ns;
        if (begin_ns < stage_begin_ns(shared) || begin_ns + tick_ns > stage_end_ns(shared))
            continue;
        uint32_t runs = atomic_load(&shared->tick_runs[i]);
        counts.ticks++;
        counts.none += runs == 0;
        counts.once += runs == 1;
        counts.more += runs > 1;
    }
    return counts;
}
