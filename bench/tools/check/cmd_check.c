/* cmd_check: `lockbench check`: the cells of locks and faults, on servers that lockbench starts or
 * on those at --url. */
#include <stdlib.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/base/processors.h"
#include "bench/cli/available.h"
#include "bench/cli/cli.h"
#include "bench/cli/shell.h"
#include "bench/cli/terminal.h"
#include "bench/cli/urls.h"
#include "bench/option/text.h"
#include "bench/place/guest.h"
#include "bench/run/outdir.h"
#include "bench/stage/machine.h"
#include "bench/tools/check/cmd_check.h"

#define LOCKS_MAX 128
#define SETS_MAX 100
#define SEEDS_MAX 1000
#define SEED_USUAL 1
#define AS_TEXT(number) #number
#define TEXT_OF(number) AS_TEXT(number)
#define SEED_MAX 999999999999999.0 /* the same default as load.seed has */
/* cells sleep most of their time: one takes about a fifth of a processor */
#define JOBS_A_PROCESSOR 4
#define JOBS_USUAL_MAX 32 /* with more jobs the machine's memory may not be enough */

struct typed {
    struct arg_list locks, sets;
    struct urls urls;
    uint64_t seeds[SEEDS_MAX];
    int seed_count, jobs;
    const char *faults, *out;
    bool full, json;
};

/* Takes the names of one operand: "redis-setnx,zk-lock" has two. */
static int read_locks(const struct option_into *into, const char *text, struct lb_err *err) {
    struct arg_list *locks = into->at;
    char word[128];
    for (const char *at = text; text_item(&at, word, sizeof word);) {
        if (!*word) return err_set(err, LB_EXIT_USAGE, "a lock's name is missing in '%.60s'", text);
        if (locks->count == LOCKS_MAX)
            return err_set(err, LB_EXIT_USAGE, "at most %d locks by name", LOCKS_MAX);
        if (arg_list_add(locks, word, into->arena, err)) return -1;
    }
    return 0;
}

static const struct lb_option_type type_locks = {
    .bytes = sizeof(struct arg_list),
    .read = read_locks,
    .words = "names of locks, backends or primitives, all, controls",
};

/* "3", or "1..5": fills the array of seeds. */
static int read_seeds(const struct option_into *into, const char *text, struct lb_err *err) {
    struct typed *typed = into->values;
    const char *dots = strstr(text, "..");
    char from_text[24];
    int64_t from, to;
    if (text_trim(text, dots ? (size_t)(dots - text) : strlen(text), from_text, sizeof from_text))
        return err_set(err, LB_EXIT_USAGE, "'%.60s' is no seed", text);
    if (text_int(from_text, 0, (int64_t)into->option->max, &from, err)) return -1;
    to = from;
    if (dots && text_int(dots + 2, from, (int64_t)into->option->max, &to, err)) return -1;
    if (to - from >= SEEDS_MAX) return err_set(err, LB_EXIT_USAGE, "at most %d", SEEDS_MAX);
    typed->seed_count = 0;
    for (int64_t seed = from; seed <= to; seed++)
        typed->seeds[typed->seed_count++] = (uint64_t)seed;
    return 0;
}

static const struct lb_option_type type_seeds = {
    .bytes = sizeof(uint64_t[SEEDS_MAX]),
    .read = read_seeds,
    .words = "a whole number, or two, like 1..5",
};

static int read_check_set(const struct option_into *into, const char *text, struct lb_err *err) {
    if (strncmp(text, "load.seed", 9) == 0)
        return err_set(err, LB_EXIT_USAGE, "load.seed has an option of its own, --seed");
    return arg_type_list.read(into, text, err);
}

static const struct lb_option_type type_set = {
    .bytes = sizeof(struct arg_list),
    .read = read_check_set,
    .words = "SECTION.KEY=VALUE",
};

