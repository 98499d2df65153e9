/* quantile: see quantile.h. */
#include "results/stats/quantile.h"

#include <float.h>
#include <math.h>

#define EXACT_MAX 1e8 /* n q (1-q): so many that the normal distribution is exact to a rank */
/* Fewer groups of neighbours than these show the variance between groups too roughly. */
#define GROUPS_MIN 8

/* The incomplete beta function's continued fraction, by Lentz's method as Thompson and Barnett
 * modified it (1986). Converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m <= 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double before = value;
        for (int half = 0; half < 2; half++) {
            double term = half ? odd : even;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            value *= c * d;
        }
        if (fabs(value - before) <= 1e-16 * fabs(value)) break;
    }
    return value;
}

/* The regularised incomplete beta function I_x(a, b) for a, b > 0; y = 1 - x, given apart since it may be tiny. */
static double beta_part(double a, double b, double x, double y) {
    if (x <= 0) return 0;
    if (y <= 0) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

/* P(|T| > |t|) with df degrees of freedom. */
static double student_p(double t, double df) {
    if (isnan(t) || !(df > 0)) return NAN;
    if (isinf(t)) return 0;
    if (isinf(df)) return erfc(fabs(t) / sqrt(2));
    double square = t * t;
    return beta_part(df / 2, 0.5, df / (df + square), square / (df + square));
}

/* A function that grows or falls between low and high, and is 0 in between. */
struct rising {
    double (*at)(const struct rising *of, double x);
    double p, a, b;
};

/* Where it is 0, by Chandrupatla's method (1997): halving, and inverse quadratic interpolation where that is safe. */
static double solve(const struct rising *of, double low, double high) {
    double a = high, b = low, at_a = of->at(of, a), at_b = of->at(of, b), part = 0.5;
    for (int i = 0; i < 200; i++) {
        double x = a + part * (b - a), at_x = of->at(of, x), c = a, at_c = at_a;
        if ((at_x > 0) != (at_a > 0)) c = b, at_c = at_b, b = a, at_b = at_a;
        a = x, at_a = at_x;
        double best = fabs(at_a) < fabs(at_b) ? a : b;
        double least = (2 * DBL_EPSILON * fabs(best) + DBL_MIN) / fabs(b - a);
        if (at_a == 0 || at_b == 0 || least > 0.5) return best;
        double xi = (a - b) / (c - b), phi = (at_a - at_b) / (at_c - at_b);
        part = 0.5;
        if (phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi)
            part = at_a / (at_b - at_a) * at_c / (at_b - at_c) +
                   (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b);
        part = fmin(fmax(part, least), 1 - least);
    }
    return a;
}

static double above_student(const struct rising *of, double t) {
    return student_p(t, of->a) - of->p;
}

double student_quantile(double level, double df) {
    double high = 1;
    if (!(level > 0 && level < 1) || !(df > 0)) return NAN;
    while (student_p(high, df) > 1 - level && high < 1e300) high *= 2;
    return solve(&(struct rising){above_student, 1 - level, df, 0}, high > 1 ? high / 2 : 0, high);
}

bool quantile_supported(double n, double q) {
    return n * (1 - q) > QUANTILE_ABOVE * (1 - 1e-9); /* 1 - 0.9 is a little less than 0.1 */
}

/* P(B <= k), or with `above` P(B > k), of a binomial distribution. */
static double binomial(double n, double q, double k, bool above) {
    if (k < 0 || k >= n) return (k >= n) != above;
    return above ? beta_part(k + 1, n - k, q, 1 - q) : beta_part(n - k, k + 1, 1 - q, q);
}

/* The greatest l with P(B < l) <= tail; or with `above` the smallest u with P(B > u) <= tail. */
static double reach(double n, double q, double tail, bool above) {
    double in = above ? n : 0, out = above ? -1 : n + 1; /* in: it holds; out: it does not */
    while (fabs(out - in) > 1) {
        double k = floor((in + out) / 2);
        *(binomial(n, q, above ? k : k - 1, above) <= tail ? &in : &out) = k;
    }
    return in;
}

static int ranks(double n, double q, double level, double *ret_low, double *ret_high) {
    if (!(n >= 1) || !(q > 0 && q < 1) || !(level > 0 && level < 1)) return -1;
    double tail = (1 - level) / 2, low, high;
    if (n * q * (1 - q) <= EXACT_MAX) {
        low = reach(n, q, tail, false);
        high = reach(n, q, tail, true) + 1;
    } else {
        double z = student_quantile(level, INFINITY), spread = sqrt(n * q * (1 - q));
        low = floor(n * q - z * spread);
        high = ceil(n * q + z * spread) + 1;
    }
    if (low < 1 || high > n) return -1;
    *ret_low = low;
    *ret_high = high;
    return 0;
}

int quantile_ranks(uint64_t n, double q, double level, uint64_t *ret_low, uint64_t *ret_high) {
    double low, high;
    if (ranks((double)n, q, level, &low, &high) != 0) return -1;
    *ret_low = (uint64_t)low;
    *ret_high = (uint64_t)high;
    return 0;
}

/* The differences between the batches' shares below give the effective number of samples: n by the
 * design effect (never below 1) for a share of q (NAN: the share that was seen), corrected by
 * Student's t for the number of batches (Korn and Graubard, Survey Methodology 24, 1998). Assumes
 * that batches are independent of each other, so that each is much longer than the time over which
 * samples depend on each other, and that all come from one steady state. Empty batches do not count.
 * Returns 0, or -1 for fewer than QUANTILE_BATCHES_MIN batches or a level not within 0..1; then *ret
 * is untouched. */
static int quantile_effective(const struct quantile_batch *batches, int count, double q,
                              double level, struct quantile_worth *ret) {
    double n = 0, below = 0, squares = 0;
    int filled = 0;
    if (!(level > 0 && level < 1)) return -1;
    for (int i = 0; i < count; i++) {
        if (batches[i].below > batches[i].count) return -1;
        filled += batches[i].count > 0;
        n += (double)batches[i].count;
        below += (double)batches[i].below;
    }
    if (filled < QUANTILE_BATCHES_MIN) return -1;
    double share = below / n;
    for (int i = 0; i < count; i++) {
        double off = (double)batches[i].below - share * (double)batches[i].count;
        squares += off * off;
    }
    if (isnan(q)) q = share;
    /* The variance of the share between batches, as the variance of a ratio; `alone` is the
     * variance that as many independent samples would have. */
    double variance = squares * filled / (filled - 1) / (n * n), alone = q * (1 - q) / n;
    double effect = alone > 0 && variance > alone ? variance / alone : 1;
    /* A few batches show the variance only roughly, so the interval must be wider: by Student's t
     * for the number of batches, divided by Student's t for n. */
    double wider = student_quantile(level, filled - 1) / student_quantile(level, n > 2 ? n - 1 : 1);
    *ret = (struct quantile_worth){
        .n = n, .share = share, .effective = fmin(n / (effect * wider * wider), n)};
    return 0;
}

int quantile_ranks_batches(const struct quantile_batch *batches, int count, double q, double level,
                           uint64_t *ret_low, uint64_t *ret_high, double *ret_effective) {
    struct quantile_worth worth;
    double low, high;
    if (!(q > 0 && q < 1) || quantile_effective(batches, count, q, level, &worth) != 0) return -1;
    if (ranks(floor(worth.effective), q, level, &low, &high) != 0) return -1;
    double stretch = worth.n / floor(worth.effective);
    low = floor(low * stretch);
    high = ceil(high * stretch);
    *ret_low = low < 1 ? 1 : (uint64_t)low;
    *ret_high = high > worth.n ? (uint64_t)worth.n : (uint64_t)high;
    if (ret_effective) *ret_effective = worth.effective;
    return 0;
}

static double above_beta(const struct rising *of, double x) {
    return beta_part(of->a, of->b, x, 1 - x) - of->p;
}

/* The x with I_x(a, b) = p. */
static double beta_quantile(double a, double b, double p) {
    return solve(&(struct rising){above_beta, p, a, b}, 0, 1);
}

int share_of_batches(const struct quantile_batch *batches, int count, double level,
                     struct share *ret) {
    struct quantile_worth worth;
    if (quantile_effective(batches, count, NAN, level, &worth) != 0) return -1;
    *ret = (struct share){.share = worth.share, .effective = worth.effective};
    share_interval(ret, level);
    return 0;
}

void share_interval(struct share *share, double level) {
    double in = share->share * share->effective, out = share->effective - in;
    double tail = (1 - level) / 2;
    share->low = in > 0 ? beta_quantile(in, out + 1, tail) : 0;
    share->high = out > 0 ? beta_quantile(in + 1, out, 1 - tail) : 1;
}

/* batches_worth for groups of `size` neighbours; all: the sums of all batches. Sets *ret_groups. */
static double worth_of_groups(const struct quantile_batch *batches, int count, int size,
                              const struct quantile_batch *all, double level, int *ret_groups) {
    double n = (double)all->count, mean = all->sum / n, squares = 0;
    double variance = all->squares / n - mean * mean;
    int groups = 0;
    for (int i = 0; i < count; i += size) {
        double off = 0, filled = 0;
        for (int k = i; k < i + size && k < count; k++) {
            off += batches[k].sum - mean * (double)batches[k].count;
            filled += (double)batches[k].count;
        }
        squares += off * off;
        groups += filled > 0;
    }
    *ret_groups = groups;
    if (groups < QUANTILE_BATCHES_MIN || !(squares > 0 && variance > 0)) return n;
    double of_mean = squares * groups / (groups - 1) / (n * n);
    double wider = student_quantile(level, groups - 1) / student_quantile(level, INFINITY);
    return variance / of_mean / (wider * wider);
}

double batches_worth(const struct quantile_batch *batches, int count, double level) {
    struct quantile_batch all = {0};
    for (int i = 0; i < count; i++) {
        all.count += batches[i].count;
        all.sum += batches[i].sum;
        all.squares += batches[i].squares;
    }
    double worth = (double)all.count;
    int groups = count;
    for (int size = 1; size == 1 || size * GROUPS_MIN <= count; size *= 2) {
        worth = fmin(worth, worth_of_groups(batches, count, size, &all, level, &groups));
        if (groups * RELAXATIONS <= worth) break; /* groups hardly depend on each other */
    }
    return worth;
}
