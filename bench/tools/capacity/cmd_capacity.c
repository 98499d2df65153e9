/* cmd_capacity: `lockbench capacity`: the greatest load under which a lock keeps a promise. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/base/output.h"
#include "bench/cli/cli.h"
#include "bench/cli/shell.h"
#include "bench/cli/terminal.h"
#include "bench/option/text.h"
#include "bench/slo/slo.h"
#include "bench/tools/capacity/capacity.h"
#include "bench/workload/sections.h"
#include "bench/workload/stages.h"
#include "report/capacity/capacity_doc.h"
#include "results/format/capacity_read.h"

#define SETS_MAX 128
#define RATE_MOST 200000
#define CLIENTS_MOST 1000

struct typed {
    struct arg_list names, sets;
    const char *slo_word, *most_word, *out;
    struct urls urls;
    bool by_clients;
    enum report_format format;
    double most; /* a rate a second, or clients */
    int64_t time_ns;
    struct stage_promise slo; /* the promise that slo_word means */
    const char *locks;        /* the names with commas between */
};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct typed, names), .help = NULL}, "LOCK"},
    {{"lock", ARG_LIST, offsetof(struct typed, names), .help = "the same as LOCK"}, "A,B"},
    {{"search", LB_OPT_CHOICE8, offsetof(struct typed, by_clients), "rate",
      .choices = "rate,clients", .help = "what to search for: clients are of a closed loop"},
     "rate|clients"},
    {{"slo", LB_OPT_TEXT, offsetof(struct typed, slo_word),
      .help = "default: " SLO_BY_RATE "; of clients " SLO_BY_CLIENTS},
     "PROMISE"},
    {{"clients", ARG_KEY, offsetof(struct typed, sets),
      .choices = "load.clients=", .help = "the pool of clients that serves the requests"},
     "-c N"},
    {{"hold", ARG_KEY, offsetof(struct typed, sets),
      .choices = "load.hold=", .help = "how long a holder works; default 1ms"},
     "TIME"},
    {{"keys", ARG_KEY, offsetof(struct typed, sets), .choices = "load.keys=",
      .help = "default 1, a hot key; own, or many keys: the server's capacity"},
     "KEYS"},
    {{"most", LB_OPT_TEXT, offsetof(struct typed, most_word),
      .help = "the greatest load to try: 500/s; default 200000/s, or 1000 clients"},
     "LOAD"},
    {{"time", LB_OPT_DURATION, offsetof(struct typed, time_ns), .min = 20.0 * LB_S_NS,
      .max = 24 * 3600.0 * LB_S_NS,
      .help = "for each lock's probes; default: 150s, up to 10m for long limits and slow locks"},
     "-d TIME"},
    {{"set", ARG_LIST, offsetof(struct typed, sets), .max = SETS_MAX,
      .help = "a key of the workload (capacity), a lock or a backend; repeatable"},
     "SECTION.KEY=VALUE"},
    {{"url", &type_url, offsetof(struct typed, urls), .help = URLS_HELP}, "BACKEND=URL"},
    {{"out", ARG_PATH, offsetof(struct typed, out),
      .help = "the folder; default: results/<time>-capacity"},
     "DIR"},
    {{"json", ARG_PICK, offsetof(struct typed, format), .min = REPORT_JSON,
      .help = "print capacity.json"},
     NULL},
    {{"md", ARG_PICK, offsetof(struct typed, format), .min = REPORT_MD, .help = "Markdown"}, NULL},
    {{0}, NULL},
};

/* Refuses a --set of a key that the search sets, or that has no meaning in it. */
static int check_set(const char *text, bool by_clients, struct lb_err *err) {
    static const char *const own[] = {"load.arrival",  "load.rates",   "run.duration",
                                      "run.repeat",    "acquire.mode", "acquire.readers",
                                      "servers.fresh", "slo.stop",     "slo.promises",
                                      "load.clients" /* where it searches for them */};
    size_t length = strcspn(text, "= "), count = sizeof own / sizeof *own - !by_clients;
    for (size_t i = 0; i < count; i++) {
        if (strlen(own[i]) == length && strncmp(text, own[i], length) == 0)
            return err_set(err, LB_EXIT_USAGE,
                           "capacity: --set %.60s: the search sets that itself, by its options",
                           text);
    }
    return 0;
}

/* Adds the keys of the workload that the search sets. The plan must have the kind of arrivals that the search varies,
 * since think times are only allowed in a closed loop. The rate itself has no meaning here. */
