/* cmd_capacity: `lockbench capacity`: the greatest load under which a lock keeps a promise. */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/base/output.h"
#include "bench/cli/cli.h"
#include "bench/cli/page.h"
#include "bench/cli/progress.h"
#include "bench/cli/shell.h"
#include "bench/cli/terminal.h"
#include "bench/cli/urls.h"
#include "bench/option/text.h"
#include "bench/slo/slo.h"
#include "bench/tools/capacity/capacity_run.h"
#include "bench/tools/capacity/probe.h"
#include "bench/workload/sections.h"
#include "bench/workload/stages.h"
#include "report/capacity/capacity_doc.h"
#include "report/doc/number.h"
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
    enum progress_kind progress;
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
    PROGRESS_ARG,
    {{"json", ARG_PICK, offsetof(struct typed, format), .min = REPORT_JSON,
      .help = "print capacity.json"},
     NULL},
    {{"md", ARG_PICK, offsetof(struct typed, format), .min = REPORT_MD, .help = "Markdown"}, NULL},
    {{0}, NULL},
};

/* Refuses a --set of a key that the search sets, or that has no meaning in it. */
static int check_set(const char *text, bool by_clients, struct lb_err *err) {
    static const char *const own[] = {"load.arrival", "load.rates",   "run.duration",
                                      "run.repeat",   "acquire.mode", "acquire.readers"};
    size_t length = strcspn(text, "= ");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strlen(own[i]) == length && strncmp(text, own[i], length) == 0)
            return err_set(err, LB_EXIT_USAGE,
                           "capacity: --set %.60s: the search needs that itself", text);
    }
    if (strncmp(text, "slo.promises", strlen("slo.promises")) == 0)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: --set %.60s: the promise of a search is --slo", text);
    if (by_clients && length == strlen("load.clients") &&
        strncmp(text, "load.clients", length) == 0)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: --set %.60s: the search changes that; --most ends it", text);
    return 0;
}

__attribute__((format(printf, 4, 5))) static int
add_set(struct typed *typed, struct arena *arena, struct lb_err *err, const char *format, ...) {
    char text[220];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    return arg_list_add(&typed->sets, text, arena, err);
}

/* Adds the keys of the workload that the search sets. */
static int add_sets(struct typed *typed, struct arena *arena, struct lb_err *err) {
    /* The plan must have the kind of arrivals that the search varies, since think times are only
     * allowed in a closed loop. The rate itself has no meaning here. */
    if (add_set(typed, arena, err, "load.arrival=%s", typed->by_clients ? "closed" : "poisson:1/s"))
        return -1;
    if (!typed->by_clients) return 0;
    return add_set(typed, arena, err, "load.clients=%d", (int)typed->most);
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
    if (typed->by_clients && typed->slo.metric != METRIC_ACQUIRE)
        return err_set(
            err, LB_EXIT_USAGE,
            "capacity: --slo: a closed loop (--search clients) has no due times: promise acquire");
    if (!typed->by_clients && typed->slo.metric != METRIC_ACQUIRE_DUE)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: --slo: " THRESHOLD_PROMISE_DUE
                       "; acquire is for --search clients");
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
    return plan->lock_count > 0
               ? 0
               : err_set(err, LB_EXIT_USAGE, "capacity: no lock of these can run here");
}

static int render_capacity_page(const void *capacity, FILE *out, struct lb_err *err) {
    return capacity_page(capacity, out, err);
}

/* Saves and prints the result. Returns the exit code. */
static int conclude_capacity(const struct typed *typed, const struct plan *plan,
                             struct capacity_run *capacity_run, const struct run_end *end) {
    struct lb_err lost = {0}, unmade = {0};
    struct capacity *capacity = NULL;
    json_t *result;
    int code = end->exit_code, unanswered;
    char file[720] = "";
    bool whole = code == LB_EXIT_OK || code == LB_EXIT_VIOLATED;
    bool in_folder = capacity_run_end(capacity_run, whole ? NULL : end->why, &result, file,
                                      sizeof file, &lost) == 0;
    if (end->stages > 0 && result)
        capacity = capacity_from_json(result, file[0] ? file : CAPACITY_FILE ", not saved", &lost);
    json_decref(result);
    if (capacity)
        capacity_write(capacity, typed->format, terminal_has_color(stdout), stdout, &lost);
    if (lost.code) fprintf(stderr, "lockbench: %s\n", lost.text);
    if (lost.code && code == LB_EXIT_OK) code = LB_EXIT_MACHINE;
    if (end->saved[0]) fprintf(stderr, "saved in %s\n", end->saved);
    /* Prints the message if it was not printed before, or if a table has come after it. */
    if (end->exit_code && (end->stages > 0 || !end->said))
        fprintf(stderr, "lockbench: %s\n", end->why);
    unanswered = capacity_run_unanswered(capacity_run);
    if (code == LB_EXIT_OK && unanswered > 0) {
        fprintf(stderr, "lockbench: no answer with confidence for %d of %d locks\n", unanswered,
                plan->lock_count);
        code = LB_EXIT_INCONCLUSIVE;
    }
    if (capacity && in_folder && end->in_folder &&
        page_beside(end->saved, render_capacity_page, capacity, &unmade) != 0)
        fprintf(stderr, "lockbench: %s\n", unmade.text);
    capacity_free(capacity);
    return code == LB_EXIT_OK && unmade.code ? LB_EXIT_MACHINE : code;
}

