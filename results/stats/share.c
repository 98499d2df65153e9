/* share: see share.h. */
#include "results/stats/share.h"

#include <math.h>

#include "results/stats/beta.h"
#include "results/stats/student.h"

/* The x with I_x(a, b) = p, by halving. */
static double beta_quantile(double a, double b, double p) {
    double low = 0, high = 1;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (beta_part(a, b, middle, 1 - middle) < p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (low + high) / 2;
}

int share_of_batches(const struct quantile_batch *batches, int count, double level,
                     struct share *ret) {
    double n = 0, hits = 0, squares = 0;
    int filled = 0;
    if (!(level > 0 && level < 1)) return -1;
    for (int i = 0; i < count; i++) {
        if (batches[i].below > batches[i].count) return -1;
        filled += batches[i].count > 0;
        n += (double)batches[i].count;
        hits += (double)batches[i].below;
    }
    if (filled < QUANTILE_BATCHES_MIN) return -1;
    double share = hits / n;
    for (int i = 0; i < count; i++) {
        double off = (double)batches[i].below - share * (double)batches[i].count;
        squares += off * off;
    }
    /* The variance between batches (that of a ratio), against that of independent samples. */
    double variance = squares * filled / (filled - 1) / (n * n), alone = share * (1 - share) / n;
    double effect = alone > 0 && variance > alone ? variance / alone : 1;
    /* Few batches tell the variance itself only roughly. */
    double wider = student_quantile(level, filled - 1) / student_quantile(level, n > 2 ? n - 1 : 1);
    double effective = n / (effect * wider * wider);
    if (effective > n) effective = n;
    double in = share * effective, out = effective - in, tail = (1 - level) / 2;
    *ret = (struct share){.share = share,
                          .low = in > 0 ? beta_quantile(in, out + 1, tail) : 0,
                          .high = out > 0 ? beta_quantile(in + 1, out, 1 - tail) : 1,
                          .effective = effective};
    return 0;
}
