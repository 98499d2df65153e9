/* cmd_run: `lockbench run`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/base/output.h"
#include "bench/base/process.h"
#include "bench/cli/cli.h"
#include "bench/cli/page.h"
#include "bench/cli/progress.h"
#include "bench/cli/repeat.h"
#include "bench/cli/shell.h"
#include "bench/cli/terminal.h"
#include "bench/cli/urls.h"
#include "bench/run/run.h"
#include "bench/slo/slo.h"
#include "bench/stage/peers.h"
#include "bench/workload/sections.h"
#include "drivers/registry.h"
#include "report/compare/compare.h"
#include "report/page/html_parts.h"

#define SETS_MAX 128 /* --set, and the one that --key becomes */

struct typed {
    const char *workload, *locks, *out; /* locks: the names with commas between, or NULL */
    struct arg_list names, sets, promises, keys;
    struct urls urls;
    struct repeat_options repeat;
    bool dry_run, no_page;
    enum report_format format;
};

/* An operand: a lock or a backend; else the workload, or else one more name of locks. */
static int read_operand(const struct option_into *into, const char *text, struct lb_err *err) {
    struct typed *typed = into->values;
    char first[80];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(text, ","), text);
    if (typed->workload || registry_lock(first) || registry_backend(first))
        return arg_list_add(&typed->names, text, into->arena, err);
    typed->workload = arena_text(into->arena, text);
    return typed->workload ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}

static const struct lb_option_type type_operand = {.read = read_operand};

static const struct arg args[] = {
    {{"", &type_operand, 0, .help = NULL}, "name"},
    {{"lock", ARG_LIST, offsetof(struct typed, names),
      .help = "locks, backends or primitives; default: the workload's, or all"},
     "A,B|all"},
    {{"clients", ARG_KEY, offsetof(struct typed, sets),
      .choices = "load.clients=", .help = "as --set load.clients=N,..."},
     "-c N,..."},
    {{"time", ARG_KEY, offsetof(struct typed, sets),
      .choices = "run.duration=", .help = "how long each stage is measured: run.duration"},
     "-d TIME"},
    {{"hold", ARG_KEY, offsetof(struct typed, sets),
      .choices = "load.hold=", .help = "how long a holder works: load.hold"},
     "TIME"},
    {{"rate", ARG_KEY, offsetof(struct typed, sets), .choices = "load.arrival=poisson:",
      .help = "requests at random, of all clients together: 200/s"},
     "N/s"},
    {{"set", ARG_LIST, offsetof(struct typed, sets), .max = SETS_MAX - 1,
      .help = "a key of the workload, a lock or a backend; repeatable"},
     "SECTION.KEY=VALUE"},
    {{"slo", ARG_LIST, offsetof(struct typed, promises), .max = THRESHOLDS_MAX,
      .help = "each lock must keep it, e.g. not_granted<=0.1%; repeatable"},
     "PROMISE"},
    {{"key", ARG_LIST, offsetof(struct typed, keys),
      .help = "lock the key of this name, which others use too; repeatable"},
     "NAME"},
    {{"url", &type_url, offsetof(struct typed, urls), .help = URLS_HELP}, "BACKEND=URL"},
    {{"out", ARG_PATH, offsetof(struct typed, out),
      .help = "the folder; default: results/<time>-<workload>"},
     "DIR"},
    {{"repeat", LB_OPT_INT32, offsetof(struct typed, repeat.times), .min = 1, .max = REPEAT_MAX,
      .help = "with --against...: so many whole runs of each side, by default 10"},
     "N"},
    {{"against", ARG_PATH, offsetof(struct typed, repeat.against),
      .help = "compare with another workload or build; exits as `compare`"},
     "FILE|PROGRAM"},
    {{"against-set", ARG_LIST, offsetof(struct typed, repeat.sets), .max = REPEAT_SETS_MAX,
      .help = "compare with runs that have this setting; repeatable"},
     "SECTION.KEY=VALUE"},
    {{"metric", ARG_METRICS, offsetof(struct typed, repeat.metrics),
      .help = "with --against...: judge these figures only"},
     "METRIC,..."},
    {{"no-page", ARG_FLAG, offsetof(struct typed, no_page), .help = "leave out report.html"}, NULL},
    {{"full", ARG_PICK, offsetof(struct typed, format), .min = REPORT_FULL,
      .help = "print all loads and warnings"},
     NULL},
    {{"quiet", ARG_PICK, offsetof(struct typed, format), .min = REPORT_QUIET,
      .help = "print the verdict only, and no line for each stage"},
     NULL},
    {{"dry-run", ARG_FLAG, offsetof(struct typed, dry_run),
      .help = "print the plan with every default, and start nothing"},
     NULL},
    {{"json", ARG_PICK, offsetof(struct typed, format), .min = REPORT_JSON,
      .help = "print the result, or with --dry-run the plan"},
     NULL},
    {{0}, NULL},
};