static const struct arg args[] = {
    {{"", &type_locks, offsetof(struct typed, locks), .help = NULL}, "LOCK"},
    {{"lock", &type_locks, offsetof(struct typed, locks), .help = "the same as LOCK"}, "A,B"},
    {{"fault", LB_OPT_TEXT, offsetof(struct typed, faults),
      .help = "only these faults, 'exposed' (controls) or 'conformance' (the suite)"},
     "F,G"},
    {{"full", ARG_FLAG, offsetof(struct typed, full), .help = "every fault"}, NULL},
    {{"seed", &type_seeds, offsetof(struct typed, seeds), TEXT_OF(SEED_USUAL), .max = SEED_MAX,
      .help = "a run of each cell with each of these; the worst verdict counts"},
     "N|A..B"},
    {{"jobs", LB_OPT_INT32, offsetof(struct typed, jobs), .min = 1, .max = 200,
      .help = "cells that run at once; default 4 a processor, at most 32; 1 with --url"},
     "N"},
    {{"out", ARG_PATH, offsetof(struct typed, out),
      .help = "the result's folder; default: results/<time>-check"},
     "DIR"},
    {{"set", &type_set, offsetof(struct typed, sets), .max = SETS_MAX,
      .help = "a key of each cell's workload; repeatable"},
     "SECTION.KEY=VALUE"},
    {{"url", &type_url, offsetof(struct typed, urls), .max = URLS_MAX, .help = URLS_HELP},
     "BACKEND=URL"},
    {{"json", ARG_FLAG, offsetof(struct typed, json),
      .help = "print check.json instead of the matrix"},
     NULL},
    {{0}, NULL},
};

static void print_scenarios(const struct screen *screen) {
    char names[1200] = "faults (`lockbench list faults` tells more):";
    for (int i = 0; i < LB_SCENARIOS; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", lb_scenario_name((enum lb_scenario)i));
    }
    fputc('\n', screen->out);
    screen_wrap(screen, names, 0, 2, TONE_PLAIN);
    screen_lines(
        screen,
        "Exit codes: 0 every cell as expected or better; 1 usage; 2 a cell failed or showed nothing, or a\n"
        "control was not caught; 3 a cell worse than its driver states; 130 interrupted.");
}

/* On a server of the user, cells run one after the other, because each run removes the tables and
 * buckets that its locks share when it ends. */
static int usual_jobs(const struct urls *urls) {
    if (urls->count > 0) return 1;
    struct processors processors = processors_look();
    int jobs = JOBS_A_PROCESSOR * processors_usable(&processors);
    return jobs < JOBS_USUAL_MAX ? jobs : JOBS_USUAL_MAX;
}

static bool matrix_uses(const void *matrix, const struct lb_backend *backend) {
    const struct matrix *cells = matrix;
    for (int i = 0; i < cells->cell_count; i++) {
        if (cells->cells[i].lock->backend == backend) return true;
    }
    return false;
}

static int run_cells(const struct typed *typed, const struct matrix *matrix, const char *command,
                     const char *more, struct lb_err *err) {
    char results[512];
    struct outdir out;
    struct result result = {0};
    int code = -1;
    if (home_results(results, sizeof results, err) != 0) return -1;
    if (outdir_make(&out, typed->out, results, "check", err) != 0) return -1;
    json_t *environment = environment_json();
    struct result_ask ask = {.matrix = matrix,
                             .folder = out.path,
                             .version = LOCKBENCH_VERSION,
                             .command = command,
                             .tour = typed->faults ? "chosen"
                                     : typed->full ? "full"
                                                   : "short",
                             .more = more,
                             .seeds = typed->seeds,
                             .seed_count = typed->seed_count,
                             .environment = environment,
                             .sets = typed->sets.item,
                             .set_count = typed->sets.count,
                             .urls = typed->urls.item,
                             .url_count = typed->urls.count,
                             .weight_max = typed->jobs ? typed->jobs : usual_jobs(&typed->urls)};
    const volatile sig_atomic_t *interrupts = interrupt_watch(true);
    if (result_init(&result, &ask, err) != 0) goto out;
    check_show_expected(&ask, stderr);
    outdir_latest(&out);
    int failed = cell_schedule_run(&result, interrupts, check_show_news, err);
    bool interrupted = *interrupts > 0;
    const char *partial = failed ? err->text : interrupted ? "interrupted" : NULL;
    struct lb_err unsaved = {0};
    if (result_end(&result, partial, &unsaved) != 0 && !failed) {
        *err = unsaved;
        failed = -1;
    }
    check_show_result(&result, typed->json);
    fprintf(stderr, "saved in %s\n", out.path);
    code = failed ? -1 : check_conclude(&result, interrupted);
out:
    result_done(&result);
    json_decref(environment);
    return code;
}

/* With --url, each lock needs a server there. */
static int need_urls(const struct matrix *matrix, const struct urls *urls, struct lb_err *err) {
    for (int i = 0; urls->count > 0 && i < matrix->cell_count; i++) {
        const struct lb_lock *lock = matrix->cells[i].lock;
        bool known = false;
        for (int u = 0; u < urls->count; u++) known |= lock->backend == urls->item[u].backend;
        if (!known)
            return err_set(err, LB_EXIT_USAGE,
                           "check: with --url, %s needs a server of yours, too%s%s%s", lock->name,
                           lock->backend->schemes ? ": --url " : ", and it has none",
                           lock->backend->schemes ? lock->backend->name : "",
                           lock->backend->schemes ? "=URL" : "");
    }
    return 0;
}

