/* perf: the subjects of `make bench`. Each prints its ratios; -1 with err when it could not
 * measure. */
#ifndef BENCH_PERF_PERF_H
#define BENCH_PERF_PERF_H

#include "bench/base/err.h"

#define PERF_ROUNDS                                                                                \
    7 /* pairs A B A B ...; their median ratio is printed, with the least and the greatest one */

/* Prints one line: the subject (what), the goal in words, and the median and range of the ratios. Sorts
 * the ratios. */
void perf_print(const char *what, const char *goal, double *ratios, int count);

/* Prints two such lines, over PERF_ROUNDS rounds: one for the rates of the pair, one for its processor time for each
 * command or cycle (`each` is "command" or "cycle"). */
void perf_print_ratios(const char *pair, const char *each, int clients, const char *rate_goal,
                       const char *cpu_goal, double *rates, double *cpus);

/* Returns `wanted`, or a smaller number if the hard limit on open files does not let one process of lockbench, or a
 * server, have so many clients. */
int perf_clients(int wanted);

/* The program's second argument: a subject with several locks, or several numbers of clients, then runs only this
 * one; NULL = all. */
extern const char *perf_only;

int perf_null(struct lb_err *err);    /* a cycle without a lock against four clock reads */
int perf_threads(struct lb_err *err); /* what a second thread adds */
int perf_redis(struct lb_err *err);   /* against redis-benchmark */
int perf_floor(struct lb_err *err);   /* against a bare epoll loop, up to 20,000 clients */
int perf_pg(struct lb_err *err);      /* against pgbench and a bare epoll loop */
int perf_ping(struct lb_err *err);    /* acquire against an empty round trip */
int perf_crowd(struct lb_err *err);   /* 2,000 to 20,000 clients: memory, time */
int perf_wire(struct lb_err *err);    /* a round trip through the wire against a direct one */
int perf_history(struct lb_err *err); /* ten million operations judged */

#endif
