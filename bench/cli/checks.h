/* checks: what of this machine could stand in the way of a run, or of its figures. */
#ifndef BENCH_CLI_CHECKS_H
#define BENCH_CLI_CHECKS_H

#include "bench/base/err.h"
#include "bench/cli/available.h"

enum check_status {
    CHECK_OK,
    CHECK_WARN,   /* runs work, but figures or sizes suffer */
    CHECK_MISSING /* some lock, or every run, can't work */
};

struct check {
    enum check_status status;
    char name[48];
    char detail[320];
    char fix[200]; /* what to type; "" = nothing */
};

#define CHECKS_MAX 64

struct checks {
    struct check item[CHECKS_MAX];
    int count;
};

/* One check a backend: its library, its server. */
void checks_backends(struct checks *checks, struct available *available);

/* The machine: limits, clock, timers, governor, disk. Takes some tens of milliseconds. results: the
 * folder that runs are written to; it need not exist yet. */
void checks_machine(struct checks *checks, const char *results);

#endif
