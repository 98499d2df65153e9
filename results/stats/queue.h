/* queue: what theory says of waiting for one key.
 *
 * One holder at a time, each for hold, then handoff until the next one is in: a server with a
 * service time of hold + handoff. Assumes arrivals at random (Poisson), one queue in order of
 * arrival, a service time that is always the same, and nobody who gives up. Locks that poll or that
 * are unfair wait longer at the far end than this says. Times in any one unit; rates are one over
 * it. */
#ifndef RESULTS_STATS_QUEUE_H
#define RESULTS_STATS_QUEUE_H

#define QUEUE_LONGEST 1e6 /* service times: who waits longer stands in no queue of a steady state */

/* Grants that one key can do a unit of time: 1 / (hold + handoff). NAN unless both are finite, none
 * is negative and their sum is above 0. */
double queue_capacity(double hold, double handoff);

/* Mean time in the queue of M/D/1: rho * service / (2 (1 - rho)) with rho = rate * service
 * (Pollaczek and Khinchine). Infinite from rho = 1 on; NAN for bad input. */
double queue_md1_wait(double rate, double service);

/* P(time in the queue <= wait) of M/D/1, by Franx's formula (Operations Research Letters 29, 2001),
 * which adds only positive terms where Erlang's of 1909 cancels. 0 from rho = 1 on; NAN for bad
 * input, beyond QUEUE_LONGEST service times, or when out of memory. */
double queue_md1_below(double rate, double service, double wait);

/* The q-quantile of the time in the queue; infinite from rho = 1 on, and beyond QUEUE_LONGEST. NAN
 * for bad input (0 < q < 1), or when out of memory. */
double queue_md1_quantile(double rate, double service, double q);

#endif
