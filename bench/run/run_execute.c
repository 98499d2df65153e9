/* run_execute: a whole run, from its plan to its saved result. See run.h. */
#include "bench/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/hosts/hosts.h"
#include "bench/load/descriptors.h"
#include "bench/run/canary.h"
#include "bench/run/run_state.h"
#include "drivers/url.h"

/* All stages, between the two measurements of the canary. */
static void run_between_canaries(struct run_state *run, const struct plan_stage *stages,
                                 int count) {
    const struct run_ask *ask = run->ask;
    struct canary before = {.count = 0}, after = {.count = 0};
    struct lb_err err = {0};
    double part;
    if (ask->canary) canary_measure(&before, ask->canary, ask->interrupts);
    run_all_places(run, stages, count);
    if (!ask->canary) return;
    canary_measure(&after, ask->canary, ask->interrupts);
    json_object_set_new(run->json, "canary", canary_json(&before, &after));
    if (!canary_moved(&before, &after, &part)) return;
    err_set(
        &err, 0,
        "the machine changed during the run: without a lock the load generator was %.0f %% %s "
        "after it than before it, so a comparison of stages that ran at different times is void",
        100 * fabs(part), part < 0 ? "slower" : "faster");
    run_say(run, err.text);
    json_array_append_new(run->warnings, json_string(err.text));
}

/* The first key of the plan that only servers which lockbench starts can obey; NULL = none. */
static const char *asked_of_ours(const struct plan *plan) {
    if (*plan->program) return "servers.program";
    return *plan->listen ? "servers.listen" : NULL;
}

/* Whether an earlier stage differs in nothing that is checked here, as its repetitions do. */
static bool is_checked(const struct plan_stage *stages, int at) {
    const struct plan_stage *stage = &stages[at];
    for (int i = at - 1; i >= 0; i--) {
        if (stages[i].plan == stage->plan && stages[i].lock == stage->lock &&
            stages[i].topology == stage->topology &&
            stages[i].distance.wired == stage->distance.wired)
            return true;
    }
    return false;
}

/* Load hosts on other machines must reach the server of the coordinator. At a loopback address each of them would find
 * its own server, or none, and a good lock would be accused. */
static int check_reach(const struct run_ask *ask, const struct plan_stage *stage, const char *url,
                       struct lb_err *err) {
    const struct lb_backend *backend = stage->lock->lock->backend;
    char shown[256];
    if (ask->hosts && !url && stage->tls)
        return err_set(
            err, LB_EXIT_USAGE,
            "%s: only this host has the certificates of servers that lockbench starts, and the clients "
            "are on several: leave out servers.tls, or use --url",
            backend->name);
    if (!ask->hosts || !ask->hosts->apart) return 0;
    if (url && url_is_local(url))
        return err_set(
            err, LB_EXIT_USAGE,
            "%s: the clients are on several machines, and each of them would look for %s on its own: "
            "give an address that all machines reach, or leave out --url and set servers.listen",
            backend->name, url_public(url, shown, sizeof shown));
    bool listens = *ask->plan->listen && strncmp(ask->plan->listen, "127.", 4) != 0;
    if (url || !backend->topologies || listens) return 0;
    return err_set(
        err, LB_EXIT_USAGE,
        "%s: the clients are on several machines, and a server that lockbench starts listens at 127.0.0.1: "
        "add --set servers.listen=ADDRESS, an IPv4 address of rank 0's machine that all machines reach, or --url",
        backend->name);
}

/* A mistake in a URL must not cost a run of an hour one of its backends, and a stage with a fault that could not act
 * must not come out as "clean". So URLs and faults are checked first. */
static int check_urls(const struct run_ask *ask, const struct plan_stage *stages, int count,
                      struct lb_err *err) {
    for (int i = 0; i < count; i++) {
        if (is_checked(stages, i)) continue;
        const struct place_ask place = {.lock = stages[i].lock,
                                        .url = run_url_of(ask, stages[i].lock->lock->backend),
                                        .topology = stages[i].topology,
                                        .topologies = ask->topologies,
                                        .tls = stages[i].tls};
        if (check_reach(ask, &stages[i], place.url, err) != 0) return -1;
        if (!place.url && (place_check_own_tls(&place, err) != 0 ||
                           place_check_acts(stages[i].plan, &place, err) != 0))
            return -1;
        if (!place.url) continue;
        if (place_check_url(&place, err) != 0) return -1;
        if (guest_check_prefix(stages[i].plan, stages[i].lock, err) != 0) return -1;
        struct lb_err why = {0};
        const char *ours = asked_of_ours(ask->plan);
        if (ours)
            return err_set(err, LB_EXIT_USAGE,
                           "%s: %s: the servers of %s are at --url, and not lockbench's",
                           stages[i].plan->name, ours, stages[i].lock->lock->backend->name);
        if (stages[i].distance.wired && place_wire_check_url(place.url, &why) != 0)
            return err_set(err, LB_EXIT_USAGE, "%s: servers.rtt: %s", stages[i].plan->name,
                           why.text);
        if (place_check_faults(stages[i].plan, place.url, &why) != 0)
            return err_set(err, LB_EXIT_USAGE,
                           "%s: %s is at --url, and %s: leave out --url, or choose a fault of "
                           "clients (pause, kill) or of their connections (wire-cut)",
                           stages[i].plan->name, stages[i].lock->lock->backend->name, why.text);
    }
    return 0;
}

/* Servers inherit this process's limit, and so it is raised before they start. */
static void raise_servers_limit(const struct plan_stage *stages, int count) {
    int most = 0;
    for (int i = 0; i < count; i++) most = stages[i].clients > most ? stages[i].clients : most;
    descriptors_raise(descriptors_of_servers(most));
}

int run_execute(const struct run_ask *ask, struct run_end *ret_end, struct lb_err *err) {
    struct run_state run = {.ask = ask, .guests = {.tell = ask->tell, .arg = ask->arg}};
    struct run_end end = {0};
    int count = 0, result = -1;
    struct plan_stage *stages = stages_new(ask->plan, &count);
    if (!stages) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    if (check_urls(ask, stages, count, err) != 0) goto out;
    if (conclusion_init(&run.conclusion, ask->plan, err) != 0) goto out;
    if (thresholds_init(&run.thresholds, ask->plan, err) != 0) goto out;
    result = run_begin_result(&run, err);
    if (result != 0) goto out;
    raise_servers_limit(stages, count);
    if (ask->next) {
        run_asked(&run);
    } else {
        count = run_keep_reachable(&run, stages, count);
        run_tell_expected(&run, stages, count);
        run_between_canaries(&run, stages, count);
    }
    guests_leave(&run.guests, run.warnings);
    run_conclude(&run, &end);
    run_save(&run, &end);
    *ret_end = end;
out:
    conclusion_done(&run.conclusion);
    thresholds_done(&run.thresholds);
    free(stages);
    json_decref(run.json);
    json_decref(run.stages);
    json_decref(run.servers);
    json_decref(run.skipped);
    json_decref(run.warnings);
    return result;
}
