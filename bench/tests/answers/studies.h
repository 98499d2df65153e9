/* studies: questions that only many starts of the program can answer: how often its verdicts are wrong. Each returns
 * a share or a count, NAN when the program could not be run. */
#ifndef BENCH_ANSWERS_STUDIES_H
#define BENCH_ANSWERS_STUDIES_H

#include "bench/tests/answers/answers.h"

/* The share of the experiment's repeats in which the 95 % bound of violations is below the true rate. */
double study_bound(const struct answers_how *how, const struct experiment *experiment);

/* Ten runs are compared with ten others, many times, all taken from one set of runs. The share of the
 * comparisons that find something worse (exit code 4): when nothing has changed, and when the
 * experiment's lock is 5 % slower. */
double study_false_alarms(const struct answers_how *how, const struct experiment *experiment);
double study_found(const struct answers_how *how, const struct experiment *experiment);

/* Searches of capacity, the experiment's repeats: how far their median is from the edge that the
 * formula for M/D/1 gives, as a share of the edge; and, of the searches that study_capacity has
 * made, the share of the 95 % intervals that hold the edge. */
double study_capacity(const struct answers_how *how, const struct experiment *experiment);
double study_capacity_intervals(const struct answers_how *how, const struct experiment *experiment);

#endif
