/* machine: properties of this machine that may spoil measurements: frequency governor, turbo, shared cores,
 * quotas, affinity, the scheduler, and other load before the run.
 *
 * One table of checks serves `lockbench doctor` and the environment of each result: a new check is one
 * row in machine.c. The checks do not change the machine and do not wait. */
#ifndef BENCH_RUN_MACHINE_H
#define BENCH_RUN_MACHINE_H

#include <jansson.h>
#include <stdbool.h>

struct machine_fact {
    json_t *value;    /* for run.json; NULL = not visible here */
    bool spoils;      /* it may spoil measurements */
    char detail[200]; /* what was seen; where it spoils, also how */
    char advice[200]; /* what to type or to do about it; "" where it does not spoil */
};

struct machine_check {
    const char *key;  /* in .environment; ends in "_before" if its value differs between runs */
    const char *name; /* for people */
    /* root: "" for this machine; the folder of a copy of /proc and /sys for tests */
    void (*look)(const char *root, struct machine_fact *fact);
};

/* All checks; the last one has no name. */
extern const struct machine_check machine_checks[];

/* Looks; the caller decrefs fact.value, which may be NULL. */
struct machine_fact machine_look(const struct machine_check *check, const char *root);

/* Adds the values of all checks to the environment of a result, and "advice": a sentence for each
 * check that may spoil its figures. */
void machine_describe(json_t *environment, const char *root);

#endif
