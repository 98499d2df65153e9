/* cell_schedule: see cell_schedule.h. */
#include "bench/tools/check/cell_schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/servers/jobs.h"
#include "bench/tools/check/cell_result.h"

/* One run of a cell that is wanted. */
struct wanted {
    int cell;
    uint64_t seed;
    bool again;       /* the first try showed nothing, so this is the second */
    char folder[160]; /* below the result's folder */
};

struct schedule {
    struct result *result;
    const struct result_ask *of;
    const volatile sig_atomic_t *interrupts;
    void (*news)(const struct cell_schedule_news *news);
    struct jobs jobs;
    struct wanted *queue; /* all runs that were ever wanted; [next..count) still wait */
    int next, count;
    int done;
    bool asked_to_end;
};

static void want(struct schedule *schedule, int index, uint64_t seed, bool again) {
    const struct matrix *matrix = schedule->of->matrix;
    const struct matrix_cell *cell = &matrix->cells[index];
    struct wanted *wanted = &schedule->queue[schedule->count++];
    *wanted = (struct wanted){.cell = index, .seed = seed, .again = again};
    snprintf(wanted->folder, sizeof wanted->folder, "cells/%s.%s.%llu%s", cell->lock->name,
             cell->column->name, (unsigned long long)seed, again ? ".again" : "");
}

static int url_words(const struct result_ask *ask, const struct matrix_cell *cell,
                     const char **argv, int count) {
    for (int i = 0; i < ask->url_count; i++) {
        if (ask->urls[i].backend != cell->lock->backend) continue;
        argv[count++] = "--url";
        argv[count++] = ask->urls[i].word;
    }
    return count;
}

/* The arguments of a cell's run, up to JOB_ARGS_MAX; argv has NULLs. */
static void run_words(const struct result_ask *ask, const struct matrix_cell *cell, const char *out,
                      const char *seed, const char **argv) {
    const char *const first[] = {"run", cell->workload, "--lock", cell->lock->name, "--out", out,
                                 /* a log for each of hundreds of runs would take a hundred
                                  * megabytes */
                                 "--no-page"};
    int count = sizeof first / sizeof *first;
    const int own = (int)(sizeof cell->sets / sizeof *cell->sets);
    memcpy(argv, first, sizeof first);
    for (int i = 0; i < own && cell->sets[i]; i++) {
        argv[count++] = "--set";
        argv[count++] = cell->sets[i];
    }
    count = url_words(ask, cell, argv, count);
    for (int i = 0; i < ask->set_count && count < JOB_ARGS_MAX - 4; i++) {
        argv[count++] = "--set";
        argv[count++] = ask->sets[i];
    }
    argv[count++] = "--set";
    argv[count++] = seed;
}

/* True if "section.key=value" is of this section. */
static bool is_of(const char *set, const char *section) {
    size_t len = strlen(section);
    return strncmp(set, section, len) == 0 && set[len] == '.';
}

static void suite_words(const struct result_ask *ask, const struct matrix_cell *cell,
                        const char *out, const char **argv) {
    const char *const first[] = {"--conform", cell->lock->name, "--out", out};
    memcpy(argv, first, sizeof first);
    int count = url_words(ask, cell, argv, (int)(sizeof first / sizeof *first));
    /* Settings of the workload (--set) don't apply to the conformance suite. */
    for (int i = 0; i < ask->set_count && count < JOB_ARGS_MAX - 4; i++) {
        const char *set = ask->sets[i];
        if (!is_of(set, cell->lock->name) && !is_of(set, cell->lock->backend->name)) continue;
        argv[count++] = "--set";
        argv[count++] = strchr(set, '.') + 1;
    }
}

static int start_run(struct schedule *schedule, int index, struct lb_err *err) {
    const struct result_ask *ask = schedule->of;
    const struct wanted *of = &schedule->queue[index];
    const struct matrix_cell *cell = &schedule->of->matrix->cells[of->cell];
    char out[700], log[720], seed[64];
    snprintf(out, sizeof out, "%s/%s", schedule->of->folder, of->folder);
    snprintf(log, sizeof log, "%s/log", out);
    snprintf(seed, sizeof seed, "load.seed=%llu", (unsigned long long)of->seed);
    if (jobs_make_folder(out, err)) return -1;
    const char *argv[JOB_ARGS_MAX] = {NULL};
    if (cell->column->suite)
        suite_words(ask, cell, out, argv);
    else
        run_words(ask, cell, out, seed, argv);
    struct job job = {.argv = argv,
                      .log = log,
                      .weight = cell->weight,
                      .limit_ns = JOB_LIMIT_NS(cell->time_ns),
                      .tag = index};
    return jobs_start(&schedule->jobs, &job, err);
}

/* Why a run itself failed; NULL = it did not. An exit code that reports a finding of the run is no
 * failure. */
static const char *trouble_of(const struct schedule *schedule, const struct job_end *end,
                              const json_t *run, const char *log, char *text, size_t size) {
    const char *reason = json_string_value(json_object_get(run, "partial_reason"));
    bool partial = json_is_true(json_object_get(run, "partial"));
    if (!end->timed_out && schedule->asked_to_end && partial) {
        snprintf(text, size, "interrupted");
    } else if (!job_was_cut(end, text, size)) {
        if (run && !partial) return NULL;
        if (run)
            snprintf(text, size, "%s", reason ? reason : "the run is partial");
        else
            jobs_last_words(log, text, size);
        if (!*text) snprintf(text, size, "the run left no result");
    }
    return text;
}

