/* cmd_capacity_run: see capacity.h. */
#include "bench/tools/capacity/capacity.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/base/processors.h"
#include "bench/load/shared.h"
#include "bench/option/option.h"
#include "bench/place/guest.h"
#include "bench/stage/machine.h"
#include "bench/workload/schedule.h"
#include "bench/workload/stages.h"
#include "report/doc/number.h"
#include "results/format/capacity_read.h"

#define SATURATE_NS (3 * LB_S_NS)
/* Clients of the closed loop on one key: about as many wait for the key near the edge. */
#define SATURATE_CLIENTS 8
/* The step between the seeds of two probes, which differ in all their arrivals. The step is greater
 * than the numbers that are added for repeats. */
#define SEED_STEP 1000
#define PROBES "probes" /* the folder of the runs */

/* What one run is asked for. */
struct load {
    double value; /* a rate, or clients; 0 = the closed loop before a search by rate */
    int clients;
    int64_t warmup_ns, window_ns;
};

/* ---- what is shown ---- */

/* How long the search may take, which is known from here on. */
static void show_begin(struct capacity_search *state, const struct lock_search *lock_search) {
    char line[200], budget[NUMBER_TEXT_MAX], each[NUMBER_TEXT_MAX];
    const struct search *search = &lock_search->search;
    struct window window = search_window(search, search->ask.start);
    snprintf(line, sizeof line, "%-20s probes for at most %s (--time), about %s each",
             lock_search->lock->lock->name, number_time_text(1e9 * search->ask.budget_s, budget),
             number_time_text(1e9 * (window.warmup_s + window.duration_s), each));
    progress_line(state->quiet, line);
}

static void show_probe(struct capacity_search *state, const struct lock_search *lock_search) {
    const struct probe *probe = &lock_search->probes[lock_search->probe_count - 1];
    char line[300], value[NUMBER_TEXT_MAX], low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX],
        between[120] = "";
    const char *limit = probe_limit_text(probe->limit); /* also of a promise that was kept */
    const char *why = limit ? limit : probe_unsure_text(probe);
    if (!isnan(probe->low_ns)) {
        snprintf(between, sizeof between, " (%s .. %s)", number_time_text(probe->low_ns, low),
                 isnan(probe->high_ns) ? "never" : number_time_text(probe->high_ns, high));
    }
    snprintf(line, sizeof line,
             "%-20s probe %2d  %8.6g%s: %s%s, %llu of %llu over the limit%s: %s%s%s",
             lock_search->lock->lock->name, lock_search->probe_count, probe->seen.load,
             state->by_clients ? " clients" : "/s",
             isnan(probe->quantile_ns) ? "never" : number_time_text(probe->quantile_ns, value),
             between, (unsigned long long)probe->seen.over, (unsigned long long)probe->seen.samples,
             probe->seen.grew ? ", the backlog grew" : "", promise_verdict_name(probe->verdict),
             why ? ": " : "", why ? why : "");
    progress_line(state->quiet, line);
}

/* capacity_per_s: of the closed loop before a search by rate; else 0. */
static void begin_search(struct capacity_search *state, struct lock_search *lock_search,
                         double capacity_per_s) {
    struct search_ask ask = {.most = state->most,
                             .allowed = 1 - state->slo.quantile,
                             .whole = state->by_clients,
                             .seed = state->plan->seed,
                             .capacity_per_s = capacity_per_s,
                             .limit_s = (double)state->slo.limit_ns / 1e9,
                             .warmup_s = (double)state->plan->warmup_ns / 1e9,
                             .budget_s = (double)state->asked_ns / 1e9};
    search_init(&lock_search->search, &ask);
    show_begin(state, lock_search);
}

/* ---- what runs next ---- */

/* A short closed loop, which shows about how much the lock can do. */
static struct load saturation(const struct plan *plan) {
    bool hot = plan->keys.pick != KEYS_OWN && plan->keys.count == 1;
    bool few = hot && plan->clients[0] > SATURATE_CLIENTS;
    return (struct load){.clients = few ? SATURATE_CLIENTS : plan->clients[0],
                         .warmup_ns = plan->warmup_ns,
                         .window_ns = SATURATE_NS};
}

