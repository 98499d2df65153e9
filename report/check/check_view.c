/* check_view: what all outputs of a check need; see check_doc.h. */
#include "report/check/check_doc.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/verdict.h"

#define FAMILIES                                                                                   \
    (LB_GUARANTEES + 2) /* one for each guarantee, for an unknown one, and for controls */

/* By where its truth lives: the locks of a family have the same fate under a fault. Controls are the last one. */
static int family_of(const struct check_lock *lock) {
    return lock->control ? FAMILIES - 1 : (int)lb_guarantee_from(lock->guarantee);
}

const struct check_lock *check_lock_of(const struct check_view *view,
                                       const struct check_cell *cell) {
    return &view->check->locks[cell->lock];
}

const struct check_fault *check_fault_of(const struct check_view *view,
                                         const struct check_cell *cell) {
    return &view->check->faults[cell->fault];
}

const struct check_cell *check_view_cell(const struct check_view *view, int lock, int fault) {
    return view->matrix[(size_t)lock * (size_t)view->check->fault_count + (size_t)fault];
}

/* Expired, stuck or violated. */
static bool check_broke(const struct check_cell *cell) {
    return cell->verdict == CHECK_EXPIRED || cell->verdict == CHECK_STUCK ||
           cell->verdict == CHECK_VIOLATED;
}

bool check_silent(const struct check_cell *cell) {
    return cell->verdict == CHECK_INCONCLUSIVE || cell->verdict == CHECK_FAILED;
}

/* The worst is first; equals keep the file's order, which is the order of the cells in memory. */
static int by_gravity(const void *a, const void *b) {
    const struct check_cell *x = *(const struct check_cell *const *)a,
                            *y = *(const struct check_cell *const *)b;
    if (x->verdict != y->verdict) return x->verdict > y->verdict ? -1 : 1;
    return (x > y) - (x < y);
}

static void place_cells(struct check_view *view) {
    const struct check *check = view->check;
    for (int i = 0; i < check->cell_count; i++) {
        const struct check_cell *cell = &check->cells[i];
        const struct check_lock *lock = check_lock_of(view, cell);
        view->matrix[(size_t)cell->lock * (size_t)check->fault_count + (size_t)cell->fault] = cell;
        view->judged += !lock->control && !check_silent(cell);
        view->better += !lock->control && cell->compared == CHECK_BETTER;
        if (check_silent(cell)) {
            view->silent[view->silent_count++] = cell;
        } else if (cell->compared == CHECK_WORSE && !lock->control) {
            view->finding[view->finding_count++] = cell;
        }
    }
    qsort(view->finding, (size_t)view->finding_count, sizeof *view->finding, by_gravity);
}

static bool has_cell(const struct check_view *view, int lock) {
    for (int f = 0; f < view->check->fault_count; f++) {
        if (check_view_cell(view, lock, f)) return true;
    }
    return false;
}

static const struct check_cell *exposing_cell(const struct check_view *view, int lock) {
    for (int f = 0; f < view->check->fault_count; f++) {
        if (strcmp(view->check->faults[f].name, CHECK_EXPOSED) == 0)
            return check_view_cell(view, lock, f);
    }
    return NULL;
}

/* The cell that is made to expose a control decides whether the control was caught: its verdict
 * under a fault shows nothing about that. If there is no such cell, any cell in which the control
 * broke counts. */
static void judge_control(struct check_view *view, int lock) {
    const struct check_lock *control = &view->check->locks[lock];
    const struct check_cell *exposing = exposing_cell(view, lock);
    bool missed = false, caught = false, silent = false;
    if (!control->control) return;
    for (int f = 0; f < view->check->fault_count; f++) {
        const struct check_cell *cell = check_view_cell(view, lock, f);
        if (!cell || (exposing && cell != exposing)) continue;
        missed |= cell->missed;
        caught |= check_broke(cell);
        silent |= check_silent(cell);
    }
    if (missed) {
        view->missed[view->missed_count++] = control;
    } else if (caught) {
        view->caught_count++;
    } else if (silent) {
        view->unshown[view->unshown_count++] = control;
    }
}

static void place_rows(struct check_view *view) {
    const struct check *check = view->check;
    for (int family = 0; family < FAMILIES; family++) {
        for (int l = 0; l < check->lock_count; l++) {
            bool run = has_cell(view, l);
            if (family_of(&check->locks[l]) != family) continue;
            if (run || check->partial) view->row[view->row_count++] = l;
            if (!run) continue;
            view->control_count += check->locks[l].control;
            judge_control(view, l);
        }
    }
    for (int f = 0; f < check->fault_count; f++) {
        bool used = check->partial;
        for (int r = 0; r < view->row_count && !used; r++)
            used = check_view_cell(view, view->row[r], f);
        if (used) view->column[view->column_count++] = f;
    }
}

struct check_view *check_view_make(const struct check *check, struct lb_err *err) {
    struct check_view *view = calloc(1, sizeof *view);
    if (!view) goto fail;
    size_t locks = (size_t)check->lock_count + 1, faults = (size_t)check->fault_count + 1,
           cells = (size_t)check->cell_count + 1;
    view->check = check;
    view->row = calloc(locks, sizeof *view->row);
    view->column = calloc(faults, sizeof *view->column);
    view->matrix = calloc(locks * faults, sizeof *view->matrix);
    view->finding = calloc(cells, sizeof *view->finding);
    view->silent = calloc(cells, sizeof *view->silent);
    view->missed = calloc(locks, sizeof *view->missed);
    view->unshown = calloc(locks, sizeof *view->unshown);
    if (!view->row || !view->column || !view->matrix || !view->finding || !view->silent ||
        !view->missed || !view->unshown)
        goto fail;
    place_cells(view);
    place_rows(view);
    return view;
fail:
    check_view_free(view);
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    return NULL;
}

void check_view_free(struct check_view *view) {
    if (!view) return;
    free(view->row);
    free(view->column);
    free((void *)view->matrix);
    free((void *)view->finding);
    free((void *)view->silent);
    free((void *)view->missed);
    free((void *)view->unshown);
    free(view);
}
