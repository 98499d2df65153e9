/* queue: see queue.h. */
#include "results/stats/queue.h"

#include <math.h>
#include <stdlib.h>

#define TERMS 64 /* a Poisson number with a mean below 1 never gets so great: 1 / 64! */

double queue_capacity(double hold, double handoff) {
    if (!isfinite(hold) || !isfinite(handoff) || hold < 0 || handoff < 0 || !(hold + handoff > 0))
        return NAN;
    return 1 / (hold + handoff);
}

static int is_bad(double rate, double service) {
    return !isfinite(rate) || !isfinite(service) || rate < 0 || !(service > 0);
}

double queue_md1_wait(double rate, double service) {
    if (is_bad(rate, service)) return NAN;
    double rho = rate * service;
    return rho < 1 ? rho * service / (2 * (1 - rho)) : INFINITY;
}

/* The probabilities of 0 .. count-1 clients in the system: each level is crossed upwards as often
 * as downwards (Ramaswami's recursion, 1988, of positive terms only). While one client is served, a
 * Poisson number of mean rho arrives. */
static void fill_system(double rho, double *in_system, int count) {
    double more[TERMS + 1]; /* P(at least i arrive) */
    double one = exp(-rho), none = one;
    for (int i = 0; i < TERMS; i++) more[i] = i ? (one *= rho / i) : one;
    more[TERMS] = 0;
    for (int i = TERMS - 1; i >= 0; i--) more[i] += more[i + 1];
    in_system[0] = 1 - rho;
    for (int n = 1; n < count; n++) {
        double up = n < TERMS ? in_system[0] * more[n] : 0;
        for (int j = n - TERMS + 2 > 1 ? n - TERMS + 2 : 1; j < n; j++)
            up += in_system[j] * more[n - j + 1];
        in_system[n] = up / none;
    }
}

/* P(wait <= x), x = wait in service times; in_system covers floor(x) + 2. */
static double share_below(double rho, double x, const double *in_system) {
    int k = (int)floor(x) + 1; /* k - 1 <= x < k */
    double ahead = rho * (k - x), term = exp(-ahead), sum = 0, at_most = 0;
    for (int i = 0; i <= k; i++) at_most += in_system[i];
    /* An arriving client finds at most k - j others in the system, of which j leave during the rest
     * of the k-th service time. */
    for (int j = 0; j < k && j < TERMS; j++) {
        sum += term * at_most;
        at_most -= in_system[k - j];
        term *= ahead / (j + 1);
    }
    return sum < 1 ? sum : 1;
}

double queue_md1_below(double rate, double service, double wait) {
    if (is_bad(rate, service) || isnan(wait)) return NAN;
    double rho = rate * service, x = wait / service;
    if (rho >= 1 || wait < 0) return 0;
    if (x > QUEUE_LONGEST) return NAN;
    int count = (int)floor(x) + 2;
    double *in_system = malloc(2 * (size_t)count * sizeof *in_system);
    if (!in_system) return NAN;
    fill_system(rho, in_system, count);
    double p = share_below(rho, x, in_system);
    free(in_system);
    return p;
}

double queue_md1_quantile(double rate, double service, double q) {
    if (is_bad(rate, service) || !(q > 0 && q < 1)) return NAN;
    if (rate * service >= 1) return INFINITY;
    double low = 0, high = service;
    if (queue_md1_below(rate, service, 0) >= q) return 0;
    while (queue_md1_below(rate, service, high) < q) {
        low = high;
        high *= 2;
        if (high > QUEUE_LONGEST * service) return INFINITY;
    }
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2, p = queue_md1_below(rate, service, middle);
        if (isnan(p)) return NAN;
        if (p < q) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}