/* Fills in the next load of a lock. False if its search is over. */
static bool next_of_lock(struct capacity_search *state, struct lock_search *lock_search,
                         struct load *ret) {
    const struct plan *plan = state->plan;
    bool first = !lock_search->begun, closed = state->by_clients;
    double value;
    lock_search->begun = true;
    if (first && !closed) {
        *ret = saturation(plan);
        return true;
    }
    struct window window;
    if (first) begin_search(state, lock_search, 0);
    bool more = search_next_probe(&lock_search->search, &value, &window);
    if (more)
        *ret = (struct load){.value = value,
                             .clients = closed ? (int)value : plan->clients[0],
                             .warmup_ns = (int64_t)(window.warmup_s * 1e9),
                             .window_ns = (int64_t)(window.duration_s * 1e9)};
    return more;
}

/* NULL: all searches are over. */
static struct lock_search *next_lock(struct capacity_search *state, struct load *ret) {
    for (int i = 0; i < state->count; i++) {
        int at = (state->turn + i) % state->count;
        struct lock_search *lock_search = &state->locks[at];
        if (!lock_search->done && next_of_lock(state, lock_search, ret)) {
            state->turn = state->together ? at + 1 : at;
            return lock_search;
        }
        lock_search->done = true;
    }
    return NULL;
}

/* ---- problems ---- */

/* "redis-setnx: its server ended": said, but not twice in a row; the first is kept in *first. */
static void note(struct capacity_search *state, const struct lock_search *lock_search,
                 struct lb_err *first, int code, const char *text) {
    struct lb_err line = {0};
    const char *name = lock_search->lock->lock->name;
    bool named = strncmp(text, name, strlen(name)) == 0;
    err_set(&line, code, "%s%s%.300s", named ? "" : name, named ? "" : ": ", text);
    err_set(first, code, "%s", line.text); /* keeps an earlier one */
    if (strcmp(state->said, line.text) == 0) return;
    snprintf(state->said, sizeof state->said, "%.399s", line.text);
    progress_say(NULL, line.text);
}

static bool is_interrupted(const struct capacity_search *state) {
    return *state->interrupts > 0;
}

/* ---- servers ---- */

static struct place_ask place_ask_of(const struct capacity_search *state,
                                     const struct lock_search *lock_search) {
    const struct plan *plan = state->plan;
    return (struct place_ask){.lock = lock_search->lock,
                              .topology = lock_search->topology,
                              .topologies = state->topologies,
                              .durability = plan->durability,
                              .program = plan->program,
                              .listen = plan->listen,
                              .tls = plan->tls == PLAN_TLS_YES,
                              .interrupts = state->interrupts};
}

/* Whether the two run on the same servers. */
static bool are_together(const struct lock_search *a, const struct lock_search *b) {
    if (a->url || b->url) return a->url == b->url;
    return a->topology && b->topology && strcmp(a->topology, b->topology) == 0;
}

/* Says which servers a lock needs. What will be made on those at --url is told once. 0, or -1 with err. */
static int take_servers(struct capacity_search *state, struct lock_search *lock_search,
                        struct lb_err *err) {
    const struct lb_lock *lock = lock_search->lock->lock;
    struct place_url at = {.url = NULL};
    char line[GUEST_LINE_MAX];
    for (int i = 0; i < state->urls->count; i++) {
        if (state->urls->item[i].backend != lock->backend) continue;
        at = state->urls->item[i];
        lock_search->url = at.word;
    }
    if (!at.url) lock_search->topology = topologies_of(state->plan, lock, 0);
    lock_search->host = state->locks;
    while (lock_search->host != lock_search && !are_together(lock_search->host, lock_search))
        lock_search->host++;
    at.options = lock_search->lock->backend_options;
    if (at.url && lock_search->host == lock_search) {
        guest_foretell(&at, state->plan, line);
        fprintf(stderr, "%s\n", line);
    }
    struct place_ask place_ask = place_ask_of(state, lock_search);
    return at.url ? 0 : place_check_own(&place_ask, err);
}

