/* harvest: see harvest.h. */
#include "bench/stage/harvest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "bench/load/observe.h"
#include "results/format/hlog.h"

#define PATIENCE_NS (20 * LB_MS_NS) /* for workers to hand over their figures */

/* Where each attempt begins when it is due, its acquire_due is its acquire, and it is never late: a worker need not
 * record the same twice. */
static void fill_due(const struct shared *shared, struct hist *const *side) {
    struct hist *due = side[METRIC_ACQUIRE_DUE], *lag = side[METRIC_LAG];
    const struct hist *granted = side[METRIC_ACQUIRE], *failed = side[METRIC_WAIT_FAILED];
    for (int metric = 0; metric < METRICS; metric++) hist_settle(side[metric]);
    if (shared->due_apart) return;
    hist_add(due, granted);
    hist_record_times(lag, 0, granted->count + granted->over + failed->count + failed->over);
}

/* Moves what a worker has handed over into the totals and the interval. */
static void take_side(struct harvest *harvest, struct hist *const *side) {
    fill_due(harvest->shared, side);
    for (int metric = 0; metric < METRICS; metric++) {
        if (side[metric]->count + side[metric]->over + side[metric]->under == 0) continue;
        hist_add(harvest->interval[metric], side[metric]);
        hist_add(harvest->stage->hist[metric], side[metric]);
        hist_reset(side[metric]);
    }
}

/* Takes the figures that the workers have handed over, and all of those that were killed. False while
 * some are missing. */
static bool collect_recorders(struct harvest *harvest) {
    bool all = true;
    int end, first = shared_own_threads(harvest->shared, &end);
    for (int i = first; i < end; i++) {
        struct recorder *recorder = &harvest->shared->worker[i].recorder;
        struct hist *const *side = recorder_taken(recorder);
        if (harvest->shared->worker[i].dead) {
            for (int k = 0; k < 2; k++) take_side(harvest, recorder_side(recorder, k));
        } else if (side) {
            take_side(harvest, side);
        } else {
            all = false;
        }
    }
    return all;
}

/* The stage goes on without its log. */
static void lose_log(struct harvest *harvest, const char *why) {
    err_set(&harvest->stage->log_err, LB_EXIT_MACHINE, "cannot write %s: %s",
            harvest->stage->ask->hlog_path, why);
    if (harvest->hlog) fclose(harvest->hlog);
    harvest->hlog = NULL;
}