static void report_run(const struct schedule *schedule, const struct job_end *end,
                       const struct wanted *of, const struct cell_result *cell_result, bool again) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", schedule->of->folder, of->folder);
    struct cell_schedule_news news = {.result = schedule->result,
                                      .cell = &schedule->of->matrix->cells[of->cell],
                                      .seed = of->seed,
                                      .cell_result = cell_result,
                                      .folder = path,
                                      .again = again,
                                      .done = schedule->done,
                                      .known = schedule->count,
                                      .took_ns = end->took_ns};
    schedule->news(&news);
}

/* Makes a cell's result from the files that a run left. 0, or -1 with err. */
static int read_run(const struct schedule *schedule, const struct job_end *end,
                    const struct wanted *of, struct cell_result *ret, struct lb_err *err) {
    const struct matrix_column *column = schedule->of->matrix->cells[of->cell].column;
    char path[720], log[720], trouble[400];
    struct lb_err unread = {0};
    snprintf(path, sizeof path, "%s/%s/%s.json", schedule->of->folder, of->folder,
             column->suite ? "conformance" : "run");
    snprintf(log, sizeof log, "%s/%s/log", schedule->of->folder, of->folder);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    bool needs_fault = column->scenario != LB_SCENARIOS && lb_scenario_injects(column->scenario);
    const char *why = trouble_of(schedule, end, root, log, trouble, sizeof trouble);
    int failed;
    if (column->suite) {
        jobs_last_words(log, unread.text, sizeof unread.text);
        failed = cell_result_of_suite(root, why ? why : unread.text, ret, err);
    } else {
        struct run *run = run_from_json(root, path, &unread);
        if (!run && !why) why = unread.text;
        failed = cell_result_of_run(run, why, needs_fault, ret, err);
        run_free(run);
    }
    json_decref(root);
    return failed;
}

/* A run has ended: adds it to the result, or has it tried once more. */
static int finish_run(struct schedule *schedule, const struct job_end *end, struct lb_err *err) {
    struct wanted of = schedule->queue[end->tag];
    const struct matrix_cell *cell = &schedule->of->matrix->cells[of.cell];
    struct cell_result cell_result;
    int failed = read_run(schedule, end, &of, &cell_result, err);
    if (failed) return -1;
    schedule->done++;
    /* Shared machines stand still for seconds now and then, so a run that showed nothing is tried
     * once more. A run that showed anything is not. */
    enum check_verdict verdict = cell_result.cell.verdict;
    bool missed = cell->column->scenario == LB_SCENARIOS &&
                  cell_result_compare(verdict, cell->expected.worst) == CHECK_BETTER;
    bool nothing = verdict == CHECK_FAILED || verdict == CHECK_INCONCLUSIVE || missed;
    bool again = nothing && !of.again && !schedule->asked_to_end;
    if (again)
        want(schedule, of.cell, of.seed, true);
    else
        failed = result_add(schedule->result, of.cell, of.seed, of.folder, &cell_result, err);
    report_run(schedule, end, &of, &cell_result, again);
    cell_result_free(&cell_result);
    return failed;
}

/* Starts the first waiting run that has room, or a lighter one behind it, so that no room stays
 * empty. */
static int start_some(struct schedule *schedule, struct lb_err *err) {
    for (int i = schedule->next; i < schedule->count; i++) {
        const struct matrix_cell *cell = &schedule->of->matrix->cells[schedule->queue[i].cell];
        if (!jobs_fit(&schedule->jobs, cell->weight)) continue;
        if (i > schedule->next) {
            /* The run moves to the front; the others keep their order. */
            struct wanted light = schedule->queue[i];
            memmove(&schedule->queue[schedule->next + 1], &schedule->queue[schedule->next],
                    (size_t)(i - schedule->next) * sizeof light);
            schedule->queue[schedule->next] = light;
        }
        if (start_run(schedule, schedule->next, err)) return -1;
        i = schedule->next++;
    }
    return 0;
}

static int run_all(struct schedule *schedule, struct lb_err *err) {
    for (;;) {
        if (*schedule->interrupts > 0 && !schedule->asked_to_end) {
            schedule->asked_to_end = true;
            jobs_interrupt(&schedule->jobs);
        }
        if (!schedule->asked_to_end && start_some(schedule, err)) return -1;
        if (schedule->jobs.count == 0) return 0;
        struct job_end end;
        if (jobs_wait(&schedule->jobs, JOBS_LOOK_NS, &end) && finish_run(schedule, &end, err))
            return -1;
    }
}

int cell_schedule_run(struct result *result, const volatile sig_atomic_t *interrupts,
                      void (*news)(const struct cell_schedule_news *news), struct lb_err *err) {
    const struct result_ask *of = &result->ask;
    struct schedule schedule = {.result = result, .of = of, .interrupts = interrupts, .news = news};
    char folder[600];
    int cells = of->matrix->cell_count;
    jobs_init(&schedule.jobs, NULL, of->weight_max);
    snprintf(folder, sizeof folder, "%s/cells", of->folder);
    if (jobs_make_folder(folder, err)) return -1;
    /* each run may be tried once more */
    schedule.queue = calloc(2 * (size_t)cells * (size_t)of->seed_count + 1, sizeof *schedule.queue);
    if (!schedule.queue) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    /* The first run of each cell comes before the second of any, so that a check that is cut off
     * has a result for each cell. */
    for (int s = 0; s < of->seed_count; s++) {
        for (int i = 0; i < cells; i++) want(&schedule, i, of->seeds[s], false);
    }
    int failed = run_all(&schedule, err);
    if (failed) jobs_kill(&schedule.jobs);
    free(schedule.queue);
    return failed;
}
