/* ours: see ours.h. */
#include "bench/perf/ours.h"

#include <stdio.h>

#include "bench/base/home.h"

static volatile sig_atomic_t no_interrupts;

int ours_open(struct ours *ours, const char *lock, const char *const *sets, struct lb_err *err) {
    char workloads[512], topologies[512];
    int count = 0;
    while (sets[count]) count++;
    *ours = (struct ours){0};
    if (home_path("workloads", workloads, sizeof workloads, err) != 0) return -1;
    if (home_path("compose/local", topologies, sizeof topologies, err) != 0) return -1;
    struct plan_wish wish = {
        .workload = "smoke", .folder = workloads, .locks = lock, .sets = sets, .set_count = count};
    ours->plan = plan_load(&wish, err);
    if (!ours->plan) return -1;
    struct place_ask ask = {.lock = &ours->plan->locks[0],
                            .topologies = topologies,
                            .durability = ours->plan->durability,
                            .interrupts = &no_interrupts};
    ours->place = place_open(&ask, err);
    if (!ours->place) return -1;
    for (int i = 0; i < 2 && ours->place->topo; i++) /* for the other tools */
        setenv(i ? "PGPASSWORD" : "REDISCLI_AUTH", topo_about(ours->place->topo)->secret, 1);
    return 0;
}

void ours_close(struct ours *ours) {
    place_close(ours->place);
    plan_free(ours->plan);
    *ours = (struct ours){0};
}

struct stage *ours_run(const struct ours *ours, int clients, struct lb_err *err) {
    struct stage_ask ask = {.plan = ours->plan,
                            .lock = &ours->plan->locks[0],
                            .server = &ours->place->server,
                            .topo = ours->place->topo,
                            .clients = clients,
                            .version = "perf",
                            .seed = ours->plan->seed,
                            .interrupts = &no_interrupts};
    snprintf(ask.id, sizeof ask.id, "perf");
    struct stage *stage = stage_run(&ask, err);
    if (stage && stage->status != STAGE_COMPLETE) {
        err_set(err, stage->err.code, "%s", stage->err.text);
        stage_free(stage);
        stage = NULL;
    }
    return stage;
}