static void show_begin(struct progress *progress, const struct capacity_run_news *news) {
    char line[200], budget[NUMBER_TEXT_MAX], each[NUMBER_TEXT_MAX];
    snprintf(line, sizeof line, "%-20s probes for at most %s (--time), about %s each", news->lock,
             number_time_text(1e9 * news->budget_s, budget),
             number_time_text(1e9 * news->probe_s, each));
    progress_line(progress, line);
}

/* The line of each probe, for capacity_run_ask.news; arg is a struct progress. */
static void show_probe(void *arg, const struct capacity_run_news *news) {
    struct progress *progress = arg;
    const struct probe *probe = news->probe;
    if (!probe) {
        show_begin(progress, news);
        return;
    }
    char line[300], value[NUMBER_TEXT_MAX], low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX],
        between[120] = "";
    const char *limit = probe_limit_text(probe->limit); /* also of a promise that was kept */
    const char *why = limit ? limit : probe_unsure_text(probe);
    if (!isnan(probe->low_ns)) {
        snprintf(between, sizeof between, " (%s .. %s)", number_time_text(probe->low_ns, low),
                 isnan(probe->high_ns) ? "never" : number_time_text(probe->high_ns, high));
    }
    snprintf(line, sizeof line,
             "%-20s probe %2d  %8.6g%s: %s%s, %llu of %llu over the limit%s: %s%s%s", news->lock,
             news->number, probe->load, news->by_clients ? " clients" : "/s",
             isnan(probe->quantile_ns) ? "never" : number_time_text(probe->quantile_ns, value),
             between, (unsigned long long)probe->over, (unsigned long long)probe->samples,
             probe->grew ? ", the backlog grew" : "", promise_verdict_name(probe->verdict),
             why ? ": " : "", why ? why : "");
    progress_line(progress, line);
}

static int run_search(const struct typed *typed, const struct plan *plan, const char *command,
                      struct lb_err *err) {
    char results[512], topologies[512];
    struct progress progress;
    struct run_end end;
    if (home_results(results, sizeof results, err) != 0) return -1;
    if (home_path("compose/local", topologies, sizeof topologies, err) != 0) return -1;
    progress_init(&progress, typed->progress);
    struct capacity_run_ask capacity_run_ask = {.plan = plan,
                                                .slo = typed->slo,
                                                .by_clients = typed->by_clients,
                                                .most = typed->most,
                                                .budget_ns = typed->time_ns,
                                                .version = LOCKBENCH_VERSION,
                                                .command = command,
                                                .news = show_probe,
                                                .news_arg = &progress};
    struct capacity_run *capacity_run = capacity_run_new(&capacity_run_ask, err);
    if (!capacity_run) return -1;
    struct run_ask ask = {.plan = plan,
                          .urls = typed->urls.item,
                          .url_count = typed->urls.count,
                          .out = typed->out,
                          .results = results,
                          .topologies = topologies,
                          .version = LOCKBENCH_VERSION,
                          .command = command,
                          .interrupts = interrupt_watch(true),
                          .next = capacity_run_next,
                          .took = capacity_run_took,
                          .next_arg = capacity_run,
                          .news = progress_news,
                          .say = progress_say,
                          .tell = progress_tell,
                          .arg = &progress};
    int code = run_execute(&ask, &end, err);
    progress_end(&progress);
    if (code == 0) {
        code = conclude_capacity(typed, plan, capacity_run, &end);
        json_decref(end.unsaved);
    }
    capacity_run_free(capacity_run);
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
    if (available_init(&available, NULL, err) != 0) goto out;
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