static void close_servers(struct capacity_search *state) {
    for (int i = 0; i < state->count; i++) {
        place_close(state->locks[i].place);
        state->locks[i].place = NULL;
    }
}

/* Starts the servers of a lock, unless they are up. -1 with err. */
static int open_servers(struct capacity_search *state, struct lock_search *lock_search,
                        struct lb_err *err) {
    struct place **place = &lock_search->host->place;
    if (!lock_search->topology) return 0;
    struct place_ask place_ask = place_ask_of(state, lock_search);
    if (!*place && !state->together) close_servers(state);
    if (!*place) *place = place_open(&place_ask, err);
    if (*place) lock_search->was = **place;
    return *place ? 0 : -1;
}

/* ---- one run ---- */

/* A request that is due right before the window's end still has the whole limit to be granted. */
static int64_t drain_most_ns(const struct capacity_search *state) {
    int64_t drain_ns = state->plan->drain_ns;
    return drain_ns > state->slo.limit_ns ? drain_ns : state->slo.limit_ns;
}

/* Writes the workload of a run. 0, or -1 with err. */
static int write_workload(const struct capacity_search *state,
                          const struct lock_search *lock_search, const struct load *load,
                          const char *path, struct lb_err *err) {
    const struct plan *plan = state->plan;
    struct plan own = *plan;
    char slo[80] = "";
    int threads = plan->threads > 0 ? plan->threads : state->threads;
    own.locks = (struct plan_lock[]){*lock_search->lock};
    own.lock_count = own.clients_count = own.repeat = 1;
    own.lock_words = lock_search->lock->lock->name;
    own.clients[0] = load->clients;
    own.threads = threads < load->clients ? threads : load->clients;
    if (own.processes > load->clients) own.processes = load->clients;
    own.seed += SEED_STEP * (uint64_t)(lock_search->probe_count + 1);
    own.warmup_ns = load->warmup_ns;
    own.duration_ns = load->window_ns;
    bool closed = state->by_clients || load->value == 0;
    own.arrival = (struct arrival){.kind = closed ? ARRIVAL_CLOSED : ARRIVAL_POISSON,
                                   .rate_per_s = closed ? 0 : load->value};
    own.stops = load->value > 0;
    own.promises = own.stops ? slo_text(&state->slo, slo, sizeof slo) : "";
    if (own.stops) own.drain_ns = drain_most_ns(state);
    if (lock_search->topology) { /* what its servers are was decided when they were started */
        own.tls = PLAN_TLS_NO;
        own.program = own.listen = "";
    }
    FILE *file = fopen(path, "we");
    if (file) plan_print(&own, file);
    bool failed = !file || ferror(file);
    if (file) failed |= fclose(file) != 0;
    return failed ? err_set(err, LB_EXIT_MACHINE, "cannot write %s: %s", path, strerror(errno)) : 0;
}

