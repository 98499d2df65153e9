/* stage_hosts: see stage_hosts.h. */
#include "bench/stage/stage_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/load/layout.h"
#include "drivers/clean.h"

static struct part stage_hosts_load_host(const struct stage_ask *ask);

#define CONNECT_NS (30 * LB_S_NS)       /* for all clients to open their sessions, and ... */
#define CONNECT_EACH_NS (10 * LB_MS_NS) /* ... so much more for each of them */
#define ARM_NS (2 * LB_MS_NS)           /* for each key that must be made ready on the server */

int64_t stage_connect_limit_ns(const struct stage_ask *ask) {
    return CONNECT_NS + ask->of.clients * CONNECT_EACH_NS;
}

/* New keys for each stage, so that the stage can't meet what an earlier one left; never drawn from the seed. The
 * coordinator of several hosts tells the keys to the others. */
static void name_keys(struct shared *shared, const struct stage_ask *ask) {
    struct lb_rng rng;
    rng_seed_unique(&rng);
    snprintf(shared->key_prefix, sizeof shared->key_prefix, "%s" LB_MARK "%08x-",
             ask->of.plan->key_prefix, (unsigned)rng_u64(&rng));
    shared->key_salt = rng_u64(&rng) >> 2;
    if (!ask->far.key_prefix) return;
    snprintf(shared->key_prefix, sizeof shared->key_prefix, "%s", ask->far.key_prefix);
    shared->key_salt = ask->far.key_salt;
}

struct shared *stage_shape(const struct stage_ask *ask, struct lb_err *err) {
    const struct part host = stage_hosts_load_host(ask);
    struct shared *shared =
        shared_new(ask->of.plan, ask->of.lock, &ask->place->server, ask->of.clients, &host, err);
    if (!shared) return NULL;
    shared->seed = ask->seed;
    shared->arrival = ask->of.plan->arrival;
    if (ask->of.rate_per_s > 0 && shared->arrival.kind != ARRIVAL_CLOSED)
        shared->arrival.rate_per_s = ask->of.rate_per_s;
    shared->readers = (ask->of.lock->lock->caps & LB_CAP_SHARED) ? ask->of.readers : 0;
    shared->one_key &= shared->readers == 0;
    shared->patience_ns = ask->promise.limit_ns;
    shared->connect_deadline_ns = lb_now() + stage_connect_limit_ns(ask);
    if (ask->of.lock->lock->algorithm->arm) shared->arm_ns = ARM_NS * (int64_t)shared->key_count;
    name_keys(shared, ask);
    return shared;
}

#define NEWS_NS LB_S_NS
#define EXCHANGES 100            /* of one measurement, before the load and after it ... */
#define EXCHANGES_IN_LOAD 20     /* ... and while it runs */
#define GO_NS (200 * LB_MS_NS)   /* for the word to reach all hosts before the load begins */
#define ANSWER_NS (60 * LB_S_NS) /* for the coordinator's word after everybody was to be ready */
#define LOOK_NS (200 * LB_MS_NS) /* between two looks while this host waits */

bool stage_hosts_coordinates(const struct stage_hosts *with) {
    return with->hosts && hosts_coordinates(with->hosts);
}

bool stage_hosts_has_first(const struct stage_hosts *with) {
    return !with->hosts || (!hosts_coordinates(with->hosts) && hosts_self(with->hosts) == 0);
}

