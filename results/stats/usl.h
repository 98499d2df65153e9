/* usl: Gunther's Universal Scalability Law, fitted to throughput at several numbers of clients:
 *
 *     X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))
 *
 * lambda: throughput of one client; sigma: the share that is serial (contention); kappa: what each
 * pair of clients costs (coherency). Fitted by least squares with sigma, kappa >= 0 (Levenberg and
 * Marquardt, begun at the linearised fit). Intervals from the covariance matrix with Student's t,
 * as R's nls has them, cut at 0: with six points and three parameters a bootstrap draws from too
 * few residuals and comes out too narrow. Assumes errors that are independent and alike at every N.
 * A sweep of one hot key has sigma near 1 and fits as well as any: the law is told nothing of
 * queues. */
#ifndef RESULTS_STATS_USL_H
#define RESULTS_STATS_USL_H

#define USL_CLIENTS_MIN 6 /* different numbers of clients */
#define USL_BEYOND 2.0    /* times the greatest measured: nothing is said of more */

struct usl_parameter {
    double estimate, low, high;
};

struct usl {
    struct usl_parameter lambda, sigma, kappa;
    double level; /* of the intervals */
    double
        peak_n; /* N*: clients of the most throughput, sqrt((1 - sigma) / kappa); infinite when kappa is 0,
                      1 when sigma is 1 or more */
    double peak; /* throughput there; NAN where N* is beyond USL_BEYOND times what was measured */
    double r_squared; /* part of the variance that the law explains */
    double n_max;     /* greatest N measured */
    int count;        /* points */
};

enum usl_result { USL_OK = 0, USL_TOO_FEW = -1, USL_BAD = -2 };

/* Points in any order, several at one N welcome (one a repeat). USL_TOO_FEW: fewer than
 * USL_CLIENTS_MIN different N. USL_BAD: an N below 1, a throughput that is not above 0, one that is
 * not finite, a level not within 0..1, or no fit. Then *ret is untouched. */
enum usl_result usl_fit(const double *n, const double *throughput, int count, double level,
                        struct usl *ret);

/* The fitted throughput of n clients. 0, or -1 where n is below 1 or beyond USL_BEYOND times the
 * greatest measured; then *ret is untouched. */
int usl_at(const struct usl *usl, double n, double *ret);

#endif
