/* check_read: check.json, the result of `lockbench check`, as plain structs, for reports.
 *
 * As with run.json nothing in the file is trusted: the schema, types, ranges and words are checked,
 * and the first thing that is wrong is named with its path. Members that the schema does not know
 * are ignored. A file of a check that was cut off (partial) is as readable as a whole one. This
 * code computes nothing. */
#ifndef RESULTS_FORMAT_CHECK_READ_H
#define RESULTS_FORMAT_CHECK_READ_H

#include <jansson.h>
#include <stdbool.h>

#include "bench/base/err.h"
#include "bench/base/verdict.h"
#include "results/format/run_read.h"

#define CHECK_SCHEMA "lockbench.check/2"
#define CHECK_FILE "check.json"
#define CHECK_EXPOSED                                                                              \
    "exposed" /* the column of controls in the workloads that are made to expose them */

#define CHECK_CONFORMANCE "conformance" /* the column of the conformance suite */

/* The result of comparing a cell's verdict with the expected verdict. */
enum check_compared { CHECK_AS_EXPECTED, CHECK_WORSE, CHECK_BETTER, CHECK_NOT_COMPARED };

struct check_fault {
    const char *name, *summary;
};

/* A lock or fault that was left out, and what to install to include it. */
struct check_skip {
    const char *lock, *backend, *fault, *reason, *install; /* fault NULL: in all scenarios */
};

struct check_lock {
    const char *name;
    const char *guarantee; /* lb_guarantee_name */
    bool control;
};

/* One lock under one fault, the runs of all seeds together. Texts are borrowed from the file; NULL
 * = absent. Figures are NAN if they were not measured; times are in ns. */
struct check_cell {
    int lock, fault; /* indices in check->locks, check->faults */
    enum check_verdict verdict;
    enum check_compared compared;
    const char *lock_name, *fault_name, *verdict_word, *compared_word;
    const char *expected; /* a verdict's word, or "unstated" */
    const char *workload; /* the workload that the cell ran: "check/pause" */
    bool missed;          /* a control that was not exposed by the workload which is made for it */
    const char *expected_why, *why, *topology, *durability, *durability_note, *server, *command,
        *run;
    double grants, tested, faults_hit, faults_untested, bound95, overlaps, detected, lost_updates;
    double stale_attempted, stale_accepted_unfenced, stale_rejected_fenced, stale_accepted_fenced;
    double recovered; /* 1 or 0, NAN: there was nothing to recover from */
    double recovery_count, recovery_min, recovery_p50, recovery_max;
    double theory_max;
    double grants_lost, lost_wakeups, residue, clients, seed;
    double failed_runs;           /* runs that failed or showed nothing */
    const json_t *seeds;          /* array of numbers, or NULL; borrowed, like all members below */
    const json_t *trials;         /* array of numbers, ns, or NULL */
    const json_t *faults;         /* array of objects, as in run.json, or NULL */
    const json_t *counterexample; /* array of objects, or NULL */
};

struct check {
    RESULT_HEAD
    const char *tour;
    double planned;                    /* cells of the plan; NAN = not told */
    const json_t *environment, *seeds; /* NULL when absent */
    struct check_fault *faults;
    int fault_count;
    struct check_lock *locks;
    int lock_count;
    struct check_skip *skips;
    int skip_count;
    /* in the order of the locks, and for each lock in the order of the faults */
    struct check_cell *cells;
    int cell_count;
};

/* Reads a check: its folder or its check.json. NULL with err (LB_EXIT_USAGE), which names the file,
 * the place in it and the error. The caller frees the result with check_free. */
struct check *check_read(const char *path, struct lb_err *err);

/* The same from text; path is only for messages and check->path. */
struct check *check_parse(const char *text, size_t length, const char *path, struct lb_err *err);

/* The same for a parsed document, of which the check takes a reference of its own. */
struct check *check_from_json(json_t *root, const char *path, struct lb_err *err);

/* NULL is allowed. Everything that was borrowed from the check becomes invalid. */
void check_free(struct check *check);

/* "as expected", "worse", "better"; NULL = not compared. */
const char *check_compared_name(enum check_compared compared);

/* The scalars of a cell, one entry for each path of check.json, in the order that tables list them.
 * Their offsets are in struct check_cell. */
const struct result_field *check_cell_fields(void);

#endif