static void open_log(struct harvest *harvest) {
    struct lb_err err = {0};
    int fd = open(harvest->stage->ask->hlog_path,
                  O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    harvest->hlog = fd < 0 ? NULL : fdopen(fd, "w");
    if (!harvest->hlog) {
        lose_log(harvest, strerror(errno));
    } else if (hlog_begin(harvest->hlog, lb_wall_now(), harvest->stage->ask->version, &err) != 0) {
        lose_log(harvest, err.text);
    }
}

static void write_log(struct harvest *harvest, int64_t begin_ns, int64_t end_ns) {
    for (int metric = 0; metric < METRICS && harvest->hlog; metric++) {
        struct lb_err err = {0};
        if (metric == METRIC_PING) continue; /* not in the window */
        if (hlog_write(harvest->hlog, metric_name(metric), begin_ns + harvest->wall_offset_ns,
                       end_ns - begin_ns, harvest->interval[metric], &err) != 0) {
            lose_log(harvest, err.text);
        }
    }
    /* Flushed each second, so that a full disk is noticed with its reason. */
    if (harvest->hlog && fflush(harvest->hlog) != 0) lose_log(harvest, strerror(errno));
}

/* Asks all workers for their figures, and takes what comes in time. */
static void gather_recorders(struct harvest *harvest, int64_t patience_ns) {
    int end, first = shared_own_threads(harvest->shared, &end);
    for (int i = first; i < end; i++) {
        struct recorder *recorder = &harvest->shared->worker[i].recorder;
        if (recorder_taken(recorder)) recorder_ask(recorder);
    }
    int64_t limit_ns = lb_now() + patience_ns;
    while (!collect_recorders(harvest) && lb_now() < limit_ns) lb_nap(LB_MS_NS / 2);
}

/* This host's grants by their time: in the window so far; and after it, to clients that asked in it. */
static int64_t window_grants(const struct shared *shared, bool drain) {
    uint64_t grants = 0;
    int end, first = shared_own_threads(shared, &end);
    for (int i = first; i < end; i++) {
        const struct worker_stats *worker = &shared->worker[i];
        grants += atomic_load_explicit(drain ? &worker->drain_grants : &worker->window_grants,
                                       memory_order_relaxed);
    }
    return (int64_t)grants;
}

/* Adds to the series. Out of memory: the series lacks it. */
static void add_point(struct stage *stage, const struct stage_second *second) {
    struct stage_second *grown =
        realloc(stage->seconds, (size_t)(stage->second_count + 1) * sizeof *stage->seconds);
    if (!grown) return;
    stage->seconds = grown;
    stage->seconds[stage->second_count++] = *second;
}

static double in_window_s(const struct harvest *harvest, int64_t ns) {
    return (double)(ns - atomic_load(&harvest->shared->window_begin_ns)) / 1e9;
}

/* Counts the grants of the second that ends now, before anything is waited for. */
static void count_second(struct harvest *harvest) {
    int64_t grants = window_grants(harvest->shared, false);
    harvest->new_grants = grants - harvest->told_grants;
    harvest->told_grants = grants;
}

static void add_second(struct harvest *harvest) {
    const struct hist *acquire = harvest->interval[METRIC_ACQUIRE];
    const struct stage_second second = {
        .t_s = in_window_s(harvest, harvest->stage->harvested_ns),
        .ok = harvest->new_grants,
        .recorded = acquire->count,
        .acquire_p50_ns = hist_quantile(acquire, 0.5),
        .acquire_p99_ns = hist_quantile(acquire, 0.99),
    };
    add_point(harvest->stage, &second);
}

/* Adds the grants of the drain to the series as its last point, if there are any; and to the last second the grants of
 * the window that a thread counted late. */
static void add_drain(struct harvest *harvest) {
    struct stage *stage = harvest->stage;
    const struct stage_second drain = {
        .t_s = in_window_s(harvest, atomic_load(&harvest->shared->window_end_ns)),
        .ok = window_grants(harvest->shared, true),
        .draining = true,
    };
    count_second(harvest);
    if (stage->second_count > 0) stage->seconds[stage->second_count - 1].ok += harvest->new_grants;
    if (drain.ok > 0) add_point(stage, &drain);
}

int harvest_begin(struct harvest *harvest, struct stage *stage, struct shared *shared,
                  struct lb_err *err) {
    harvest->stage = stage;
    harvest->shared = shared;
    harvest->wall_offset_ns = lb_wall_now() - lb_now();
    for (int metric = 0; metric < METRICS; metric++) {
        harvest->interval[metric] = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
        stage->hist[metric] = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
        if (!harvest->interval[metric] || !stage->hist[metric])
            return err_set(err, LB_EXIT_MACHINE, "out of memory for histograms");
    }
    if (stage->ask->hlog_path && !stage->ask->peers) open_log(harvest);
    return 0;
}

static void harvest_close_interval(struct harvest *harvest, int64_t end_ns) {
    write_log(harvest, harvest->stage->harvested_ns, end_ns);
    harvest->window_over ? add_drain(harvest) : add_second(harvest);
    for (int metric = 0; metric < METRICS; metric++) hist_reset(harvest->interval[metric]);
    harvest->stage->harvested_ns = end_ns;
}

void harvest_interval(struct harvest *harvest, int64_t end_ns) {
    count_second(harvest);
    /* A thread that blocks in its lock answers later; its figures count for the next interval. */
    gather_recorders(harvest, PATIENCE_NS);
    harvest_close_interval(harvest, end_ns);
}

void harvest_window_end(struct harvest *harvest) {
    count_second(harvest);
    gather_recorders(harvest, PATIENCE_NS);
    add_second(harvest);
    harvest->window_over = true;
}

void harvest_last(struct harvest *harvest, int64_t end_ns, bool alive) {
    /* Twice, because the first may only answer an earlier request. There is time: nothing is
     * measured any more, and the log must have what run.json has. */
    for (int i = 0; i < 2; i++) gather_recorders(harvest, alive ? LB_S_NS : PATIENCE_NS);
    harvest_close_interval(harvest, end_ns);
}

void harvest_rest(struct harvest *harvest) {
    int end, first = shared_own_threads(harvest->shared, &end);
    for (int i = first; i < end; i++) {
        for (int side = 0; side < 2; side++) {
            struct hist *const *left = recorder_side(&harvest->shared->worker[i].recorder, side);
            fill_due(harvest->shared, left);
            for (int metric = 0; metric < METRICS; metric++)
                hist_add(harvest->stage->hist[metric], left[metric]);
        }
    }
}

void harvest_done(struct harvest *harvest) {
    FILE *file = harvest->hlog;
    harvest->hlog = NULL;
    if (file && fclose(file) != 0) lose_log(harvest, strerror(errno));
    for (int metric = 0; metric < METRICS; metric++) hist_free(harvest->interval[metric]);
}
