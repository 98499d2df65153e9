/* cmd_check: `lockbench check`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/cli/args.h"
#include "bench/cli/available.h"
#include "bench/cli/check_show.h"
#include "bench/cli/cli.h"
#include "bench/cli/interrupt.h"
#include "bench/cli/shell.h"
#include "bench/run/environment.h"
#include "bench/run/outdir.h"
#include "report/check/check.h"

#define LOCKS_MAX 128
#define SETS_MAX 100
#define SEEDS_MAX 1000
#define JOBS_A_PROCESSOR 4 /* cells sleep most of their time: one takes a fifth of a processor */
#define JOBS_USUAL_MAX 32  /* beyond that a machine's memory may be the limit */

enum {
    OPT_FAULT,
    OPT_FULL,
    OPT_SEED,
    OPT_SEEDS,
    OPT_TRIALS,
    OPT_JOBS,
    OPT_OUT,
    OPT_SET,
    OPT_JSON,
    OPT_DRY_RUN,
    OPT_HELP
};

static const struct args_option options[] = {
    [OPT_FAULT] = {"fault", "F,G",
                   "these faults only; 'exposed': controls in the workload that shows them"},
    [OPT_FULL] = {"full", NULL, "every fault, and 20 recoveries of those that are about recovery"},
    [OPT_SEED] = {"seed", "N", "of each cell's random draws; default 1"},
    [OPT_SEEDS] = {"seeds", "A..B", "each cell once with each of these; the worst is its verdict"},
    [OPT_TRIALS] = {"trials", "N",
                    "repeat each cell, with further seeds, until N recoveries are measured"},
    [OPT_JOBS] = {"jobs", "N", "cells at once, small ones; default 4 for each processor"},
    [OPT_OUT] = {"out", "DIR", "the result's folder; default: results/<time>-check"},
    [OPT_SET] = {"set", "SECTION.KEY=VALUE", "set a key of each cell's workload; repeatable"},
    [OPT_JSON] = {"json", NULL, "print check.json instead of the matrix"},
    [OPT_DRY_RUN] = {"dry-run", NULL,
                     "print the cells with what is expected of them, and start nothing"},
    [OPT_HELP] = {"help", NULL, "this text"},
    {0},
};

struct wish {
    const char *locks[LOCKS_MAX], *sets[SETS_MAX];
    char *words[LOCKS_MAX]; /* operands that were cut at their commas; owned */
    int lock_count, set_count, word_count;
    uint64_t seeds[SEEDS_MAX];
    int seed_count, trials, jobs;
    const char *faults, *out;
    bool full, json, dry_run, help;
};

static void help(void) {
    args_help(
        "check [LOCK...] [OPTIONS]",
        "Puts locks (names, backends, primitives, all, controls; default: all) through faults, on real "
        "servers and\n"
        "client processes, and compares what each showed with what its driver states. Without --full: "
        "pause,\n"
        "holder-kill, server-restart, wire-cut, and each lock broken on purpose where it must show.",
        options, stdout);
    printf("\nfaults:\n");
    for (int i = 0; i < LB_SCENARIOS; i++) {
        printf("  %-18s %s\n", lb_scenario_name((enum lb_scenario)i),
               lb_scenario_summary((enum lb_scenario)i));
    }
    printf(
        "\nExit codes: 0 every cell as expected or better; 1 usage; 2 a cell failed or showed nothing, or a "
        "control was\nnot caught; 3 a cell worse than its driver states (controls aside); 130 interrupted "
        "(what was found is "
        "saved).\n");
}

static int read_count(const char *name, const char *text, int least, int most, int *ret,
                      struct lb_err *err) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        return err_set(err, LB_EXIT_USAGE, "check: --%s %.40s: a whole number from %d to %d", name,
                       text, least, most);
    *ret = (int)value;
    return 0;
}

/* As load.seed takes it. */
static int read_seed(const char *text, char **ret_end, uint64_t *ret) {
    errno = 0;
    if (*text < '0' || *text > '9') return -1;
    unsigned long long value = strtoull(text, ret_end, 10);
    if (errno || value > INT64_MAX) return -1; /* JSON has no larger ones */
    *ret = value;
    return 0;
}

static int read_seeds(const char *text, bool several, struct wish *wish, struct lb_err *err) {
    uint64_t from = 0, to;
    char *end;
    bool wrong = read_seed(text, &end, &from) != 0;
    to = from;
    if (!wrong && several) wrong = strncmp(end, "..", 2) != 0 || read_seed(end + 2, &end, &to) != 0;
    if (wrong || *end || to < from) {
        return err_set(err, LB_EXIT_USAGE, "check: --%s %.60s: %s", several ? "seeds" : "seed",
                       text, several ? "two whole numbers, like 1..5" : "a whole number");
    }
    if (to - from >= SEEDS_MAX)
        return err_set(err, LB_EXIT_USAGE, "check: --seeds %.60s: at most %d", text, SEEDS_MAX);
    wish->seed_count = 0;
    for (uint64_t seed = from; seed <= to; seed++) wish->seeds[wish->seed_count++] = seed;
    return 0;
}