static int print_plan(const struct plan *plan, bool as_json, struct lb_err *err) {
    if (!as_json) {
        plan_print(plan, stdout);
        return 0;
    }
    return output_json(plan_json(plan), JSON_INDENT(2), stdout, "the plan", err);
}

static int render_run_page(const void *report, FILE *out, struct lb_err *err) {
    return report_write(report, REPORT_HTML, false, out, err);
}

/* Prints what `lockbench report` prints. *ret_report is for the
 * page, and the caller frees it; NULL if nothing was measured. 0, or -1 with err. */
static int print_result(const struct run_end *end, enum report_format format,
                        struct report **ret_report, struct lb_err *err) {
    if (end->stages == 0) return 0;
    *ret_report = end->unsaved ? report_from_json(end->unsaved, "run.json, not saved", err)
                               : report_load(end->saved, err);
    if (!*ret_report) return -1;
    return report_write(*ret_report, format, terminal_has_color(stdout), stdout, err);
}

/* The results are saved by now, so a page that can't be written is a message and no failure of the run.
 * Returns the exit code. */
static int show_end(const struct typed *typed, const struct run_end *end) {
    struct lb_err unprinted = {0}, unmade = {0};
    struct report *report = NULL;
    int code = end->exit_code;
    if (print_result(end, typed->format, &report, &unprinted) != 0)
        fprintf(stderr, "lockbench: the result could not be printed: %s\n", unprinted.text);
    /* Prints the message if it was not printed before, or if a table has come after it. */
    if (end->exit_code && (report || !end->said)) fprintf(stderr, "lockbench: %s\n", end->why);
    if (end->saved[0]) fprintf(stderr, "saved in %s\n", end->saved);
    if (report && end->in_folder && !typed->no_page &&
        page_beside(end->saved, render_run_page, report, &unmade) != 0)
        fprintf(stderr, "lockbench: %s\n", unmade.text);
    report_free(report);
    bool lost = unprinted.code || unmade.code;
    return code == LB_EXIT_OK && lost ? LB_EXIT_MACHINE : code;
}

/* In CI a lock that is left out is a failure. */
static bool missed_in_ci(const struct plan *plan, struct run_end *end) {
    size_t i;
    json_t *skip;
    if (!in_ci()) return false;
    json_array_foreach(plan->skipped, i, skip) {
        const char *install = json_string_value(json_object_get(skip, "install"));
        if (!install) continue; /* the lock does not suit this workload: nothing is missing */
        end->said = false;
        snprintf(end->why, sizeof end->why, "CI: %s was left out: %s (install: %s)",
                 json_string_value(json_object_get(skip, "lock")),
                 json_string_value(json_object_get(skip, "reason")), install);
        return true;
    }
    return false;
}