/* Tells of servers of a kind that does not keep locks. 0, or -1 with err: a server does not let us in, which each cell
 * would say again. Where --set has options of the backend, only the cells know them. */
static int look_at_servers(const struct typed *typed, struct lb_err *err) {
    for (int i = 0; i < typed->urls.count; i++) {
        const char *name = typed->urls.item[i].backend->name;
        struct lb_err why = {0};
        char text[600];
        bool unfit = false, set = false;
        for (int s = 0; s < typed->sets.count; s++)
            set |= strncmp(typed->sets.item[s], name, strlen(name)) == 0;
        if (guest_look(&typed->urls.item[i], text, sizeof text, &unfit, &why) != 0 && !set)
            return err_set(err, why.code, "check: %s", why.text);
        if (unfit) fprintf(stderr, "lockbench: check: --url %s: %s\n", name, text);
    }
    return 0;
}

static int run_check(void *values, const struct args *given, struct lb_err *err) {
    struct typed *typed = values;
    char *command = NULL, *more = NULL, workloads[512];
    struct available available = {0};
    struct matrix matrix = {0};
    int code = -1;
    bool named = typed->locks.count > 0;
    /* Faults of servers need servers that the cells start themselves, so only --url counts. */
    urls_forget(&typed->urls);
    if (urls_hand_on(&typed->urls, err) != 0) goto out;
    if (home_path("workloads", workloads, sizeof workloads, err) != 0) goto out;
    if (available_init(&available, err) != 0) goto out;
    if (urls_ready(&typed->urls, given->arena, &available, err) != 0) goto out;
    for (int i = 0; !named && i < typed->urls.count; i++) {
        if (arg_list_add(&typed->locks, typed->urls.item[i].backend->name, given->arena, err))
            goto out;
    }
    struct matrix_ask matrix_ask = {.locks = typed->locks.item,
                                    .lock_count = typed->locks.count,
                                    .faults = typed->faults,
                                    .full = typed->full,
                                    .deployed = typed->urls.count > 0,
                                    .sets = typed->sets.item,
                                    .set_count = typed->sets.count,
                                    .folder = workloads,
                                    .why_not = available_for_plan,
                                    .weigh = available_weight,
                                    .out_of_reach = available_reach,
                                    .why_not_context = &available};
    if (matrix_make(&matrix_ask, &matrix, err) != 0) goto out;
    if (need_urls(&matrix, &typed->urls, err) != 0) goto out;
    /* Makes the command for the report, and the part that the commands of its cells share. */
    struct lb_err unused = {0}; /* the command of one cell has the URLs of all */
    if (urls_keep(&typed->urls, matrix_uses, &matrix, &unused) != 0)
        fprintf(stderr, "lockbench: %s\n", unused.text);
    command =
        shell_command("lockbench", given->argc, given->argv, typed->urls.item, typed->urls.count);
    more = shell_options(typed->sets.item, typed->sets.count, typed->urls.item, typed->urls.count);
    if (!command || !more) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    check_show_skips(&matrix, stderr);
    if (look_at_servers(typed, err) != 0) goto out;
    code = run_cells(typed, &matrix, command, more, err);
out:
    free(command);
    free(more);
    matrix_done(&matrix);
    available_done(&available);
    return code;
}

static const struct example examples[] = {
    {"lockbench check redis,etcd", "the locks of two backends, under the four usual faults"},
    {"lockbench check pg-advisory --url postgres=env:PG_URL", "the lock of a server of yours"},
    {"lockbench check redis-fair --fault conformance", "what each lock must do, check by check"},
    {NULL, NULL},
};

const struct command command_check = {
    .name = "check",
    .summary = "put locks through faults: which hold, which break, and what was expected",
    .usage = "check [LOCK...] [OPTIONS]",
    .about =
        "Is it a lock? Puts locks (names, backends, primitives, all, controls; default: all) through faults\n"
        "of servers and clients, and compares each verdict with the one that its driver states. Without\n"
        "--fault and --full: pause, holder-kill, server-restart, wire-cut, and controls where they must show.\n"
        "With --url, on a server of yours: the conformance suite, and the faults that need no control of\n"
        "it.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_check,
    .more_help = print_scenarios,
};
