/* result: see result.h. */
#define _GNU_SOURCE
#include "bench/tools/check/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/format/write.h"

/* ---- the parts that do not change ---- */

static json_t *checked_lock_json(const struct lb_lock *lock) {
    return json_pack("{s:s, s:s, s:b}", "name", lock->name, "guarantee",
                     lb_guarantee_name(lock->about.guarantee), "control",
                     (lock->caps & LB_CAP_CONTROL) != 0);
}

static json_t *locks_json(const struct matrix *matrix) {
    json_t *locks = json_array();
    for (int i = 0; i < matrix->cell_count; i++) {
        if (i > 0 && matrix->cells[i].lock == matrix->cells[i - 1].lock) continue;
        json_array_append_new(locks, checked_lock_json(matrix->cells[i].lock));
    }
    return locks;
}

static json_t *faults_json(const struct matrix *matrix) {
    json_t *faults = json_array();
    for (int i = 0; i < matrix->column_count; i++) {
        json_array_append_new(faults, json_pack("{s:s, s:s}", "name", matrix->columns[i].name,
                                                "summary", matrix->columns[i].summary));
    }
    return faults;
}

static json_t *skipped_json(const struct matrix *matrix) {
    json_t *skipped = json_array();
    for (int i = 0; i < matrix->skip_count; i++) {
        const struct matrix_skip *skip = &matrix->skips[i];
        json_array_append_new(skipped, json_pack("{s:s, s:s, s:s?, s:s, s:s?}", "lock",
                                                 skip->lock->name, "backend",
                                                 skip->lock->backend->name, "fault", skip->scenario,
                                                 "reason", skip->reason, "install", skip->install));
    }
    return skipped;
}

static int write_so_far(struct result *result, struct lb_err *err) {
    char path[600];
    snprintf(path, sizeof path, "%s/check.json", result->ask.folder);
    return result_write_file(result->root, path, err);
}

int result_init(struct result *result, const struct result_ask *ask, struct lb_err *err) {
    *result = (struct result){.ask = *ask};
    json_t *seeds = json_array();
    for (int i = 0; i < ask->seed_count; i++)
        json_array_append_new(seeds, json_integer((json_int_t)ask->seeds[i]));
    result->cells = calloc((size_t)ask->matrix->cell_count + 1, sizeof *result->cells);
    /* The file is marked as partial until the end, so that a reader after a SIGKILL sees that. */
    result->root = json_pack(
        "{s:s, s:{s:s, s:s}, s:s, s:o, s:n, s:b, s:s, s:i, s:O?, s:o, s:s, s:o, s:o, s:o, s:o}",
        "schema", CHECK_SCHEMA, "tool", "name", "lockbench", "version", ask->version, "command",
        ask->command, "started_at", result_now_json(), "ended_at", "partial", 1, "partial_reason",
        "the check was cut off", "planned", ask->matrix->cell_count, "environment",
        ask->environment, "seeds", seeds, "tour", ask->tour, "faults", faults_json(ask->matrix),
        "locks", locks_json(ask->matrix), "skipped", skipped_json(ask->matrix), "cells",
        json_array());
    if (!result->root || !result->cells) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    return write_so_far(result, err);
}

void result_done(struct result *result) {
    for (int i = 0; result->cells && i < result->ask.matrix->cell_count; i++) {
        cell_result_free(&result->cells[i].shown);
        json_decref(result->cells[i].seeds);
    }
    free(result->cells);
    json_decref(result->root);
    *result = (struct result){0};
}

/* ---- cells ---- */

static void compare(struct result *result, int index) {
    const struct matrix_cell *of = &result->ask.matrix->cells[index];
    const struct matrix_column *column = of->column;
    struct check_cell *cell = &result->cells[index].shown.cell;
    cell->compared = cell_result_compare(cell->verdict, of->expected.worst);
    /* A control that shows more than it must is no finding. */
    if (column->scenario == LB_SCENARIOS && cell->compared == CHECK_WORSE)
        cell->compared = CHECK_AS_EXPECTED;
    /* It showed less than the least verdict that exposes its mistake. */
    cell->missed = column->scenario == LB_SCENARIOS && cell->compared == CHECK_BETTER;
    cell->compared_word = check_compared_name(cell->compared);
}

static json_t *cell_json(const struct result *result, int index) {
    const struct matrix_cell *of = &result->ask.matrix->cells[index];
    const struct result_cell *cell = &result->cells[index];
    const char *fault = of->column->name;
    struct check_cell shown = cell->shown.cell;
    char command[1500];
    snprintf(command, sizeof command, "lockbench check %s --fault %s --seed %.0f%s", of->lock->name,
             fault, shown.seed, result->ask.more ? result->ask.more : "");
    shown.lock_name = of->lock->name;
    shown.fault_name = fault;
    shown.workload = of->workload;
    shown.expected = lb_expect_name(of->expected.worst);
    shown.expected_why = of->expected.why;
    shown.seeds = cell->seeds;
    shown.command = command;
    return result_fields_json(check_cell_fields(), &shown);
}

/* Writes all cells anew, in the matrix's order: they are few, and change with each run. */
static void fill_cells(struct result *result) {
    json_t *cells = json_array();
    for (int i = 0; i < result->ask.matrix->cell_count; i++) {
        if (result->cells[i].tried) json_array_append_new(cells, cell_json(result, i));
    }
    json_object_set_new(result->root, "cells", cells);
}

int result_add(struct result *result, int index, uint64_t seed, const char *run,
               const struct cell_result *shown, struct lb_err *err) {
    struct result_cell *cell = &result->cells[index];
    struct cell_result one = *shown;
    one.kept = json_copy(shown->kept);
    one.cell.seed = (double)seed;
    one.cell.run = cell_result_keep_text(&one, run);
    enum check_verdict verdict = one.cell.verdict;
    one.cell.failed_runs = verdict == CHECK_FAILED || verdict == CHECK_INCONCLUSIVE;
    if (!cell->seeds) cell->seeds = json_array();
    json_array_append_new(cell->seeds, json_integer((json_int_t)seed));
    if (!cell->tried) {
        cell->shown = one;
    } else {
        int failed = cell_result_merge(&cell->shown, &one, err);
        cell_result_free(&one);
        if (failed) return -1;
    }
    cell->tried = true;
    compare(result, index);
    fill_cells(result);
    return write_so_far(result, err);
}

int result_end(struct result *result, const char *partial, struct lb_err *err) {
    json_object_set_new(result->root, "ended_at", result_now_json());
    json_object_set_new(result->root, "partial", json_boolean(partial != NULL));
    json_object_set_new(result->root, "partial_reason",
                        partial ? json_string(partial) : json_null());
    return write_so_far(result, err);
}

struct result_sum result_sum(const struct result *result) {
    struct result_sum sum = {0};
    for (int i = 0; i < result->ask.matrix->cell_count; i++) {
        const struct lb_lock *lock = result->ask.matrix->cells[i].lock;
        const struct check_cell *cell = &result->cells[i].shown.cell;
        if (!result->cells[i].tried) continue;
        sum.worse += cell->compared == CHECK_WORSE && !(lock->caps & LB_CAP_CONTROL);
        sum.missed += cell->missed;
        sum.failed += cell->failed_runs > 0;
    }
    return sum;
}
