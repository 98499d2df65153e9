/* doctor: the properties of this machine that may prevent a run or distort its figures. */
#ifndef BENCH_CLI_DOCTOR_H
#define BENCH_CLI_DOCTOR_H

#include "bench/base/err.h"
#include "bench/cli/available.h"

enum doctor_status {
    DOCTOR_OK,
    DOCTOR_WARN,   /* runs work, but figures or sizes suffer */
    DOCTOR_MISSING /* a lock, or every run, can't work */
};

struct doctor_finding {
    enum doctor_status status;
    char name[48];
    char detail[320];
    char fix[200]; /* what to type; "" = nothing */
};

#define DOCTOR_FINDINGS_MAX 64

struct doctor {
    struct doctor_finding item[DOCTOR_FINDINGS_MAX];
    int count;
};

/* Adds a check for each backend: its library, its server. */
void doctor_backends(struct doctor *checks, struct available *available);

/* Adds the checks of the machine: limits, clock, timers, governor, disk. Takes some tens of
 * milliseconds. results: the folder that runs are written to; it need not exist yet. */
void doctor_machine(struct doctor *checks, const char *results);

#endif
