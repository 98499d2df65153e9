/* beta: the regularised incomplete beta function, on which Student's t and exact intervals of
 * shares are based. */
#ifndef RESULTS_STATS_BETA_H
#define RESULTS_STATS_BETA_H

/* I_x(a, b) for a, b > 0, by Lentz's continued fraction; y = 1 - x, given apart since it may be
 * tiny. */
double beta_part(double a, double b, double x, double y);

#endif