static int add_sets(struct typed *typed, struct arena *arena, struct lb_err *err) {
    char clients[40];
    if (!typed->by_clients)
        return arg_list_add(&typed->sets, "load.arrival=poisson:1/s", arena, err);
    snprintf(clients, sizeof clients, "load.clients=%d", (int)typed->most);
    return arg_list_add(&typed->sets, "load.arrival=closed", arena, err) ||
           arg_list_add(&typed->sets, clients, arena, err);
}

/* Reads --most, a rate or a number of clients. */
static int read_most(struct typed *typed, struct arena *arena, struct lb_err *err) {
    static const struct lb_option rate = {"most", ARG_RATE, .min = 1e-6, .max = 1e7},
                                  clients = {"most", LB_OPT_INT, .min = 1, .max = PLAN_CLIENTS_MAX};
    static const char place[] = "capacity: --most";
    int64_t count = CLIENTS_MOST;
    const char *text = typed->most_word;
    typed->most = RATE_MOST;
    if (text && !typed->by_clients) return option_set(&rate, &typed->most, text, place, arena, err);
    if (text && option_set(&clients, &count, text, place, arena, err) != 0) return -1;
    if (typed->by_clients) typed->most = (double)count;
    return 0;
}

/* Rules about several options, and defaults that depend on others. */
static int complete(struct typed *typed, struct arena *arena, struct lb_err *err) {
    if (!typed->slo_word) typed->slo_word = typed->by_clients ? SLO_BY_CLIENTS : SLO_BY_RATE;
    if (slo_parse(typed->slo_word, &typed->slo, err) != 0) {
        err_prefix(err, "capacity: --slo");
        return -1;
    }
    if (typed->slo.metric != (typed->by_clients ? METRIC_ACQUIRE : METRIC_ACQUIRE_DUE))
        return err_set(
            err, LB_EXIT_USAGE,
            "capacity: --slo: a rate is promised acquire_due, and clients, which have no due "
            "times (--search clients), acquire");
    if (typed->names.count == 0)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: name a lock, or several; `lockbench list` has them");
    for (int i = 0; i < typed->sets.count; i++) {
        if (check_set(typed->sets.item[i], typed->by_clients, err) != 0) return -1;
    }
    if (read_most(typed, arena, err) != 0) return -1;
    typed->locks = arg_list_join(&typed->names, arena, err);
    return typed->locks ? add_sets(typed, arena, err) : -1;
}

/* Refuses a plan with several numbers of clients or kinds of servers, or without locks. */
static int check_plan(const struct plan *plan, struct lb_err *err) {
    if (plan->clients_count > 1)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: load.clients is the pool of clients: one number, not a list");
    const char *several = plan->rtts_count > 1         ? "servers.rtt"
                          : plan->tls == PLAN_TLS_BOTH ? "servers.tls"
                          : plan->leases_count > 1     ? "acquire.lease"
                                                       : NULL;
    if (several)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: %s has several values; a search is at one of them", several);
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        enum injection kind = plan->faults[i].kind;
        if (injections[kind].on == ON_SERVERS || plan->faults[i].target == TARGET_REPLICATION)
            return err_set(
                err, LB_EXIT_USAGE,
                "capacity: %s acts on servers, which stay as they are in a search: choose a "
                "fault of clients (pause, kill) or of their connections (wire-cut)",
                injections[kind].name);
    }
    return plan->lock_count > 0
               ? 0
               : err_set(err, LB_EXIT_USAGE, "capacity: no lock of these can run here");
}

