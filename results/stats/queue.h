/* queue: the queueing theory of waiting for one key.
 *
 * One client holds at a time, for `hold`, and `handoff` passes until the next one holds: a server
 * with the service time hold + handoff. Assumes random arrivals (Poisson), one queue in order of
 * arrival, a constant service time, and no client that gives up. Locks that poll or are unfair have
 * longer tails than this. Times may be in any one unit; rates are per that unit. */
#ifndef RESULTS_STATS_QUEUE_H
#define RESULTS_STATS_QUEUE_H

#define QUEUE_LONGEST 1e6 /* service times; a longer wait does not occur in a steady state */

/* The grants of one key per unit of time: 1 / (hold + handoff). NAN unless both are finite, neither
 * is negative, and their sum is above 0. */
double queue_capacity(double hold, double handoff);

/* The mean time in the queue of M/D/1: rho * service / (2 (1 - rho)) with rho = rate * service
 * (Pollaczek and Khinchine). Infinite for rho >= 1; NAN for bad input. */
double queue_md1_wait(double rate, double service);

/* P(time in the queue <= wait) of M/D/1, by Franx's formula (Operations Research Letters 29, 2001),
 * which adds only positive terms where Erlang's of 1909 cancels. 0 for rho >= 1; NAN for bad input,
 * beyond QUEUE_LONGEST service times, or when out of memory. */
double queue_md1_below(double rate, double service, double wait);

/* The q-quantile of the time in the queue; infinite for rho >= 1 and beyond QUEUE_LONGEST. NAN for
 * bad input (0 < q < 1 is needed), or when out of memory. */
double queue_md1_quantile(double rate, double service, double q);

#endif