/* Runs it in a folder that is there. 0, or -1 with err: it could not be started. */
static int run_one(struct capacity_search *state, const struct lock_search *lock_search,
                   const struct load *load, const char *folder, struct job_end *ret_end,
                   struct lb_err *err) {
    static const struct lb_option option = {.name = "url", .type = &type_url};
    const struct lb_lock *lock = lock_search->lock->lock;
    char log[720], workload[720], url[700], ca[700];
    struct urls urls = {.count = 0};
    struct arena arena = {0};
    const char *argv[] = {"run",       workload, "--lock", lock->name, "--out", folder, "--quiet",
                          "--no-page", NULL,     NULL,     NULL,       NULL,    NULL};
    const char **more = argv + 8;
    int failed = 0;
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(workload, sizeof workload, "%s/workload.ini", folder);
    const struct topo *topo = lock_search->topology ? lock_search->host->place->topo : NULL;
    /* The URL of our own has a password, which is handed on by the environment. */
    if (topo) {
        snprintf(url, sizeof url, "%s=%s", lock->backend->name, topo_url(topo));
        failed = option_set(&option, &urls, url, "url", &arena, err) != 0 ||
                 urls_hand_on(&urls, err) != 0;
    }
    if (!failed) failed = write_workload(state, lock_search, load, workload, err);
    if (topo || lock_search->url) {
        *more++ = "--url";
        *more++ = topo && !failed ? urls.item[0].word : lock_search->url;
    }
    const char *authority = topo ? topo_ca(topo) : NULL;
    if (authority && !options_find(lb_backend_options(lock->backend), "tls_ca")) {
        setenv("LOCKBENCH_CA", authority, 1); /* for a program that is the client */
    } else if (authority) {
        snprintf(ca, sizeof ca, "%s.tls_ca=%s", lock->backend->name, authority);
        *more++ = "--set";
        *more++ = ca;
    }
    int64_t load_ns = load->warmup_ns + load->window_ns + drain_most_ns(state);
    struct job job = {.argv = argv, .log = log, .weight = 1, .limit_ns = JOB_LIMIT_NS(load_ns)};
    if (!failed) failed = jobs_run(&state->jobs, &job, state->interrupts, ret_end, err);
    arena_done(&arena);
    return failed ? -1 : 0;
}

/* ---- what it left ---- */

static void note_probe(struct capacity_search *state, struct lock_search *lock_search,
                       const struct load *load, const struct run *run, const char *name) {
    const struct run_stage *stage = &run->stages[0];
    struct probe_log log;
    struct lb_err err = {0};
    char path[900];
    struct probe_ask ask = {.window_s = (double)load->window_ns / 1e9,
                            .one_key = keys_have_one_holder(lock_search->lock->lock) &&
                                       keys_count(&state->plan->keys, load->clients) == 1};
    snprintf(path, sizeof path, "%s/%s/%s.hlog", state->out.path, name, stage->id);
    bool read = probe_log_read(&log, &state->slo, path, &err) == 0;
    struct probe probe = probe_read(&ask, stage, read ? &log : NULL);
    probe_log_done(&log);
    if (!read && !is_interrupted(state))
        note(state, lock_search, &state->trouble, LB_EXIT_MACHINE, err.text);
    probe.seen.load = load->value;
    snprintf(probe.run, sizeof probe.run, "%s", name);
    search_add(&lock_search->search, &probe.seen);
    lock_search->probes[lock_search->probe_count++] = probe;
    show_probe(state, lock_search);
}

/* The throughput of the closed loop. Of n grants that a serial lock made in a time, only n - 1
 * certainly lie in that time as a whole. */
static double saturated_per_s(const struct run_stage *stage) {
    bool measured = strcmp(stage->status, "complete") == 0 && stage->throughput_per_s > 0;
    return measured ? fmax(0, stage->throughput_per_s - 1 / stage->duration_s) : 0;
}

/* What a run found of exclusion, and what went wrong with it. why: its last words, or how it was cut off. */
static void note_findings(struct capacity_search *state, struct lock_search *lock_search,
                          const struct run *run, int exit_code, bool cut, const char *why) {
    bool failed = exit_code == LB_EXIT_USAGE || exit_code == LB_EXIT_MACHINE;
    state->measured = true;
    state->granted |= run->stages[0].grants > 0;
    /* A baseline is no lock: each of its clients has a cell of its own. */
    lock_search->violated |= verdict_is(run->stages[0].verdict, VERDICT_VIOLATED);
    if (exit_code == LB_EXIT_VIOLATED) {
        note(state, lock_search, &state->violated, exit_code, why);
    } else if (cut && !is_interrupted(state)) {
        note(state, lock_search, &state->trouble, LB_EXIT_MACHINE, why);
    } else if (verdict_is(run->verdict, VERDICT_CONTROL_MISSED)) {
        err_set(&lock_search->missed, LB_EXIT_MACHINE, "%s", why);
    } else if (verdict_is(run->verdict, VERDICT_NOTHING_GRANTED) && !run->partial) {
        err_set(&state->nothing, LB_EXIT_MACHINE, "%s", why);
    } else if ((failed || run->partial) && !is_interrupted(state)) {
        note(state, lock_search, &state->trouble, LB_EXIT_MACHINE,
             run->partial && run->partial_reason ? run->partial_reason : why);
    }
}

