/* bound: how bad a lock may still be, with 95 % confidence, if it failed in none of n trials. */
#ifndef RESULTS_FORMAT_BOUND_H
#define RESULTS_FORMAT_BOUND_H

#include <math.h>
#include <stdbool.h>

/* The greatest rate of failures per grant: 3/n, the rule of three. NAN if that says nothing. */
static inline double bound_of_grants(double grants) {
    return grants > 3 ? 3 / grants : NAN;
}

/* Whether exclusion was hardly tested: holders were inside for less than a round trip. Then a second grant usually
 * arrives after the first holder has left, so that an overlap is not seen, and the grants give no bound. False if one
 * of the two times is not known. */
static inline bool bound_hardly_tested(double inside_ns, double round_trip_ns) {
    return inside_ns < round_trip_ns;
}

/* The greatest share of faults in which a lock fails: exact, since faults are few. NAN for none. */
static inline double bound_of_faults(double faults) {
    return faults > 0 ? 1 - pow(0.05, 1 / faults) : NAN;
}

#endif