const char *stage_hosts_why_not(const struct lb_lock *lock, const struct plan *plan) {
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

int stage_hosts_check_plan(const struct plan *plan, int hosts, struct lb_err *err) {
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

/* The load host of this process, for shared_new; threads and processes of a load host as the coordinator chose them. */
static struct part stage_hosts_load_host(const struct stage_ask *ask) {
    if (!ask->hosts) return (struct part){.count = 0};
    bool coordinates = hosts_coordinates(ask->hosts);
    return (struct part){.count = ask->hosts->count,
                         .self = coordinates ? PART_NONE : hosts_self(ask->hosts),
                         .threads = ask->far.threads,
                         .processes = ask->far.processes,
                         .processors = coordinates ? least_processors(ask->hosts) : 0};
}

/* The URL by which load hosts reach the server: for a server that lockbench started, the address servers.listen. */
static json_t *url_json(const struct stage_ask *ask) {
    static const char here[] = "@127.0.0.1:", bare[] = "//127.0.0.1:";
    const char *url = ask->place->server.url_count > 0 ? ask->place->server.urls[0] : NULL;
    if (!url) return json_null();
    const char *at = strstr(url, here);
    if (!at) at = strstr(url, bare);
    if (!ask->place->topo || !at || !*ask->of.plan->listen) return json_string(url);
    at = strchr(at, '1');
    return json_sprintf("%.*s%s%s", (int)(at - url), url, ask->of.plan->listen,
                        at + strlen("127.0.0.1"));
}

/* The values about the stage that a load host needs besides the plan. */
static json_t *ask_json(const struct stage_ask *ask, const struct shared *shared) {
    json_t *url = url_json(ask);
    return json_pack("{s:s, s:s, s:o, s:i, s:i, s:i, s:f, s:I, s:s, s:I, s:I, s:i, s:i}", "lock",
                     ask->of.lock->lock->name, "id", ask->id, "url", url, "clients",
                     ask->of.clients, "repeat", ask->of.repeat, "readers", ask->of.readers,
                     "rate_per_s", ask->of.rate_per_s, "seed", (json_int_t)ask->seed, "key_prefix",
                     shared->key_prefix, "key_salt", (json_int_t)shared->key_salt, "lease_ns",
                     (json_int_t)ask->of.plan->lease_ns, "threads", shared->threads, "processes",
                     shared->processes);
}

int stage_hosts_begin(struct stage_hosts *with, const struct stage_ask *ask,
                      const struct shared *shared, struct lb_err *err) {
    char why[300];
    hosts_expect(with->hosts);
    with->news_ns = lb_now();
    hosts_measure_clocks(with->hosts, EXCHANGES);
    hosts_need_clocks(with->hosts, with->news_ns);
    if (hosts_lost(with->hosts, why, sizeof why) > 0)
        return err_set(err, LB_EXIT_MACHINE, "%s", why);
    json_t *json = ask_json(ask, shared);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (!text) return err_set(err, LB_EXIT_MACHINE, "out of memory for what hosts are asked");
    struct message message = {.word = WORD_STAGE, .blob = text, .blob_bytes = strlen(text)};
    hosts_tell_all(with->hosts, &message);
    free(text);
    return 0;
}

/* ---- the moments ---- */

/* Measures the clocks, which also shows the hosts that the coordinator still runs. */
static void keep_talking(struct stage_hosts *with) {
    if (lb_now() - with->news_ns < COORDINATOR_TALKS_NS) return;
    with->news_ns = lb_now();
    hosts_measure_clocks(with->hosts, EXCHANGES_IN_LOAD);
}

/* Waits for one host to be ready. 0, or -1 with err, and then the host is in trouble or lost, or the run was
 * interrupted. */
static int await_host(struct stage_hosts *with, int host, enum moment moment, int64_t deadline_ns,
                      struct lb_err *err) {
    struct hosts *hosts = with->hosts;
    struct message message;
    char why[300];
    while (!hosts->host[host].lost) {
        int64_t now_ns = lb_now(), next_ns = now_ns + LOOK_NS;
        keep_talking(with);
        if (moment<MOMENT_DRAINED && * with->interrupts> 0)
            return err_set(err, LB_EXIT_INTERRUPTED, "interrupted");
        if (now_ns >= deadline_ns) {
            hosts_lose(hosts, host, "it was not ready in time");
            break;
        }
        if (hosts_hear(hosts, host, &message, next_ns < deadline_ns ? next_ns : deadline_ns) != 1)
            continue;
        free(message.blob);
        if (message.word == WORD_READY && message.value[0] == (int64_t)moment) return 0;
        /* A host whose load ended early still drains, and its figures say why. */
        if (message.word == WORD_TROUBLE && moment < MOMENT_DRAINED)
            return err_set(err, (int)message.value[0], "host %d (%s): %s", host + 1,
                           hosts->host[host].name, message.text);
    }
    hosts_lost(hosts, why, sizeof why);
    return err_set(err, LB_EXIT_MACHINE, "%s", why);
}

static int meet_as_coordinator(struct stage_hosts *with, enum moment moment, int64_t deadline_ns,
                               struct lb_err *err) {
    struct hosts *hosts = with->hosts;
    bool begun = moment >= MOMENT_DRAINED;
    int failed = 0;
    for (int i = 0; i < hosts->count; i++) {
        struct lb_err why = {0};
        if (await_host(with, i, moment, deadline_ns, &why) == 0 || begun) continue;
        failed = err_set(err, why.code, "%s", why.text);
    }
    /* The hosts wait for a word, and answer at once. The whole load lies between this measurement and the one before
     * it. */
    if (moment == MOMENT_DRAINED) {
        int64_t begin_ns = lb_now();
        hosts_measure_clocks(hosts, EXCHANGES);
        hosts_need_clocks(hosts, begin_ns);
    }
    struct message on = {.word = failed ? WORD_GIVE_UP : WORD_ON, .value = {moment}};
    hosts_tell_all(hosts, &on);
    return failed;
}

static int report_ready(struct stage_hosts *with, enum moment moment, struct lb_err *err) {
    return hosts_report(with->hosts, &(struct message){.word = WORD_READY, .value = {moment}}, err);
}

static int report_news(struct stage_hosts *with, const struct shared *shared, struct lb_err *err) {
    int64_t now_ns = lb_now();
    struct message news = {.word = WORD_NEWS, .value = {shared ? 0 : -1}};
    if (now_ns - with->news_ns < NEWS_NS) return 0;
    with->news_ns = now_ns;
    for (int i = 0; shared && i < shared->threads; i++)
        news.value[0] += (int64_t)atomic_load(&shared->worker[i].outcomes[LB_OK]);
    return hosts_report(with->hosts, &news, err);
}

/* Whether for the coordinator this stage is over: the word is for serve_run. */
static bool is_of_run(enum word word) {
    return word == WORD_PLAN || word == WORD_STAGE || word == WORD_LEAVE;
}

/* Waits for one of the coordinator's words, and reports that this host lives. 0, or -1 with err: the coordinator ends
 * the stage, or does not answer. */
static int wait_for(struct stage_hosts *with, enum word word, int64_t deadline_ns,
                    int64_t *ret_value, struct lb_err *err) {
    struct message message;
    while (lb_now() < deadline_ns) {
        if (report_news(with, NULL, err) != 0 || hosts_check_coordinator(with->hosts, err) != 0)
            return -1;
        int got = hosts_wait(with->hosts, &message, lb_now() + LOOK_NS, err);
        if (got < 0) return -1;
        if (got == 0) continue;
        bool over = is_of_run(message.word);
        if (over)
            hosts_put_back(with->hosts, &message);
        else
            free(message.blob);
        if (over || message.word == WORD_GIVE_UP)
            return err_set(err, LB_EXIT_MACHINE, "the coordinator (rank 0) ended the stage");
        if (message.word != word) continue;
        *ret_value = message.value[0];
        return 0;
    }
    return err_set(err, LB_EXIT_MACHINE, "the coordinator (rank 0) said nothing for too long");
}

int stage_hosts_meet(struct stage_hosts *with, enum moment moment, const struct lb_err *trouble,
                     int64_t deadline_ns, struct lb_err *err) {
    if (!with->hosts) return 0;
    if (hosts_coordinates(with->hosts)) return meet_as_coordinator(with, moment, deadline_ns, err);
    int64_t reached;
    with->loads = false;
    if (trouble) {
        if (hosts_report_trouble(with->hosts, trouble, err) != 0) return -1;
        return err_set(err, trouble->code, "%s", trouble->text);
    }
    if (report_ready(with, moment, err) != 0) return -1;
    return wait_for(with, WORD_ON, lb_after(deadline_ns, ANSWER_NS), &reached, err);
}

int stage_hosts_go(struct stage_hosts *with, int64_t *ret_go_ns, struct lb_err *err) {
    struct message go = {.word = WORD_GO};
    if (!with->hosts) return 0;
    if (!hosts_coordinates(with->hosts)) {
        if (wait_for(with, WORD_GO, lb_now() + ANSWER_NS, ret_go_ns, err) != 0) return -1;
        with->loads = true;
        return 0;
    }
    int64_t go_ns = lb_now() + GO_NS;
    for (int i = 0; i < with->hosts->count; i++) {
        go.value[0] = go_ns + clock_at(&with->hosts->host[i].clock, go_ns).offset_ns;
        hosts_tell(with->hosts, i, &go);
    }
    *ret_go_ns = go_ns;
    with->news_ns = go_ns;
    return 0;
}

/* ---- while the load runs ---- */

static int look_as_coordinator(struct stage_hosts *with, struct lb_err *err) {
    struct hosts *hosts = with->hosts;
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
    char why[300];
    if (!with->told && hosts_lost(hosts, why, sizeof why) > 0) {
        with->told = true;
        failed = err_set(err, LB_EXIT_MACHINE, "%s", why);
    }
    keep_talking(with);
    return failed;
}

int stage_hosts_look(struct stage_hosts *with, const struct shared *shared, bool *ret_end,
                     struct lb_err *err) {
    struct message message;
    if (!with->hosts) return 0;
    if (hosts_coordinates(with->hosts)) return look_as_coordinator(with, err);
    if (report_news(with, shared, err) != 0 || hosts_check_coordinator(with->hosts, err) != 0)
        return -1;
    /* A word that came before this host waits for it. */
    if (with->hosts->has_kept) return 0;
    int got = hosts_wait(with->hosts, &message, 0, err);
    if (got < 0) return -1;
    if (got == 0) return 0;
    *ret_end = message.word == WORD_END || is_of_run(message.word);
    if (*ret_end) with->loads = false;
    if (message.word == WORD_END)
        free(message.blob);
    else
        hosts_put_back(with->hosts, &message);
    return 0;
}

void stage_hosts_end(struct stage_hosts *with, const struct lb_err *why) {
    if (stage_hosts_coordinates(with))
        hosts_tell_all(with->hosts, &(struct message){.word = WORD_END});
    if (!with->loads) return;
    struct lb_err unheard = {0}; /* the next look says that the coordinator does not listen */
    with->loads = false;
    hosts_report_trouble(with->hosts, why, &unheard);
}
