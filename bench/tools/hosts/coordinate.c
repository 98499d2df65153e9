/* coordinate: see stage_hosts.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/tools/hosts/stage_hosts.h"
#include "drivers/url.h"

#define PLAN_NS (30 * LB_S_NS) /* for all hosts to read the plan */
#define EXCHANGES 100          /* of one measurement, before the load and after it ... */
#define EXCHANGES_IN_LOAD 20   /* ... and while it runs */
#define START_NS (3 * LB_S_NS) /* for hosts to start their workers, and to say so */
/* for the word to reach all hosts, which then idle for at most a second, before the load begins */
#define GO_NS (1200 * LB_MS_NS)
#define LOOK_NS (200 * LB_MS_NS) /* between two looks for messages and for Ctrl-C */

/* ---- before the first stage ---- */

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

/* The workload file that gives the same plan, also where other locks can run. */
static char *plan_text(const struct plan *plan, size_t *ret_length) {
    struct plan own = *plan;
    char *text = NULL, *names = lock_names(plan);
    FILE *out = names ? open_memstream(&text, ret_length) : NULL;
    if (out) {
        own.lock_words = names;
        plan_print(&own, out);
        fclose(out);
    }
    free(names);
    return text;
}

/* Measures the clocks, which also shows the hosts that the coordinator still runs. */
static void keep_talking(struct hosts *hosts) {
    if (lb_now() - hosts->news_ns < COORDINATOR_TALKS_NS) return;
    hosts->news_ns = lb_now();
    hosts_measure_clocks(hosts, EXCHANGES_IN_LOAD, false);
}

/* Waits for one host to be ready. 0, or -1 with err, and then the host is in trouble or lost, or the run was
 * interrupted. */
static int await_host(struct hosts *hosts, int host, enum moment moment, int64_t deadline_ns,
                      struct lb_err *err) {
    struct message message;
    while (!hosts->host[host].lost) {
        int64_t now_ns = lb_now(), next_ns = now_ns + LOOK_NS;
        keep_talking(hosts);
        if (moment < MOMENT_DRAINED && hosts->interrupts && *hosts->interrupts > 0)
            return err_set(err, LB_EXIT_INTERRUPTED, "interrupted");
        if (now_ns >= deadline_ns) {
            hosts_lose(hosts, host, "it was not ready in time");
            break;
        }
        if (hosts_hear(hosts, host, &message, next_ns < deadline_ns ? next_ns : deadline_ns) != 1)
            continue;
        if (message.word == WORD_READY && message.blob_bytes > 0) {
            json_decref(hosts->host[host].environment);
            hosts->host[host].environment = json_loadb(message.blob, message.blob_bytes, 0, NULL);
        }
        free(message.blob);
        if (message.word == WORD_READY && message.value[0] == (int64_t)moment) return 0;
        /* A host whose load ended early still drains, and its figures say why. */
        if (message.word == WORD_TROUBLE && moment < MOMENT_DRAINED)
            return err_set(err, (int)message.value[0], "host %d (%s): %s", host + 1,
                           hosts->host[host].name, message.text);
    }
    return hosts_check_lost(hosts, err);
}

/* Refuses a plan with fewer clients than load hosts, and hands out others. */
static int begin_run(struct peers *peers, const struct plan *plan, struct lb_err *err) {
    struct hosts *hosts = peers->state;
    size_t length = 0;
    int failed = 0;
    for (int i = 0; i < plan->clients_count; i++) {
        if (plan->clients[i] >= hosts->count) continue;
        return err_set(
            err, LB_EXIT_USAGE,
            "load.clients: %d for %d load hosts: each host needs a client: --set load.clients=%d",
            plan->clients[i], hosts->count, hosts->count);
    }
    char *text = plan_text(plan, &length);
    if (!text) return err_set(err, LB_EXIT_MACHINE, "out of memory for the plan");
    hosts_expect(hosts);
    hosts->news_ns = lb_now();
    hosts_tell_all(hosts, &(struct message){.word = WORD_PLAN, .blob = text, .blob_bytes = length});
    free(text);
    for (int i = 0; i < hosts->count && !failed; i++)
        failed = await_host(hosts, i, MOMENT_PLANNED, lb_now() + PLAN_NS, err);
    return failed;
}

#define APART " is of one host, and the clients are on several: leave it out"

static const char *why_not(const struct lb_lock *lock, const struct plan *plan) {
    bool apart = plan->keys.pick == KEYS_OWN || (lock->caps & LB_CAP_BASELINE);
    if (!lock->backend->topologies && !apart)
        return "it lives in the memory or the files of one host, and the clients are on several";
    if (lock->primitive != LB_MUTEX && !(lock->caps & LB_CAP_BASELINE))
        return "on several hosts only locks with one holder at a time are checked";
    const char *local = NULL;
    if (plan->tick_ns > 0) local = "load.tick" APART;
    if (plan->store) local = "check.store" APART;
    for (int i = 0; i < PLAN_FAULTS_MAX; i++)
        if (plan->faults[i].kind != INJECT_NONE) local = "the section [fault]" APART;
    for (int i = 0; i < plan->rtts_count; i++)
        if (plan->rtts_ns[i] != NO_DURATION) local = "servers.rtt" APART;
    return local;
}

/* Load hosts on other machines must reach the server of the coordinator. At a loopback address each of them would find
 * its own server, or none, and a good lock would be accused. */
