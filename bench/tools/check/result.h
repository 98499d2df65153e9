/* result: check.json, the result of a check. It is written as a whole after each cell, so that a
 * reader never sees half a file, and a check that was killed leaves the cells that it had. */
#ifndef BENCH_TOOLS_CHECK_RESULT_H
#define BENCH_TOOLS_CHECK_RESULT_H

#include <jansson.h>

#include "bench/base/err.h"
#include "bench/place/place.h"
#include "bench/tools/check/cell_result.h"
#include "bench/tools/check/matrix.h"
#include "results/format/check_read.h"

/* What a check does, and what its result says of that. */
struct result_ask {
    const struct matrix *matrix;
    const char *folder; /* where check.json and cells/ go */
    const char *version, *command;
    const char *tour; /* "short", "full", "chosen" (faults that were named) */
    const char *more; /* added to commands that repeat a cell: " --set x=y", or "" */
    const uint64_t *seeds;
    int seed_count;
    json_t *environment;     /* borrowed; NULL = not known */
    const char *const *sets; /* --set, for every cell */
    const struct place_url *urls;
    int set_count, url_count;
    int weight_max; /* the greatest sum of the weights of jobs that run at once */
};

struct result_cell {
    bool tried;
    struct cell_result shown; /* the result of all its runs so far */
    json_t *seeds;
};

struct result {
    struct result_ask ask;
    json_t *root;
    struct result_cell *cells; /* one for each cell of the matrix */
};

/* Cells of a finished check. worse: real locks that do worse than their drivers state: controls are broken on purpose, and
 * only `missed` is a finding about them. */
struct result_sum {
    int worse, failed, missed;
};

/* Returns 0 with a first check.json written, marked as partial; -1 with err. Call result_done in
 * either case. */
int result_init(struct result *result, const struct result_ask *ask, struct lb_err *err);
void result_done(struct result *result);

/* Adds one run of a cell; run: its folder below the result's. shown stays the
 * caller's. Returns 0, or -1 with err. */
int result_add(struct result *result, int cell, uint64_t seed, const char *run,
               const struct cell_result *shown, struct lb_err *err);

/* Writes the file. partial: why it is incomplete; NULL = it is complete. */
int result_end(struct result *result, const char *partial, struct lb_err *err);

struct result_sum result_sum(const struct result *result);

#endif