/* Prints each warning of the runs once. Not what the answer says, too, of noise and of a load that is too high; what is
 * left on servers of our own, which end; and the run's last words (why), which are told as its failure. */
static void tell_warnings(struct capacity_search *state, const struct lock_search *lock_search,
                          const struct run *run, const char *why) {
    const json_t *warning;
    size_t i;
    json_array_foreach(run->warnings, i, warning) {
        const char *line = json_string_value(warning);
        if (!line || json_object_get(state->told, line)) continue;
        if (strstr(line, "`lockbench doctor") || strstr(line, "the queue grows without end") ||
            (!lock_search->url && strstr(line, "`lockbench clean")) ||
            (*why && strncmp(line, why, strlen(why)) == 0))
            continue;
        json_object_set_new(state->told, line, json_true());
        fprintf(stderr, "%s\n", line);
    }
}

/* A run has ended: 0, or -1 with err if it left no stage. */
static int take_run(struct capacity_search *state, struct lock_search *lock_search,
                    const struct load *load, const struct job_end *end, const char *name,
                    struct lb_err *err) {
    char folder[700], log[720], why[400];
    struct lb_err unread = {0};
    snprintf(folder, sizeof folder, "%s/%s", state->out.path, name);
    snprintf(log, sizeof log, "%s/log", folder);
    jobs_last_words(log, why, sizeof why);
    struct run *run = run_read(folder, &unread);
    if (run) tell_warnings(state, lock_search, run, why);
    bool cut = end->exit_code != LB_EXIT_VIOLATED && job_was_cut(end, why, sizeof why);
    if (!run || run->stage_count == 0) {
        bool usage = end->exit_code == LB_EXIT_USAGE;
        err_set(err, usage ? LB_EXIT_USAGE : LB_EXIT_MACHINE, "%s", *why ? why : unread.text);
        run_free(run);
        return -1;
    }
    note_findings(state, lock_search, run, end->exit_code, cut, why);
    double took_s = (double)end->took_ns / 1e9;
    if (load->value > 0) {
        note_probe(state, lock_search, load, run, name);
        lock_search->search.cost_s = fmax(lock_search->search.cost_s, took_s);
    } else {
        begin_search(state, lock_search, saturated_per_s(&run->stages[0]));
    }
    lock_search->search.spent_s += took_s;
    run_free(lock_search->last);
    lock_search->last = run;
    return 0;
}

/* Runs a load of a lock, in probes/007-redis-setnx. -1 with err: the lock can't be searched further. */
static int run_load(struct capacity_search *state, struct lock_search *lock_search,
                    const struct load *load, struct lb_err *err) {
    char name[96], folder[700];
    struct job_end end;
    if (open_servers(state, lock_search, err) != 0) return -1;
    snprintf(name, sizeof name, PROBES "/%03d-%.80s", state->number++,
             lock_search->lock->lock->name);
    snprintf(folder, sizeof folder, "%s/%s", state->out.path, name);
    if (jobs_make_folder(folder, err) != 0) return -1;
    int failed = run_one(state, lock_search, load, folder, &end, err);
    /* Servers that have ended are started anew for the next run. */
    struct lb_err why = {0};
    bool lost = lock_search->topology && topo_check(lock_search->host->place->topo, &why) != 0;
    if (lost) note(state, lock_search, &state->trouble, why.code, why.text);
    if (!failed) failed = take_run(state, lock_search, load, &end, name, err);
    if (lost) {
        place_close(lock_search->host->place);
        lock_search->host->place = NULL;
    }
    return failed;
}

