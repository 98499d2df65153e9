/* student: Student's t distribution, for intervals and tests on few values. */
#ifndef RESULTS_STATS_STUDENT_H
#define RESULTS_STATS_STUDENT_H

/* P(|T| > |t|) with df degrees of freedom, df > 0, by the incomplete beta function (Lentz's
 * continued fraction). NAN for bad input. */
double student_p(double t, double df);

/* The t with P(|T| <= t) = level, which gives the width of an interval of this level. 0 < level < 1
 * and df > 0; otherwise NAN. */
double student_quantile(double level, double df);

#endif
