/* tour: see tour.h. */
#include "bench/check/tour.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/clock.h"
#include "bench/check/jobs.h"
#include "bench/check/seen.h"

#define ARGS_MAX 400
#define WAIT_NS (200 * LB_MS_NS) /* between looks at Ctrl-C */
#define START_NS                                                                                   \
    (60 * LB_S_NS)        /* beside its load a run may take so long, with servers to start ... */
#define TIMES 3           /* ... and its load so many times as long as planned, on a busy machine */
#define TRIAL_RUNS_MAX 40 /* of one cell, for --trials */

/* One run of a cell that is wanted. */
struct wanted {
    int cell;
    uint64_t seed;
    bool again; /* the first try showed nothing */
};

struct tour {
    const struct tour_ask *ask;
    struct jobs jobs;
    struct wanted *queue; /* all that were ever wanted; [next..count) still wait */
    int next, count, room;
    int done;
    int *runs;     /* of each cell: wanted so far */
    int *open;     /* of each cell: wanted, and not ended */
    bool spinning; /* what runs are spinning locks */
    bool asked_to_end;
};

static int want(struct tour *tour, struct wanted wanted, struct lb_err *err) {
    if (tour->count == tour->room) {
        int room = tour->room ? 2 * tour->room : 256;
        struct wanted *grown = realloc(tour->queue, (size_t)room * sizeof *grown);
        if (!grown) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        tour->queue = grown;
        tour->room = room;
    }
    tour->queue[tour->count++] = wanted;
    tour->runs[wanted.cell] += !wanted.again;
    tour->open[wanted.cell]++;
    return 0;
}

/* Where a run goes, below the result's folder. Returns text. */
static char *run_folder(const struct tour *tour, const struct wanted *of, char *text, size_t size) {
    const struct matrix *matrix = tour->ask->matrix;
    const struct matrix_cell *cell = &matrix->cells[of->cell];
    snprintf(text, size, "cells/%s.%s.%llu%s", cell->lock->name, matrix->columns[cell->column].name,
             (unsigned long long)of->seed, of->again ? ".again" : "");
    return text;
}

static int make_folder(const char *path, struct lb_err *err) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return 0;
    return err_set(err, LB_EXIT_MACHINE, "cannot make %s: %s", path, strerror(errno));
}

static int start(struct tour *tour, int index, struct lb_err *err) {
    const struct tour_ask *ask = tour->ask;
    const struct wanted *of = &tour->queue[index];
    const struct matrix_cell *cell = &ask->matrix->cells[of->cell];
    char folder[160], out[700], log[720], seed[64];
    snprintf(out, sizeof out, "%s/%s", ask->folder, run_folder(tour, of, folder, sizeof folder));
    snprintf(log, sizeof log, "%s/log", out);
    snprintf(seed, sizeof seed, "load.seed=%llu", (unsigned long long)of->seed);
    if (make_folder(out, err)) return -1;
    const char *argv[ARGS_MAX] = {"run", cell->workload, "--lock", cell->lock->name, "--out", out};
    int count = 6;
    const int own = (int)(sizeof cell->sets / sizeof *cell->sets);
    for (int i = 0; i < own && cell->sets[i]; i++) {
        argv[count++] = "--set";
        argv[count++] = cell->sets[i];
    }
    for (int i = 0; i < ask->set_count && count < ARGS_MAX - 4; i++) {
        argv[count++] = "--set";
        argv[count++] = ask->sets[i];
    }
    argv[count++] = "--set";
    argv[count++] = seed;
    struct job job = {.argv = argv,
                      .log = log,
                      .weight = cell->weight,
                      .limit_ns = START_NS + TIMES * cell->time_ns,
                      .tag = index};
    return jobs_start(&tour->jobs, &job, err);
}

/* Why a run as such failed; NULL = it did not. Its exit code says what it found, and is none. */
static const char *trouble_of(const struct tour *tour, const struct job_end *end, const json_t *run,
                              const char *log, char *text, size_t size) {
    char words[400];
    const char *reason = json_string_value(json_object_get(run, "partial_reason"));
    if (end->timed_out) {
        snprintf(text, size, "it was not done after %.0f s", (double)end->took_ns / 1e9);
    } else if (tour->asked_to_end && json_is_true(json_object_get(run, "partial"))) {
        snprintf(text, size, "interrupted");
    } else if (end->exit_code > 128 && end->exit_code != LB_EXIT_INTERRUPTED) {
        snprintf(text, size, "the run was killed by signal %d", end->exit_code - 128);
    } else if (run && json_is_true(json_object_get(run, "partial"))) {
        snprintf(text, size, "%s", reason ? reason : "the run is partial");
    } else if (!run) {
        jobs_last_words(log, words, sizeof words);
        snprintf(text, size, "%.390s", *words ? words : "the run left no result");
    } else {
        return NULL;
    }
    return text;
}

static void tell(const struct tour *tour, const struct job_end *end, const struct wanted *of,
                 const json_t *seen, bool again) {
    struct tour_news news = {.cell = &tour->ask->matrix->cells[of->cell],
                             .index = of->cell,
                             .seed = of->seed,
                             .seen = seen,
                             .again = again,
                             .done = tour->done,
                             .known = tour->count,
                             .took_ns = end->took_ns};
    tour->ask->news(tour->ask->arg, &news);
}