/* Saves the result, elsewhere if its folder does not take it, and prints it. Returns the exit code. */
static int conclude_capacity(const struct typed *typed, const struct capacity_search *search) {
    struct lb_err why = capacity_search_why(search), lost = {0}, again = {0}, unmade = {0};
    struct capacity *capacity = NULL;
    json_t *result = NULL;
    char file[720];
    int code = why.code, unanswered = 0;
    bool whole = code == LB_EXIT_OK || code == LB_EXIT_VIOLATED;
    snprintf(file, sizeof file, "%s/" CAPACITY_FILE, search->out.path);
    /* a folder without figures stays free for the next search */
    bool saved = search->measured &&
                 capacity_search_save(search, whole ? NULL : why.text, true, &result, &lost) == 0;
    if (!saved && result && outdir_rescue(result, "capacity", file, sizeof file, &again) == 0)
        fprintf(stderr, "lockbench: %s; the answer was saved to %s instead\n", lost.text, file);
    else if (!saved && search->measured)
        fprintf(stderr, "lockbench: %s; nor elsewhere: %s\n", lost.text, again.text);
    if (result) capacity = capacity_from_json(result, file, &unmade);
    json_decref(result);
    if (capacity)
        capacity_write(capacity, typed->format, terminal_has_color(stdout), stdout, &unmade);
    if (saved) fprintf(stderr, "saved in %s\n", search->out.path);
    /* Prints the message if it was not printed before, or if a table has come after it. */
    if (code && (search->measured || !search->trouble.code))
        fprintf(stderr, "lockbench: %s\n", why.text);
    for (int i = 0; i < search->count; i++)
        unanswered += search_answer(&search->locks[i].search).limit == SEARCH_NO_ANSWER;
    if (code == LB_EXIT_OK && saved && unanswered > 0) {
        fprintf(stderr, "lockbench: no answer with confidence for %d of %d locks\n", unanswered,
                search->count);
        code = LB_EXIT_INCONCLUSIVE;
    }
    if (unmade.code) fprintf(stderr, "lockbench: %s\n", unmade.text);
    capacity_free(capacity);
    return code == LB_EXIT_OK && (lost.code || unmade.code) ? LB_EXIT_MACHINE : code;
}

static int run_search(const struct typed *typed, const struct plan *plan, const char *command,
                      struct lb_err *err) {
    char results[512], topologies[512];
    struct capacity_search search = {.plan = plan,
                                     .urls = &typed->urls,
                                     .slo = typed->slo,
                                     .by_clients = typed->by_clients,
                                     .most = typed->most,
                                     .asked_ns = typed->time_ns,
                                     .quiet = typed->format == REPORT_JSON,
                                     .topologies = topologies,
                                     .command = command,
                                     .interrupts = interrupt_watch(true)};
    if (home_results(results, sizeof results, err) != 0) return -1;
    if (home_path("compose/local", topologies, sizeof topologies, err) != 0) return -1;
    int code = capacity_search_begin(&search, err);
    if (code == 0) code = capacity_search_out(&search, typed->out, results, err);
    if (code == 0) {
        capacity_search_run(&search);
        code = conclude_capacity(typed, &search);
    }
    capacity_search_free(&search);
    return code;
}

static int run_capacity(void *values, const struct args *given, struct lb_err *err) {
    struct typed *typed = values;
    char workloads[512], *command = NULL;
    struct available available = {0};
    struct plan *plan = NULL;
    int result = -1;
    if (complete(typed, given->arena, err) != 0) return -1;
    if (home_path("workloads", workloads, sizeof workloads, err) != 0) goto out;
    if (available_init(&available, err) != 0) goto out;
    if (urls_ready(&typed->urls, given->arena, &available, err) != 0) goto out;
    if (urls_hand_on(&typed->urls, err) != 0) goto out;
    struct plan_ask plan_ask = {.workload = "capacity",
                                .folder = workloads,
                                .locks = typed->locks,
                                .sets = typed->sets.item,
                                .set_count = typed->sets.count,
                                .why_not = available_for_plan,
                                .why_not_context = &available};
    plan = plan_load(&plan_ask, err);
    if (!plan || check_plan(plan, err) != 0) goto out;
    if (urls_keep(&typed->urls, urls_plan_uses, plan, err) != 0) goto out;
    command =
        shell_command("lockbench", given->argc, given->argv, typed->urls.item, typed->urls.count);
    result = command ? run_search(typed, plan, command, err)
                     : err_set(err, LB_EXIT_MACHINE, "out of memory");
out:
    free(command);
    plan_free(plan);
    available_done(&available);
    return result;
}

static const struct example examples[] = {
    {"lockbench capacity redis-setnx", "the greatest rate at which the usual promise is kept"},
    {"lockbench capacity pg-advisory --search clients --slo 'acquire.p99<=50ms'",
     "the most clients, with a promise of your own"},
    {NULL, NULL},
};

const struct command command_capacity = {
    .name = "capacity",
    .summary = "search the greatest load under which a lock keeps a promise",
    .usage = "capacity LOCK... [OPTIONS]",
    .about =
        "Searches for the greatest rate of random (Poisson) requests at which a lock keeps a promise, or\n"
        "for the most clients, on real servers that it starts itself.\n"
        "Exit codes: 0 an answer for each lock, 5 not for each, 1 usage, 2 a server or the machine,\n"
        "3 exclusion violated, 130 interrupted (what was found is saved).",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_capacity,
};
