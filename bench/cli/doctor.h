/* doctor: the properties of this machine that may prevent a run or distort its figures. */
#ifndef BENCH_CLI_DOCTOR_H
#define BENCH_CLI_DOCTOR_H

#include "bench/base/err.h"
#include "bench/cli/available.h"
#include "bench/run/place.h"

enum doctor_status {
    DOCTOR_OK,
    DOCTOR_WARN,   /* runs work, but figures or sizes suffer */
    DOCTOR_MISSING /* a lock, or every run, can't work */
};

struct doctor_finding {
    enum doctor_status status;
    char name[48];
    char detail[800];
    char fix[200]; /* what to type; "" = nothing */
};

#define DOCTOR_FINDINGS_MAX 96

struct doctor {
    struct doctor_finding item[DOCTOR_FINDINGS_MAX];
    int count;
};

/* Adds a check for each backend: its library, its server. */
void doctor_backends(struct doctor *checks, struct available *available);

/* Adds a check for a server of the user's own: whether it can be reached with this URL and these options. */
void doctor_url(struct doctor *checks, const struct place_url *at);

/* Adds the checks of the machine: limits, clock, timers, governor, disk. Takes some tens of
 * milliseconds. results: the folder that runs are written to; it need not exist yet. */
void doctor_machine(struct doctor *checks, const char *results);

#endif
