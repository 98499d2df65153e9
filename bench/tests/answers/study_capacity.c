/* study_capacity: searches of `lockbench capacity` against the edge that a formula gives. See
 * studies.h. */
#include <math.h>
#include <stdio.h>

#include "bench/base/sort.h"
#include "bench/tests/answers/program.h"
#include "bench/tests/answers/studies.h"
#include "results/format/capacity_read.h"

#define SEARCHES_MAX 20
#define LANES 10      /* searches side by side: they sleep more than they work */
#define QUANTILE 0.99 /* of the promise */
#define LIMIT_NS 200e6

/* The greatest rate a second at which wait and service are within the limit for the quantile. */
static double edge_per_s(const struct experiment *experiment) {
    double service = (double)experiment->script.acquire_ns / 1e9, low = 0, high = 1 / service;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (truth_md1_wait_at_most(middle, service, LIMIT_NS / 1e9 - service) >= QUANTILE)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static pid_t start_search(const struct answers_how *how, const struct experiment *experiment,
                          int number, const struct fake *fake) {
    struct program_arguments arguments = {.is_urgent = true};
    char output[400];
    program_add(&arguments, "lockbench");
    program_add(&arguments, "capacity");
    program_add(&arguments, "%s", experiment->lock);
    program_add(&arguments, "--url=redis=redis://127.0.0.1:%d", fake->port);
    program_add(&arguments, "--slo=acquire_due.p99<=200ms");
    program_add(&arguments, "--hold=0");
    program_add(&arguments, "--keys=own");
    program_add(&arguments, "--time=%.0fs", experiment->seconds);
    program_add(&arguments, "--set=load.clients=200");
    program_add(&arguments, "--set=load.seed=%d", number + 1);
    program_add(&arguments, "--out=%s/%s.%d", how->folder, experiment->name, number);
    snprintf(output, sizeof output, "%s/%s.%d.txt", how->folder, experiment->name, number);
    return program_start(how->program, &arguments, output);
}

/* The answers of the searches that have one. */
struct edges {
    int count, held;
    double value[SEARCHES_MAX];
};

static void read_edges(const struct answers_how *how, const struct experiment *experiment,
                       struct edges *edges) {
    double edge = edge_per_s(experiment);
    edges->count = edges->held = 0;
    for (int i = 0; i < experiment->repeats; i++) {
        char path[400];
        struct lb_err err = {0};
        snprintf(path, sizeof path, "%s/%s.%d", how->folder, experiment->name, i);
        struct capacity *capacity = capacity_read(path, &err);
        if (!capacity) fprintf(stderr, "answers: %s\n", err.text);
        if (capacity && capacity->lock_count > 0 && capacity->locks[0].answered) {
            const struct capacity_lock *lock = &capacity->locks[0];
            edges->value[edges->count++] = lock->value;
            edges->held += lock->low <= edge && (isnan(lock->high) || edge <= lock->high);
        }
        capacity_free(capacity);
    }
}

static void search_side_by_side(const struct answers_how *how, const struct experiment *experiment,
                                int first) {
    struct fake fakes[LANES] = {{0}};
    pid_t pids[LANES];
    struct lb_err err = {0};
    for (int i = 0; i < LANES; i++) {
        pids[i] = -1;
        if (fake_start(&fakes[i], &experiment->script, &err) == 0)
            pids[i] = start_search(how, experiment, first + i, &fakes[i]);
    }
    for (int i = 0; i < LANES; i++) {
        if (pids[i] > 0) program_wait(pids[i]);
        fake_free(&fakes[i]);
    }
    if (err.code) fprintf(stderr, "answers: %s: %s\n", experiment->name, err.text);
}

double study_capacity(const struct answers_how *how, const struct experiment *experiment) {
    struct edges edges;
    for (int first = 0; first < experiment->repeats; first += LANES)
        search_side_by_side(how, experiment, first);
    read_edges(how, experiment, &edges);
    if (edges.count == 0) return NAN;
    sort_doubles(edges.value, (size_t)edges.count);
    return fabs(edges.value[edges.count / 2] / edge_per_s(experiment) - 1);
}

double study_capacity_intervals(const struct answers_how *how,
                                const struct experiment *experiment) {
    struct edges edges;
    read_edges(how, experiment, &edges);
    return edges.count > 0 ? (double)edges.held / experiment->repeats : NAN;
}
