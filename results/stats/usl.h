/* usl: Gunther's Universal Scalability Law, fitted to the throughput at several numbers of clients:
 *
 *     X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))
 *
 *   lambda: the throughput of one client
 *   sigma:  the serial share (contention)
 *   kappa:  the cost of each pair of clients (coherency)
 *
 * Fitted by least squares with sigma, kappa >= 0 (Levenberg and Marquardt, starting at the
 * linearised fit). Intervals come from the covariance matrix with Student's t, as in R's nls, cut
 * at 0: with six points and three parameters a bootstrap draws from too few residuals and gives too
 * narrow intervals. Assumes errors that are independent and equal at every N. A sweep of one hot
 * key has sigma near 1 and fits as well as any other: the law knows nothing about queues. */
#ifndef RESULTS_STATS_USL_H
#define RESULTS_STATS_USL_H

#define USL_CLIENTS_MIN 6 /* different numbers of clients needed */
#define USL_BEYOND 2.0    /* nothing is predicted beyond this many times the greatest measured N */

struct usl_parameter {
    double estimate, low, high;
};

struct usl {
    struct usl_parameter lambda, sigma, kappa;
    double level; /* of the intervals */
    /* N*: the number of clients with the greatest throughput, sqrt((1 - sigma) / kappa); infinite
     * when kappa is 0, 1 when sigma is 1 or more */
    double peak_n;
    /* the throughput at N*; NAN where N* is beyond USL_BEYOND times the greatest measured N */
    double peak;
    double r_squared; /* the part of the variance that the law explains */
    double n_max;     /* greatest N measured */
    int count;        /* points */
};

enum usl_result { USL_OK = 0, USL_TOO_FEW = -1, USL_BAD = -2 };

/* Points in any order; several at one N are allowed (one for each repeat). USL_TOO_FEW: fewer than
 * USL_CLIENTS_MIN different N. USL_BAD: an N below 1, a throughput that is not above 0, a value
 * that is not finite, a level not within 0..1, or no fit. Then *ret is untouched. */
enum usl_result usl_fit(const double *n, const double *throughput, int count, double level,
                        struct usl *ret);

/* The fitted throughput of n clients. Returns 0, or -1 where n is below 1 or beyond USL_BEYOND
 * times the greatest measured N; then *ret is untouched. */
int usl_at(const struct usl *usl, double n, double *ret);

#endif