/* "redis-setnx,zk-lock" is two words. */
static int add_locks(const char *operand, struct wish *wish, struct lb_err *err) {
    char *words = strdup(operand), *rest = words;
    if (!words) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    wish->words[wish->word_count++] = words;
    for (char *word; (word = strsep(&rest, ","));) {
        if (!*word)
            return err_set(err, LB_EXIT_USAGE, "check: a lock's name is missing in '%.60s'",
                           operand);
        if (wish->lock_count == LOCKS_MAX)
            return err_set(err, LB_EXIT_USAGE, "check: at most %d locks by name", LOCKS_MAX);
        wish->locks[wish->lock_count++] = word;
    }
    return 0;
}

static int take_option(int option, const char *value, struct wish *wish, struct lb_err *err) {
    switch (option) {
    case OPT_FAULT:
        wish->faults = value;
        break;
    case OPT_FULL:
        wish->full = true;
        break;
    case OPT_SEED:
        return read_seeds(value, false, wish, err);
    case OPT_SEEDS:
        return read_seeds(value, true, wish, err);
    case OPT_TRIALS:
        return read_count("trials", value, 1, 1000, &wish->trials, err);
    case OPT_JOBS:
        return read_count("jobs", value, 1, 200, &wish->jobs, err);
    case OPT_OUT:
        if (!*value) return err_set(err, LB_EXIT_USAGE, "check: --out needs a folder's name");
        wish->out = value;
        break;
    case OPT_SET:
        if (wish->set_count == SETS_MAX)
            return err_set(err, LB_EXIT_USAGE, "check: at most %d --set", SETS_MAX);
        if (strncmp(value, "load.seed", 9) == 0)
            return err_set(err, LB_EXIT_USAGE, "check: --set load.seed: that is --seed");
        wish->sets[wish->set_count++] = value;
        break;
    case OPT_JSON:
        wish->json = true;
        break;
    case OPT_DRY_RUN:
        wish->dry_run = true;
        break;
    default:
        wish->help = true;
        break;
    }
    return 0;
}

static int read_args(int argc, char **argv, struct wish *wish, struct lb_err *err) {
    struct args args;
    const char *value = NULL;
    args_init(&args, argc, argv, options);
    for (int option; (option = args_next(&args, &value, err)) != ARGS_END && !wish->help;) {
        if (option == ARGS_WRONG) return -1;
        if (option == ARGS_OPERAND && wish->word_count == LOCKS_MAX)
            return err_set(err, LB_EXIT_USAGE, "check: at most %d locks by name", LOCKS_MAX);
        if (option == ARGS_OPERAND ? add_locks(value, wish, err)
                                   : take_option(option, value, wish, err))
            return -1;
    }
    return 0;
}

static int usual_jobs(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int jobs = processors > 0 ? JOBS_A_PROCESSOR * (int)processors : JOBS_A_PROCESSOR;
    return jobs < JOBS_USUAL_MAX ? jobs : JOBS_USUAL_MAX;
}

/* In CI what the machine lacks is a failure: nobody reads the list of what was skipped there. */
static bool missed_in_ci(const struct matrix *matrix) {
    const char *ci = getenv("CI");
    for (int i = 0; ci && strcmp(ci, "true") == 0 && i < matrix->skip_count; i++) {
        if (matrix->skips[i].unavailable) return true;
    }
    return false;
}

/* What the result means, said in one line when it is not all well. */
static int conclude(const struct matrix *matrix, const struct result *result, bool interrupted) {
    struct result_sum sum = result_sum(result);
    if (interrupted) {
        fprintf(stderr, "lockbench: interrupted: what was found until then is saved\n");
        return LB_EXIT_INTERRUPTED;
    }
    if (sum.worse > 0) {
        fprintf(stderr, "lockbench: %d cells are worse than their drivers state\n", sum.worse);
        return LB_EXIT_VIOLATED;
    }
    if (sum.missed > 0) {
        fprintf(
            stderr,
            "lockbench: %d locks broken on purpose were not caught: do not trust these checks\n",
            sum.missed);
        return LB_EXIT_MACHINE;
    }
    if (sum.failed > 0) {
        fprintf(stderr, "lockbench: %d cells have runs that failed or showed nothing\n",
                sum.failed);
        return LB_EXIT_MACHINE;
    }
    if (missed_in_ci(matrix)) {
        fprintf(stderr, "lockbench: CI: what is left out above is a failure here\n");
        return LB_EXIT_MACHINE;
    }
    return LB_EXIT_OK;
}

/* The report as a terminal shows it. It is made from what is in memory: the disk may be full. 0, or
 * -1 with err. */
