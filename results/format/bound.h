/* bound: how bad a lock may still be, with 95 % confidence, if it failed in none of n trials. */
#ifndef RESULTS_FORMAT_BOUND_H
#define RESULTS_FORMAT_BOUND_H

#include <math.h>

/* The greatest rate of failures per grant: 3/n, the rule of three. NAN if that says nothing. */
static inline double bound_of_grants(double grants) {
    return grants > 3 ? 3 / grants : NAN;
}

/* The greatest share of faults in which a lock fails: exact, since faults are few. NAN for none. */
static inline double bound_of_faults(double faults) {
    return faults > 0 ? 1 - pow(0.05, 1 / faults) : NAN;
}

#endif