/* ---- the whole search ---- */

int capacity_search_out(struct capacity_search *search, const char *wanted, const char *results,
                        struct lb_err *err) {
    char probes[600];
    if (outdir_make(&search->out, wanted, results, "capacity", err) != 0) return -1;
    snprintf(probes, sizeof probes, "%s/" PROBES, search->out.path);
    return jobs_make_folder(probes, err);
}

int capacity_search_save(const struct capacity_search *search, const char *partial, bool ended,
                         json_t **ret, struct lb_err *err) {
    char path[700];
    *ret = capacity_result_json(search, partial, ended);
    if (!*ret) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    snprintf(path, sizeof path, "%s/" CAPACITY_FILE, search->out.path);
    if (result_write_file(*ret, path, err) != 0) return -1;
    if (search->granted) outdir_latest(&search->out);
    return 0;
}

void capacity_search_run(struct capacity_search *state) {
    struct lock_search *lock_search;
    struct load load;
    json_t *so_far;
    while (!is_interrupted(state) && (lock_search = next_lock(state, &load))) {
        struct lb_err err = {0}, ignored = {0}; /* the last write tries again, and reports it */
        lock_search->done = run_load(state, lock_search, &load, &err) != 0;
        if (err.code && !is_interrupted(state))
            note(state, lock_search, &state->trouble, err.code, err.text);
        if (!state->measured) continue; /* its folder stays free for the next search */
        capacity_search_save(state, "the search was cut off", false, &so_far, &ignored);
        json_decref(so_far);
    }
}

struct lb_err capacity_search_why(const struct capacity_search *search) {
    struct lb_err why = search->violated;
    for (int i = 0; i < search->count && !why.code; i++)
        if (!search->locks[i].violated) why = search->locks[i].missed;
    if (!why.code && is_interrupted(search))
        err_set(&why, LB_EXIT_INTERRUPTED, "interrupted%s",
                search->measured ? ": what was measured until then is saved" : "");
    if (!why.code) why = search->trouble;
    return why.code || search->granted ? why : search->nothing;
}

int capacity_search_begin(struct capacity_search *state, struct lb_err *err) {
    const struct plan *plan = state->plan;
    struct lb_err why = {0};
    struct processors seen = processors_look();
    cpu_set_t clients, servers;
    int nodes = 0;
    result_date(time(NULL), state->started_at);
    jobs_init(&state->jobs, NULL, 1);
    state->jobs.grace_ns += drain_most_ns(state);
    state->environment = environment_json();
    state->told = json_object();
    state->locks = calloc((size_t)plan->lock_count + 1, sizeof *state->locks);
    if (!state->locks || !state->environment || !state->told)
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (; state->count < plan->lock_count; state->count++) {
        struct lock_search *lock_search = &state->locks[state->count];
        struct topo_info info;
        lock_search->lock = &plan->locks[state->count];
        if (take_servers(state, lock_search, err) != 0) return -1;
        if (!lock_search->topology || lock_search->host != lock_search) continue;
        if (topo_info(state->topologies, lock_search->topology, &info, err) != 0) return -1;
        nodes += info.nodes;
    }
    descriptors_for_servers(plan->clients[0]);
    state->together = place_fit_together(nodes, &why);
    if (!state->together && state->count > 1) {
        char line[300];
        snprintf(line, sizeof line, "the locks do not take turns: %.200s", why.text);
        progress_line(state->quiet, line);
    }
    /* Each run is bound to one half of the processors, and has the threads of one that is not. */
    if (nodes > 0 && place_divide_processors(plan->processors_shared, &clients, &servers))
        state->threads = processors_usable(&seen) / 2;
    return 0;
}

void capacity_search_free(struct capacity_search *search) {
    for (int i = 0; i < search->count; i++) run_free(search->locks[i].last);
    if (search->locks) close_servers(search);
    json_decref(search->environment);
    json_decref(search->told);
    free(search->locks);
}