/* The run ended: what it showed goes to the result; more of it may be wanted. */
static int take(struct tour *tour, const struct job_end *end, struct lb_err *err) {
    const struct tour_ask *ask = tour->ask;
    struct wanted of = tour->queue[end->tag];
    const struct matrix_cell *cell = &ask->matrix->cells[of.cell];
    char folder[160], path[720], log[720], trouble[400];
    run_folder(tour, &of, folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%s/run.json", ask->folder, folder);
    snprintf(log, sizeof log, "%s/%s/log", ask->folder, folder);
    json_t *run = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    enum lb_scenario fault = ask->matrix->columns[cell->column].fault;
    bool needs_fault = fault != LB_SCENARIO_NONE && fault != LB_SCENARIOS;
    json_t *seen =
        seen_of_run(run, trouble_of(tour, end, run, log, trouble, sizeof trouble), needs_fault);
    json_decref(run);
    if (!seen) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    tour->done++;
    tour->open[of.cell]--;
    /* Machines that are shared stand still for seconds now and then: what showed nothing is tried
     * once more. What showed anything is not. */
    enum check_verdict verdict = seen_verdict(seen);
    bool missed =
        fault == LB_SCENARIOS && seen_compare(verdict, cell->expected.worst) == CHECK_BETTER;
    bool nothing = verdict == CHECK_FAILED || verdict == CHECK_INCONCLUSIVE || missed;
    if (nothing && !of.again && !tour->asked_to_end) {
        int wanted = want(tour, (struct wanted){of.cell, of.seed, true}, err);
        tell(tour, end, &of, seen, true);
        json_decref(seen);
        return wanted;
    }
    int trials = seen_trials(seen);
    json_incref(seen);
    int failed = result_add(ask->result, of.cell, of.seed, folder, seen, err);
    int so_far = failed ? 0 : seen_trials(result_cell_json(ask->result, of.cell));
    /* A further run without any would not be the last one without. */
    bool fruitful = trials > 0 || (so_far > 0 && tour->runs[of.cell] == ask->seed_count);
    if (!failed && !tour->asked_to_end && fruitful && so_far < cell->trials &&
        tour->open[of.cell] == 0 && tour->runs[of.cell] < TRIAL_RUNS_MAX) {
        uint64_t last = ask->seeds[ask->seed_count - 1];
        uint64_t seed = last + (uint64_t)(tour->runs[of.cell] - ask->seed_count + 1);
        failed = want(tour, (struct wanted){of.cell, seed, false}, err);
    }
    tell(tour, end, &of, seen, false);
    json_decref(seen);
    return failed;
}

static bool spins(const struct matrix_cell *cell) {
    return (cell->lock->caps & LB_CAP_SPINS) != 0;
}

/* Clients of a spinning lock whose holder is dead take every processor there is, and servers beside
 * them stood still for up to 5 s. So these run apart from the others. */
static bool may_start(const struct tour *tour, const struct matrix_cell *cell) {
    if (tour->jobs.count > 0 && tour->spinning != spins(cell)) return false;
    return jobs_fit(&tour->jobs, cell->weight);
}

/* Starts what may: the first that waits, or one behind it that is lighter, so that no room stays
 * empty. */
static int start_some(struct tour *tour, struct lb_err *err) {
    for (int i = tour->next; i < tour->count; i++) {
        const struct matrix_cell *cell = &tour->ask->matrix->cells[tour->queue[i].cell];
        if (!may_start(tour, cell)) continue;
        if (i > tour->next) {
            /* It moves to the front; the others keep their order. */
            struct wanted light = tour->queue[i];
            memmove(&tour->queue[tour->next + 1], &tour->queue[tour->next],
                    (size_t)(i - tour->next) * sizeof light);
            tour->queue[tour->next] = light;
        }
        if (start(tour, tour->next, err)) return -1;
        tour->spinning = spins(cell);
        i = tour->next++;
    }
    return 0;
}

static int run_all(struct tour *tour, struct lb_err *err) {
    const struct tour_ask *ask = tour->ask;
    for (;;) {
        if (*ask->interrupts > 0 && !tour->asked_to_end) {
            tour->asked_to_end = true;
            jobs_interrupt(&tour->jobs);
        }
        if (!tour->asked_to_end && start_some(tour, err)) return -1;
        if (tour->jobs.count == 0) return 0;
        struct job_end end;
        if (jobs_wait(&tour->jobs, WAIT_NS, &end) && take(tour, &end, err)) return -1;
    }
}

int tour_run(const struct tour_ask *ask, struct lb_err *err) {
    struct tour tour = {.ask = ask};
    char folder[600];
    int result = -1;
    jobs_init(&tour.jobs, ask->program, ask->capacity);
    snprintf(folder, sizeof folder, "%s/cells", ask->folder);
    if (make_folder(folder, err)) return -1;
    tour.runs = calloc((size_t)ask->matrix->cell_count + 1, sizeof *tour.runs);
    tour.open = calloc((size_t)ask->matrix->cell_count + 1, sizeof *tour.open);
    if (!tour.runs || !tour.open) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    /* A seed of all cells after the other: what is cut off has something of each. */
    for (int s = 0; s < ask->seed_count; s++) {
        for (int i = 0; i < ask->matrix->cell_count; i++) {
            if (want(&tour, (struct wanted){i, ask->seeds[s], false}, err)) goto out;
        }
    }
    result = run_all(&tour, err);
    if (result) jobs_kill(&tour.jobs);
out:
    free(tour.queue);
    free(tour.runs);
    free(tour.open);
    return result;
}