static int print_report(const struct result *result, const char *folder, struct lb_err *err) {
    const char *no_color = getenv("NO_COLOR");
    bool color = isatty(STDOUT_FILENO) && !(no_color && *no_color);
    char *text = json_dumps(result->root, JSON_REAL_PRECISION(10));
    struct check *check = text ? check_parse(text, strlen(text), folder, err) : NULL;
    if (!text) err_set(err, LB_EXIT_MACHINE, "out of memory");
    int rc = check ? report_check_write(check, REPORT_TABLE, color, stdout, err) : -1;
    check_free(check);
    free(text);
    return rc;
}

/* On standard output as asked for, and as files beside check.json. What fails here costs no
 * result: it is said. */
static void report_result(const struct result *result, bool json, bool saved, const char *folder) {
    struct lb_err err = {0};
    int rc = 0;
    if (json) {
        json_dumpf(result->root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
        putchar('\n');
    } else {
        rc = print_report(result, folder, &err);
    }
    if (rc == 0 && saved) rc = report_check_files(folder, &err);
    if (rc != 0) fprintf(stderr, "lockbench: the report could not be made: %s\n", err.text);
}

static int run_cells(const struct wish *wish, const struct matrix *matrix, const char *command,
                     const char *more, struct lb_err *err) {
    char results[512];
    struct outdir out;
    struct result result = {0};
    int code = -1;
    if (home_results(results, sizeof results, err) != 0) return -1;
    if (outdir_make(&out, wish->out, results, "check", err) != 0) return -1;
    json_t *environment = environment_json();
    struct result_ask ask = {.matrix = matrix,
                             .folder = out.path,
                             .version = LOCKBENCH_VERSION,
                             .command = command,
                             .tour = wish->full ? "full" : "short",
                             .more = more,
                             .seeds = wish->seeds,
                             .seed_count = wish->seed_count,
                             .environment = environment};
    struct check_show show = {.result = &result, .terminal = isatty(STDERR_FILENO)};
    struct tour_ask tour = {.matrix = matrix,
                            .result = &result,
                            .folder = out.path,
                            .seeds = wish->seeds,
                            .seed_count = wish->seed_count,
                            .sets = wish->sets,
                            .set_count = wish->set_count,
                            .capacity = wish->jobs ? wish->jobs : usual_jobs(),
                            .interrupts = interrupt_watch(),
                            .news = check_show_news,
                            .arg = &show};
    if (result_init(&result, &ask, err) != 0) goto out;
    outdir_latest(&out);
    int failed = tour_run(&tour, err);
    bool interrupted = *tour.interrupts > 0;
    check_show_end(&show);
    struct lb_err unsaved = {0};
    if (result_end(&result,
                   failed        ? err->text
                   : interrupted ? "interrupted"
                                 : NULL,
                   &unsaved) != 0 &&
        !failed) {
        *err = unsaved;
        failed = -1;
    }
    report_result(&result, wish->json, !failed, out.path);
    fprintf(stderr, "saved in %s\n", out.path);
    code = failed ? -1 : conclude(matrix, &result, interrupted);
out:
    result_done(&result);
    json_decref(environment);
    return code;
}

int cmd_check(int argc, char **argv) {
    struct lb_err err = {0};
    static struct wish wish;
    char *command = NULL, *more = NULL, workloads[512], topologies[512];
    struct available available = {0};
    struct matrix matrix = {0};
    int code = -1;
    wish = (struct wish){.seeds = {1}, .seed_count = 1};
    if (read_args(argc, argv, &wish, &err) != 0) goto out;
    if (wish.help) {
        help();
        code = LB_EXIT_OK;
        goto out;
    }
    if (home_path("workloads", workloads, sizeof workloads, &err) != 0) goto out;
    if (home_path("compose/local", topologies, sizeof topologies, &err) != 0) goto out;
    if (available_init(&available, topologies, &err) != 0) goto out;
    struct matrix_wish matrix_wish = {.locks = wish.locks,
                                      .lock_count = wish.lock_count,
                                      .faults = wish.faults,
                                      .full = wish.full,
                                      .trials = wish.trials,
                                      .sets = wish.sets,
                                      .set_count = wish.set_count,
                                      .folder = workloads,
                                      .why_not = available_for_plan,
                                      .weigh = available_weight,
                                      .why_not_context = &available};
    if (matrix_make(&matrix_wish, &matrix, &err) != 0) goto out;
    if (wish.dry_run) {
        check_show_plan(&matrix, wish.seeds, wish.seed_count, stdout);
        code = LB_EXIT_OK;
        goto out;
    }
    /* What is shown, and what each cell's own command needs of it. */
    command = shell_command(argc, argv);
    more = shell_sets(wish.sets, wish.set_count);
    if (!command || !more) {
        err_set(&err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    check_show_skips(&matrix, stderr);
    code = run_cells(&wish, &matrix, command, more, &err);
out:
    free(command);
    free(more);
    matrix_done(&matrix);
    available_done(&available);
    for (int i = 0; i < wish.word_count; i++) free(wish.words[i]);
    return code < 0 ? args_fail(&err) : code;
}
