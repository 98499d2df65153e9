/* best: which row has the best of a figure, and how far the others are from it, as far as the noise of
 * the figure lets anybody tell.
 *
 * A row that can't be told from the best is level with it: it is within BEST_TIE of it, or the spreads
 * of their repeats have a value in common. Tails (p99, p99.9, maximum) move by more than that from run
 * to run, so of rows without repeats no tail is called best. Rows are compared within a durability: a
 * lock in memory is not better than one on disk, it is another thing. */
#ifndef REPORT_RUN_BEST_H
#define REPORT_RUN_BEST_H

#include "report/run/column.h"
#include "report/run/words.h"

#define BEST_TIE 0.05 /* closer than this is no difference that one run could show */

/* Jain's index below which a lock is called unfair: 0.8 is what remains when a fifth of the clients
 * gets nothing. */
#define BEST_FAIR 0.8

/* The candidate of a durability with the best value, whoever is level with it; NULL: none has one, or
 * only a value of INFINITY ("never"), which is worse than any other and never the best. */
const struct report_row *best_row(const struct column *column, const struct report_group *group,
                                  enum durability durability);

/* Whether nobody can tell which of two rows is better. */
bool best_is_level(const struct column *column, const struct report_row *a,
                   const struct report_row *b);

/* Whether the figure is a tail of which a row has one run alone: then it is level with every other. */
bool best_is_untold(const struct column *column, const struct report_row *row);

/* True when a row is the best of its durability or level with it, and another one is worse. */
bool best_is_marked(const struct column *column, const struct report_group *group, int row);

/* How many times worse than the best of its durability, by this figure: 1 = the best, or level with
 * it. NAN where nothing is better or worse, where the row is no lock to choose, where nobody can tell
 * (best_is_untold), or where the best is 0; INFINITY where only the row's own figure is never. */
double best_ratio(const struct column *column, const struct report_group *group, int row);

/* The geometric mean of a row's ratios over the comparison's figures, those of special kinds apart;
 * NAN without any, INFINITY when one of the figures is never. */
double best_ratio_mean(const struct report_group *group, int row);

/* The same mean with every figure at the better end of its spread, and at the worse end: a range that is
 * wider than that of one figure, and has the mean in it. The best is held at its median, and a figure that
 * is level with the best counts as 1 at least. False, and the ends untouched, where no figure has a
 * spread or there is no mean. */
bool best_ratio_range(const struct report_group *group, int row, double *ret_low, double *ret_high);

/* Whether two such means are too close for a difference. */
bool best_mean_is_level(double a, double b);

/* Whether few clients got most of the grants (BEST_FAIR); false where that was not measured. */
bool best_is_unfair(const struct report_row *row);

#endif
