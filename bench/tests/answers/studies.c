/* studies: see studies.h. */
#include "bench/tests/answers/studies.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/base/rng.h"
#include "bench/tests/answers/program.h"

#define LANES 4 /* trials side by side: they sleep more than they work */

/* Runs trials number 0 .. count - 1 of an experiment, some side by side, and hands each to the
 * visitor. How many were seen. */
static int run_trials(const struct answers_how *how, const struct experiment *experiment, int count,
                      void (*visit)(const struct seen *seen, void *arg), void *arg) {
    int seen_count = 0;
    for (int first = 0; first < count; first += LANES) {
        struct trial trials[LANES];
        bool started[LANES] = {false};
        struct lb_err err = {0};
        for (int i = 0; i < LANES && first + i < count; i++)
            started[i] = trial_start(&trials[i], how, experiment, first + i, &err) == 0;
        for (int i = 0; i < LANES && first + i < count; i++) {
            struct seen seen = {.run = NULL};
            if (started[i] && trial_finish(&trials[i], &seen, &err) == 0) {
                if (visit) visit(&seen, arg);
                seen_count++;
            }
            trial_free(&trials[i], &seen);
        }
        if (err.code) fprintf(stderr, "answers: %s: %s\n", experiment->name, err.text);
    }
    return seen_count;
}

/* ---- the bound ---- */

struct bounds {
    double *bound; /* NAN: a violation was found, so there is none */
    int count;
    double grants, doubled;
};

static void note_bound(const struct seen *seen, void *arg) {
    struct bounds *bounds = arg;
    size_t all = atomic_load(&seen->log->count);
    for (size_t i = 0; i < all; i++) bounds->doubled += seen->log->record[i].doubled;
    bounds->grants += truth_count(seen, FAKE_GRANTED);
    bounds->bound[bounds->count++] = answers_figure(seen, "exclusion.bound95");
}

double study_bound(const struct answers_how *how, const struct experiment *experiment) {
    struct bounds bounds = {.bound = calloc((size_t)experiment->repeats, sizeof(double))};
    double below = 0;
    if (!bounds.bound) return NAN;
    run_trials(how, experiment, experiment->repeats, note_bound, &bounds);
    double rate = bounds.doubled / bounds.grants;
    for (int i = 0; i < bounds.count; i++) below += bounds.bound[i] < rate;
    double share = bounds.count > 0 ? below / bounds.count : NAN;
    free(bounds.bound);
    return share;
}

/* ---- comparisons ---- */

#define RUNS 40     /* of each kind */
#define SAMPLE 10   /* of them on each side of a comparison */
#define COMPARED 40 /* comparisons */

/* Draws 2 x SAMPLE different numbers below RUNS. */
static void draw_numbers(struct lb_rng *rng, int *ret_numbers) {
    int all[RUNS];
    for (int i = 0; i < RUNS; i++) all[i] = i;
    for (int i = 0; i < 2 * SAMPLE; i++) {
        int j = i + (int)rng_below(rng, (uint64_t)(RUNS - i)), swap = all[i];
        all[i] = all[j];
        all[j] = swap;
        ret_numbers[i] = all[i];
    }
}

/* The share of comparisons with exit code 4. to: the experiment that the new runs are of. */
static double compare_samples(const struct answers_how *how, const struct experiment *from,
                              const struct experiment *to) {
    struct lb_rng rng;
    int worse = 0;
    rng_seed(&rng, 1, from == to);
    for (int round = 0; round < COMPARED; round++) {
        struct program_arguments arguments = {.count = 0};
        int numbers[2 * SAMPLE];
        char output[400];
        draw_numbers(&rng, numbers);
        program_add(&arguments, "lockbench");
        program_add(&arguments, "compare");
        for (int i = 0; i < 2 * SAMPLE; i++) {
            const struct experiment *of = i < SAMPLE ? from : to;
            if (i == SAMPLE) program_add(&arguments, "--");
            program_add(&arguments, "%s/%s.%d", how->folder, of->name, numbers[i]);
        }
        snprintf(output, sizeof output, "%s/%s-%s.%d.txt", how->folder, from->name, to->name,
                 round);
        worse += program_wait(program_start(how->program, &arguments, output)) == 4;
    }
    return (double)worse / COMPARED;
}

double study_false_alarms(const struct answers_how *how, const struct experiment *experiment) {
    if (run_trials(how, experiment, RUNS, NULL, NULL) < RUNS) return NAN;
    return compare_samples(how, experiment, experiment);
}

/* After study_false_alarms, which has made the base's runs. */
double study_found(const struct answers_how *how, const struct experiment *experiment) {
    struct experiment slower = *experiment;
    slower.name = "comparison-slower";
    for (int i = 0; i < EXPERIMENT_SETTINGS_MAX - 1; i++) {
        if (slower.settings[i]) continue;
        slower.settings[i] = "sim.service=21ms";
        break;
    }
    if (run_trials(how, &slower, RUNS, NULL, NULL) < RUNS) return NAN;
    return compare_samples(how, experiment, &slower);
}
