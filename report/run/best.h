/* best: which row has the best value of a figure, and how far the others are from it, as far as the
 * noise of the figure allows.
 *
 * A row is level with the best if it is within BEST_TIE of it, or if the spreads of their repeats
 * overlap. Tails (p99, p99.9, maximum) move by more than that from run to run, so no tail of a row
 * without repeats is called best. Rows are compared only within a durability, because a lock in
 * memory and a lock on disk promise different things. */
#ifndef REPORT_RUN_BEST_H
#define REPORT_RUN_BEST_H

#include "report/run/column.h"
#include "report/run/words.h"

#define BEST_TIE 0.05 /* one run can't show a smaller difference than this */

/* Jain's index below which a lock is called unfair: 0.8 is what remains when a fifth of the clients
 * gets nothing. */
#define BEST_FAIR 0.8

/* The candidate of a durability with the best value, even if others are level with it. NULL: locks
 * are not ranked by the figure in this group (column_why_unranked), no candidate has a value, or only
 * INFINITY ("never"), which is worse than any other value and never the best. */
const struct report_row *best_row(const struct column *column, const struct report_group *group,
                                  enum durability durability);

/* True if the figures do not show which of two rows is better. */
bool best_is_level(const struct column *column, const struct report_row *a,
                   const struct report_row *b);

/* Why the row's figure can't be ranked, so that the row is level with every other: a tail (a high quantile) of
 * one run, or a percentile of acquire that lacks many waits. NULL: it can. */
const char *best_why_untold(const struct column *column, const struct report_row *row);

/* True if a row is the best of its durability or level with it, and another row is worse. False for
 * the tails of single runs. */
bool best_is_marked(const struct column *column, const struct report_group *group, int row);

/* How many times worse the row is than the best of its durability, by this figure: 1 = the best, or
 * level with it. NAN if the figure has no better and worse in this group, if the row is no candidate, if the
 * figures do not show it (best_why_untold), or if the best is 0. INFINITY if the row's figure is
 * "never" and the best is not. */
double best_ratio(const struct column *column, const struct report_group *group, int row);

/* The geometric mean of a row's ratios over the figures of the comparison, without those of special
 * kinds. NAN if there is no ratio, INFINITY if one of the figures is "never". */
double best_ratio_mean(const struct report_group *group, int row);

/* The same mean with every figure at the better end of its spread, and with every figure at the
 * worse end: a range that is wider than that of one figure, and that contains the mean. The best
 * row counts with its median, and a figure that is level with the best counts as at least 1.
 * Returns false, and leaves the ends untouched, if no figure has a spread or there is no mean. */
bool best_ratio_range(const struct report_group *group, int row, double *ret_low, double *ret_high);

/* True if two such means are too close to show a difference. */
bool best_mean_is_level(double a, double b);

/* True if few clients got most of the grants (BEST_FAIR); false if fairness was not measured, or if faults on clients
 * explain it. */
bool best_is_unfair(const struct report_row *row);

/* The reason why the row is unfair, in words: "few clients got most of the grants". */
const char *best_unfair_text(const struct report_row *row);

#endif