static int check_reach(const struct peers *peers, const struct plan_stage *stage, const char *url,
                       struct lb_err *err) {
    const struct hosts *hosts = peers->state;
    const struct lb_backend *backend = stage->lock->lock->backend;
    char shown[256];
    if (!url && stage->tls)
        return err_set(
            err, LB_EXIT_USAGE,
            "%s: only this host has the certificates of servers that lockbench starts, and the clients "
            "are on several: leave out servers.tls, or use --url",
            backend->name);
    if (!hosts->apart) return 0;
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
    const struct hosts *hosts = peers->state;
    json_t *list = json_array();
    for (int i = 0; i < hosts->count; i++) {
        json_t *told = hosts->host[i].environment;
        json_array_append_new(list,
                              json_pack("{s:s, s:o}", "name", hosts->host[i].name, "environment",
                                        told ? json_incref(told) : json_object()));
    }
    return list;
}

/* ---- a stage ---- */

/* Writes the URL by which load hosts reach the server: for a server that lockbench started, the address servers.listen. */
static void write_url(const struct stage_ask *ask, char *text, size_t size) {
    const char *url = ask->place->server.url_count > 0 ? ask->place->server.urls[0] : "";
    const char *at = strstr(url, "@127.0.0.1:");
    if (!at) at = strstr(url, "//127.0.0.1:");
    if (!ask->place->topo || !at || !*ask->of.plan->listen) {
        snprintf(text, size, "%s", url);
        return;
    }
    at = strchr(at, '1');
    snprintf(text, size, "%.*s%s%s", (int)(at - url), url, ask->of.plan->listen,
             at + strlen("127.0.0.1"));
}

/* Asks all hosts for the stage. */
static int begin(struct peers *peers, const struct stage_ask *ask, struct shared *shared,
                 struct lb_err *err) {
    struct hosts *hosts = peers->state;
    hosts->told = hosts->asked = false;
    hosts->interrupts = ask->interrupts;
    hosts_expect(hosts);
    hosts->news_ns = lb_now();
    for (int i = 0; i < hosts->count; i++) hosts->host[i].clock.count = 0;
    hosts_measure_clocks(hosts, EXCHANGES, true);
    if (hosts_check_lost(hosts, err) != 0) return -1;
    struct asked asked = {.of = ask->of,
                          .lock = (int32_t)(ask->of.lock - ask->of.plan->locks),
                          .threads = shared->threads,
                          .processes = shared->processes,
                          .key_salt = shared->key_salt};
    snprintf(asked.id, sizeof asked.id, "%s", ask->id);
    snprintf(asked.key_prefix, sizeof asked.key_prefix, "%s", shared->key_prefix);
    write_url(ask, asked.url, sizeof asked.url);
    hosts_tell_all(
        hosts, &(struct message){.word = WORD_STAGE, .blob = &asked, .blob_bytes = sizeof asked});
    hosts->asked = true;
    /* They begin now, after their clocks were measured. */
    shared->connect_deadline_ns += lb_now() - hosts->news_ns + START_NS;
    return 0;
}

/* A host that is lost is not waited for, but where nothing has been measured yet it ends the stage, as does any
 * trouble. */
static int meet(struct peers *peers, enum moment moment, const struct lb_err *trouble,
                int64_t deadline_ns, struct lb_err *err) {
    struct hosts *hosts = peers->state;
    (void)trouble;
    if (!hosts->asked) return 0;
    bool begun = moment >= MOMENT_DRAINED;
    int failed = 0;
    for (int i = 0; i < hosts->count; i++) {
        struct lb_err why = {0};
        if (await_host(hosts, i, moment, deadline_ns, &why) == 0 || begun) continue;
        failed = err_set(err, why.code, "%s", why.text);
    }
    /* The hosts wait for a word, and answer at once. The whole load lies between this measurement and the one before
     * it. */
    if (moment == MOMENT_DRAINED) hosts_measure_clocks(hosts, EXCHANGES, true);
    struct message on = {.word = failed ? WORD_GIVE_UP : WORD_ON, .value = {moment}};
    peers->go_ns = lb_now() + GO_NS;
    for (int i = 0; i < hosts->count; i++) {
        on.value[1] = peers->go_ns + clock_at(&hosts->host[i].clock, peers->go_ns).offset_ns;
        hosts_tell(hosts, i, &on);
    }
    return failed;
}

/* Says once that a host is in trouble; measures the clocks every 10 s. */
static int look(struct peers *peers, struct lb_err *err) {
    struct hosts *hosts = peers->state;
    int failed = 0;
    for (int i = 0; i < hosts->count; i++) {
        struct message message;
        if (hosts_hear(hosts, i, &message, 0) != 1) continue;
        if (message.word != WORD_TROUBLE) {
            hosts_keep(hosts, i, &message);
            continue;
        }
        failed = err_set(err, (int)message.value[0], "host %d (%s): %s", i + 1, hosts->host[i].name,
                         message.text);
        free(message.blob);
    }
    if (!hosts->told && hosts_check_lost(hosts, err) != 0) {
        hosts->told = true;
        failed = -1;
    }
    keep_talking(hosts);
    return failed;
}

static void end(struct peers *peers, const struct lb_err *why) {
    struct hosts *hosts = peers->state;
    (void)why;
    hosts_tell_all(hosts, &(struct message){.word = WORD_END});
}

struct peers coordinate(struct hosts *hosts) {
    struct peers peers = {.state = hosts,
                          .part = {.count = hosts->count, .self = PART_NONE},
                          .why_not = why_not,
                          .check_reach = check_reach,
                          .begin_run = begin_run,
                          .machines = machines,
                          .begin = begin,
                          .meet = meet,
                          .look = look,
                          .end = end,
                          .exchange = stage_pieces_gather};
    /* The machines only the launcher knows. */
    snprintf(
        peers.again, sizeof peers.again,
        "lockbench-hosts launch mpirun --enable-recovery --hostfile HOSTS -np %d lockbench-hosts",
        hosts->count + 1);
    return peers;
}
