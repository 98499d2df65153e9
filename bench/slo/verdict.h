/* verdict: says whether one lock kept a threshold under one load, in one repeat or several, and how
 * sure that is.
 *
 * If the samples are too few, or scatter too much, the threshold is unsure: neither kept nor broken. If the
 * load generator was the limit, a threshold that seems broken is unsure too, because a faster generator
 * might have shown otherwise; a threshold that was kept nevertheless is kept. A request that was never
 * granted lies above every limit. This file runs nothing and prints nothing. */
#ifndef BENCH_SLO_VERDICT_H
#define BENCH_SLO_VERDICT_H

#include "bench/base/promise_verdict.h"
#include "bench/slo/threshold.h"
#include "results/stats/quantile.h"

#define SLO_LEVEL 0.95
#define SLO_REPEATS_MIN 6 /* for an interval of the median over repeats */

/* The samples of the repeats of one lock under one load, for one threshold; zeroed: none yet. The
 * struct owns all its memory. */
struct slo_evidence {
    double *figures; /* of each repeat; INFINITY: the quantile lies among requests never granted */
    int repeats;
    int thin; /* repeats whose requests are too few to show the quantile: the figure is NAN, and their seconds count */
    /* A second each, of all repeats. A quantile: how many requests, and how many were within the
     * limit. A share: how many attempts, and how many belong to the share. */
    struct quantile_batch *batches;
    int batch_count;
    double *seconds; /* for a mean: its value in each second */
    int second_count;
    int limited; /* repeats in which the load generator itself was the limit */
    bool failed; /* memory ran out, and something is missing */
};

struct slo_answer {
    enum promise_verdict verdict;
    /* the median of the repeats; NAN: not measured, or the requests are too few to show it */
    double figure;
    double low, high; /* its interval; NAN: not known */
    char basis[160];  /* what the verdict and the interval are based on */
    /* what would make an unsure verdict sure, without a full stop; NULL: it is sure, or that is not known */
    const char *remedy;
};

void slo_add_figure(struct slo_evidence *evidence, double figure);
/* Adds a repeat whose requests are too few to show the quantile. */
void slo_add_thin(struct slo_evidence *evidence);
void slo_add_batch(struct slo_evidence *evidence, uint64_t count, uint64_t below);
void slo_add_second(struct slo_evidence *evidence, double value);
void slo_evidence_done(struct slo_evidence *evidence);

struct slo_answer slo_judge(const struct threshold *threshold, const struct slo_evidence *evidence);

#endif
