/* share: see share.h. */
#include "results/stats/share.h"

#include <math.h>

#include "results/stats/beta.h"

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
    struct quantile_worth worth;
    if (quantile_effective(batches, count, NAN, level, &worth) != 0) return -1;
    double in = worth.share * worth.effective, out = worth.effective - in, tail = (1 - level) / 2;
    *ret = (struct share){.share = worth.share,
                          .low = in > 0 ? beta_quantile(in, out + 1, tail) : 0,
                          .high = out > 0 ? beta_quantile(in + 1, out, 1 - tail) : 1,
                          .effective = worth.effective};
    return 0;
}
