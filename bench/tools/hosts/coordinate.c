/* coordinate: see stage_hosts.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/tools/hosts/stage_hosts.h"
#include "drivers/url.h"

#define PLAN_NS (30 * LB_S_NS) /* for all hosts to read the plan */

/* The names of the plan's locks, separated by commas; the caller frees. */
static char *lock_names(const struct plan *plan) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    for (int i = 0; out && i < plan->lock_count; i++)
        fprintf(out, "%s%s", i ? "," : "", plan->locks[i].lock->name);
    if (out) fclose(out);
    return text;
}

/* Its locks in the first line, then the workload file that gives the same plan. */
static char *plan_text(const struct plan *plan, size_t *ret_length) {
    char *text = NULL, *names = lock_names(plan);
    FILE *out = names ? open_memstream(&text, ret_length) : NULL;
    if (out) {
        fprintf(out, "%s\n", names);
        plan_print(plan, out);
        fclose(out);
    }
    free(names);
    return text;
}

static int await_ready(struct hosts *hosts, int host, int64_t deadline_ns, struct lb_err *err) {
    struct message message;
    const char *name = hosts->host[host].name;
    while (hosts_hear(hosts, host, &message, deadline_ns) == 1) {
        if (message.word == WORD_READY && message.blob) {
            json_decref(hosts->host[host].environment);
            hosts->host[host].environment = json_loadb(message.blob, message.blob_bytes, 0, NULL);
        }
        free(message.blob);
        if (message.word == WORD_READY) return 0;
        if (message.word == WORD_TROUBLE)
            return err_set(err, (int)message.value[0], "host %d (%s): %s", host + 1, name,
                           message.text);
    }
    return err_set(err, LB_EXIT_MACHINE, "host %d (%s) did not take the plan", host + 1, name);
}

int coordinate_plan(struct hosts *hosts, const struct plan *plan, struct lb_err *err) {
    size_t length = 0;
    char *text = plan_text(plan, &length);
    int failed = 0;
    if (!text) return err_set(err, LB_EXIT_MACHINE, "out of memory for the plan");
    hosts_expect(hosts);
    hosts_tell_all(hosts, &(struct message){.word = WORD_PLAN, .blob = text, .blob_bytes = length});
    free(text);
    for (int i = 0; i < hosts->count && !failed; i++)
        failed = await_ready(hosts, i, lb_now() + PLAN_NS, err);
    return failed;
}

static const char *why_not(const struct lb_lock *lock, const struct plan *plan) {
    bool apart = plan->keys.pick == KEYS_OWN || (lock->caps & LB_CAP_BASELINE);
    if (!lock->backend->topologies && !apart)
        return "it lives in the memory or the files of one host, and the clients are on several";
    if (lock->primitive != LB_MUTEX && !(lock->caps & (LB_CAP_SLOTS | LB_CAP_BASELINE)))
        return "on several hosts only locks with one holder at a time are checked";
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        if (plan->faults[i].kind != INJECT_NONE)
            return "faults act on one host, and the clients are on several: leave out the section [fault]";
    }
    if (plan->tick_ns > 0)
        return "runs of a tick are counted in the memory of one host, and the clients are on several: leave out load.tick";
    for (int i = 0; i < plan->distance_count; i++) {
        if (plan->distances[i].wired)
            return "a wire leads to clients of one host, and the clients are on several: leave out servers.rtt";
    }
    return NULL;
}

/* Refuses a plan with fewer clients than load hosts, or with a control that has a workload of its own. */
static int check_plan(const struct peers *peers, const struct plan *plan, struct lb_err *err) {
    int hosts = peers->part.count;
    for (int i = 0; i < plan->clients_count; i++) {
        if (plan->clients[i] >= hosts) continue;
        return err_set(
            err, LB_EXIT_USAGE,
            "load.clients: %d for %d load hosts: each host needs a client: --set load.clients=%d",
            plan->clients[i], hosts, hosts);
    }
    for (int i = 0; i < plan->lock_count; i++) {
        if (!plan->locks[i].plan) continue;
        return err_set(
            err, LB_EXIT_USAGE,
            "run.controls: %s has a workload of its own, and the clients are on several hosts: "
            "leave out run.controls",
            plan->locks[i].lock->name);
    }
    return 0;
}

/* Load hosts on other machines must reach the server of the coordinator. At a loopback address each of them would find
 * its own server, or none, and a good lock would be accused. */
static int check_reach(const struct peers *peers, const struct plan_stage *stage, const char *url,
                       struct lb_err *err) {
    const struct stage_hosts *with = peers->state;
    const struct lb_backend *backend = stage->lock->lock->backend;
    char shown[256];
    if (!url && stage->tls)
        return err_set(
            err, LB_EXIT_USAGE,
            "%s: only this host has the certificates of servers that lockbench starts, and the clients "
            "are on several: leave out servers.tls, or use --url",
            backend->name);
    if (!with->hosts->apart) return 0;
    if (url && url_is_local(url))
        return err_set(
            err, LB_EXIT_USAGE,
            "%s: the clients are on several machines, and each of them would look for %s on its own: "
            "give an address that all machines reach, or leave out --url and set servers.listen",
            backend->name, url_public(url, shown, sizeof shown));
    bool listens = *stage->plan->listen && strncmp(stage->plan->listen, "127.", 4) != 0;
    if (url || !backend->topologies || listens) return 0;
    return err_set(
        err, LB_EXIT_USAGE,
        "%s: the clients are on several machines, and a server that lockbench starts listens at 127.0.0.1: "
        "add --set servers.listen=ADDRESS, an IPv4 address of rank 0's machine that all machines reach, or --url",
        backend->name);
}

static json_t *machines(const struct peers *peers) {
    const struct hosts *hosts = ((const struct stage_hosts *)peers->state)->hosts;
    json_t *list = json_array();
    for (int i = 0; i < hosts->count; i++) {
        json_t *told = hosts->host[i].environment;
        json_array_append_new(list,
                              json_pack("{s:s, s:o}", "name", hosts->host[i].name, "environment",
                                        told ? json_incref(told) : json_object()));
    }
    return list;
}

/* The processors that each load host may use, at least: the coordinator may be a small machine. 0 = not known. */
static int least_processors(const struct hosts *hosts) {
    json_int_t least = 0;
    for (int i = 0; i < hosts->count; i++) {
        json_int_t usable =
            json_integer_value(json_object_get(hosts->host[i].environment, "cpus_usable"));
        if (usable > 0 && (least == 0 || usable < least)) least = usable;
    }
    return (int)least;
}

static int begin_run(struct peers *peers, const struct plan *plan, struct lb_err *err) {
    struct stage_hosts *with = peers->state;
    if (coordinate_plan(with->hosts, plan, err) != 0) return -1;
    peers->part.processors = least_processors(with->hosts);
    return 0;
}

void coordinate_join(struct stage_hosts *with) {
    with->peers.why_not = why_not;
    with->peers.check_plan = check_plan;
    with->peers.check_reach = check_reach;
    with->peers.begin_run = begin_run;
    with->peers.machines = machines;
    with->peers.part.processors = least_processors(with->hosts);
    /* The machines only the launcher knows. */
    snprintf(
        with->peers.again, sizeof with->peers.again,
        "lockbench-hosts launch mpirun --enable-recovery --hostfile HOSTS -np %d lockbench-hosts",
        with->hosts->count + 1);
}