static int run_plan(const struct typed *typed, const struct plan *plan, const char *command,
                    struct lb_err *err) {
    char results[512], topologies[512];
    if (home_results(results, sizeof results, err) != 0) return -1;
    if (home_path("compose/local", topologies, sizeof topologies, err) != 0) return -1;
    bool quiet = typed->format == REPORT_QUIET || typed->format == REPORT_JSON;
    struct peers *peers = cli_peers();
    if (peers && peers->begin_run(peers, plan, err) != 0) return -1;
    struct run_ask ask = {.plan = plan,
                          .urls = typed->urls.item,
                          .url_count = typed->urls.count,
                          .out = typed->out,
                          .results = results,
                          .topologies = topologies,
                          .version = LOCKBENCH_VERSION,
                          .command = command,
                          .peers = peers,
                          .interrupts = interrupt_watch(true),
                          .news = progress_news,
                          .say = progress_say,
                          .arg = &quiet};
    struct run_end end;
    int failed = run_execute(&ask, &end, err);
    if (failed) return -1;
    if (end.exit_code == LB_EXIT_OK && missed_in_ci(plan, &end)) end.exit_code = LB_EXIT_MACHINE;
    int code = show_end(typed, &end);
    json_decref(end.unsaved);
    return code;
}

/* The plan of the base. *ret stays NULL if the base is run by another build, which makes its own plan. 0, or -1 with
 * err. */
static int load_base(const struct typed *typed, const struct plan_ask *usual, struct plan **ret,
                     struct lb_err *err) {
    const char *program, *sets[SETS_MAX + REPEAT_WORDS_MAX];
    struct plan_ask ask = *usual;
    if (repeat_base(&typed->repeat, usual->workload, &ask.workload, &program, err) != 0) return -1;
    if (program) return 0;
    ask.sets = sets;
    for (int i = 0; i < ask.set_count; i++) sets[i] = usual->sets[i];
    for (int i = 0; i < typed->repeat.sets.count; i++)
        sets[ask.set_count++] = typed->repeat.sets.item[i];
    *ret = plan_load(&ask, err);
    if (*ret) return 0;
    return err_prefix(err, "the base");
}

static int64_t planned_ns(const struct plan *plan) {
    int64_t time_ns = 0;
    int stages = plan ? plan_stages(plan, &time_ns) : 0;
    return stages > 0 ? time_ns + stages * plan->drain_ns : 0;
}

/* Refuses plans that have no stage with the same load, before a server starts: only such stages are compared. */
static int check_loads(const struct plan *plan, const struct plan *base, struct lb_err *err) {
    struct run *new = planned_run(plan, err), *old = new ? planned_run(base, err) : NULL;
    int failed = old ? compare_check_loads(old, new, err) : -1;
    run_free(new);
    run_free(old);
    return failed;
}

/* Several whole runs, each in a process of its own, so that no run leaves anything to the next. */
static int run_repeats(const struct typed *typed, const struct plan_ask *usual,
                       const struct plan *plan, struct lb_err *err) {
    char results[512];
    struct plan *base = NULL;
    int code = -1;
    if (home_results(results, sizeof results, err) != 0) return -1;
    if (load_base(typed, usual, &base, err) != 0) return -1;
    if (!base || check_loads(plan, base, err) == 0) {
        struct repeat_ask ask = {.options = &typed->repeat,
                                 .plan = usual,
                                 .urls = typed->urls.item,
                                 .url_count = typed->urls.count,
                                 .out = typed->out,
                                 .results = results,
                                 .planned_ns = planned_ns(plan),
                                 .base_planned_ns = planned_ns(base ? base : plan),
                                 .json = typed->format == REPORT_JSON};
        code = repeat_run(&ask, err);
    }
    plan_free(base);
    return code;
}

/* Adds the names of --key as one more --set, and joins the names of locks. */
static int complete(struct typed *typed, struct arena *arena, struct lb_err *err) {
    if (typed->names.count && !(typed->locks = arg_list_join(&typed->names, arena, err))) return -1;
    for (int i = 0; i < typed->keys.count; i++) {
        if (key_name_check(typed->keys.item[i], err) != 0) return err_prefix(err, "run: --key");
    }
    if (typed->keys.count == 0) return 0;
    char *names = arg_list_join(&typed->keys, arena, err), *text;
    size_t size = names ? strlen(names) + sizeof "load.key_names=" : 0;
    if (!names || !(text = arena_alloc(arena, size)))
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    snprintf(text, size, "load.key_names=%s", names);
    return arg_list_add(&typed->sets, text, arena, err);
}

/* For struct plan_ask: some locks can't have their clients in other processes. */
static const char *why_not_here(void *context, const struct lb_lock *lock, const char *topology,
                                const struct plan *plan, const char **ret_install) {
    const char *why = cli_peers() ? cli_peers()->why_not(lock, plan) : NULL;
    return why ? why : available_for_plan(context, lock, topology, plan, ret_install);
}

static int run_run(void *values, const struct args *given, struct lb_err *err) {
    struct typed *typed = values;
    if (complete(typed, given->arena, err) != 0) return -1;
    char workloads[512], *command = NULL;
    struct available available = {0};
    struct plan *plan = NULL;
    const struct peers *peers = cli_peers();
    int result = -1;
    if (home_path("workloads", workloads, sizeof workloads, err) != 0) goto out;
    if (available_init(&available, err) != 0) goto out;
    if (urls_ready(&typed->urls, given->arena, &available, err) != 0) goto out;
    if (urls_hand_on(&typed->urls, err) != 0) goto out;
    struct plan_ask plan_ask = {.workload = typed->workload ? typed->workload : "compare",
                                .folder = workloads,
                                .locks = typed->locks,
                                .sets = typed->sets.item,
                                .set_count = typed->sets.count,
                                .promises = typed->promises.item,
                                .promise_count = typed->promises.count,
                                .why_not = why_not_here,
                                .why_not_context = &available};
    plan = plan_load(&plan_ask, err);
    if (!plan || urls_keep(&typed->urls, urls_plan_uses, plan, err) != 0) goto out;
    bool pair = repeat_has_base(&typed->repeat);
    if (!pair && (typed->repeat.metrics || typed->repeat.times)) {
        err_set(err, LB_EXIT_USAGE,
                "run: --metric and --repeat are of a comparison: add --against...; rounds within a "
                "run: --set run.repeat=7");
    } else if (pair &&
               (typed->format == REPORT_FULL || typed->format == REPORT_QUIET || typed->dry_run)) {
        err_set(err, LB_EXIT_USAGE,
                "run: --full, --quiet and --dry-run show one run: leave them out where --against "
                "makes several");
    } else if (pair && peers) {
        err_set(err, LB_EXIT_USAGE, "run: on several hosts one run at a time: leave out --against");
    } else if (pair) {
        result = run_repeats(typed, &plan_ask, plan, err);
    } else if (typed->dry_run) {
        result = print_plan(plan, typed->format == REPORT_JSON, err);
    } else {
        command = shell_command(peers ? peers->again : "lockbench", given->argc, given->argv,
                                typed->urls.item, typed->urls.count);
        result = command ? run_plan(typed, plan, command, err)
                         : err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
out:
    free(command);
    plan_free(plan);
    available_done(&available);
    return result;
}

static const struct example examples[] = {
    {"lockbench run", "a lock of each backend that can run here"},
    {"lockbench run contended redis-setnx,pg-advisory -c 8 --hold 5ms --url redis=env:REDIS_URL",
     "two locks under a load of your own; the Redis server is your own"},
    {"lockbench run open --lock redis-setnx --slo 'acquire_due.p99<=20ms'",
     "exit code 4 when the promise is broken"},
    {NULL, NULL},
};

const struct command command_run = {
    .name = "run",
    .summary = "run a workload on locks and save what was measured",
    .usage = "run [WORKLOAD|FILE] [LOCK...] [OPTIONS]",
    .about =
        "Runs a workload (default: compare) on real servers that it starts itself, checks exclusion, saves\n"
        "the result, prints it and writes a page. `lockbench list` has the workloads and locks.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_run,
};
