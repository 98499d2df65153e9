/* check_view: see check_view.h. */
#include "report/check/check_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/verdict.h"

enum check_family check_family_of(const struct check_lock *lock) {
    static const enum check_family families[LB_GUARANTEES + 1] = {
        [LB_ON_ONE_HOST] = FAMILY_HOST,         [LB_ON_ONE_NODE] = FAMILY_NODE,
        [LB_ON_ASYNC_REPLICA] = FAMILY_REPLICA, [LB_ON_MAJORITY] = FAMILY_MAJORITY,
        [LB_NO_GUARANTEE] = FAMILY_OTHER,       [LB_GUARANTEES] = FAMILY_OTHER};
    return lock->control ? FAMILY_CONTROL : families[lb_guarantee_from(lock->guarantee)];
}

const char *check_family_title(enum check_family family) {
    static const char *const titles[FAMILIES] = {
        [FAMILY_HOST] = "on one machine",
        [FAMILY_NODE] = "on one server",
        [FAMILY_REPLICA] = "on a primary with asynchronous replicas",
        [FAMILY_MAJORITY] = "on a majority of servers",
        [FAMILY_OTHER] = "other",
        [FAMILY_CONTROL] = "broken on purpose",
    };
    return titles[family];
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

bool check_broke(const struct check_cell *cell) {
    return cell->verdict == CHECK_EXPIRED || cell->verdict == CHECK_STUCK ||
           cell->verdict == CHECK_VIOLATED;
}

bool check_silent(const struct check_cell *cell) {
    return cell->verdict == CHECK_INCONCLUSIVE || cell->verdict == CHECK_FAILED;
}

bool check_under_fault(const struct check_cell *cell) {
    return !isnan(cell->faults_hit);
}

static void count_cell(struct check_counts *counts, const struct check_cell *cell) {
    counts->cells++;
    counts->verdict[cell->verdict]++;
    counts->as_expected += cell->compared == CHECK_AS_EXPECTED;
    counts->worse += cell->compared == CHECK_WORSE;
    counts->better += cell->compared == CHECK_BETTER;
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
        count_cell(lock->control ? &view->controls : &view->real, cell);
        count_cell(&view->families[check_family_of(lock)], cell);
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
            if (check_family_of(&check->locks[l]) != (enum check_family)family) continue;
            if (run || check->partial) view->row[view->row_count++] = l;
            if (!run) continue;
            view->locks[family]++;
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

static double known(double figure) {
    return isnan(figure) ? 0 : figure;
}

/* Adds to a sum that is NAN until something is known. */
static void add(double *sum, double more) {
    if (!isnan(more)) *sum = isnan(*sum) ? more : *sum + more;
}

static double greater(double a, double b) {
    return isnan(a) || b > a ? b : a;
}

static double less(double a, double b) {
    return isnan(a) || b < a ? b : a;
}

/* The grants on which the bound of a safe cell without a fault stands. */
static void add_tested(struct check_sums *sums, const struct check_cell *cell) {
    double tested = isnan(cell->tested) ? cell->grants : cell->tested;
    sums->unbounded += isnan(cell->bound95);
    if (!isnan(cell->bound95)) sums->safe_tested_min = less(sums->safe_tested_min, tested);
}

static void add_cell_to_sums(struct check_sums *sums, const struct check_cell *cell) {
    if (check_silent(cell)) return;
    sums->judged++;
    sums->safe += cell->verdict == CHECK_SAFE;
    sums->broke += check_broke(cell);
    add(&sums->grants, cell->grants);
    add(&sums->overlaps, cell->overlaps);
    add(&sums->stale_attempted, cell->stale_attempted);
    add(&sums->stale_accepted, cell->stale_accepted_unfenced);
    add(&sums->stale_rejected, cell->stale_rejected_fenced);
    sums->unavailable_max = greater(sums->unavailable_max, cell->unavailable_ns);
    if (cell->verdict == CHECK_SAFE)
        sums->safe_hits_min = less(sums->safe_hits_min, cell->faults_hit);
    if (cell->verdict == CHECK_SAFE && cell->grants > 0 && !check_under_fault(cell))
        add_tested(sums, cell);
}

static const struct check_sums nothing = {.grants = NAN,
                                          .overlaps = NAN,
                                          .stale_attempted = NAN,
                                          .stale_accepted = NAN,
                                          .stale_rejected = NAN,
                                          .unavailable_max = NAN,
                                          .safe_tested_min = NAN,
                                          .safe_hits_min = NAN};

static bool is_real(const struct check_view *view, int lock) {
    return !view->check->locks[lock].control;
}

void check_sum_fault(const struct check_view *view, int fault, struct check_sums *sums) {
    *sums = nothing;
    for (int r = 0; r < view->row_count; r++) {
        const struct check_cell *cell = check_view_cell(view, view->row[r], fault);
        if (cell && is_real(view, view->row[r])) add_cell_to_sums(sums, cell);
    }
}

void check_sum_all(const struct check_view *view, struct check_sums *sums) {
    *sums = nothing;
    for (int r = 0; r < view->row_count; r++) {
        bool broke = false;
        if (!is_real(view, view->row[r])) continue;
        for (int c = 0; c < view->column_count; c++) {
            const struct check_cell *cell = check_view_cell(view, view->row[r], view->column[c]);
            if (!cell) continue;
            add_cell_to_sums(sums, cell);
            broke |= cell->verdict == CHECK_EXPIRED || cell->verdict == CHECK_VIOLATED;
        }
        sums->broke_without_token += broke && !view->check->locks[view->row[r]].token;
    }
}

void check_recovery_of(const struct check_view *view, const char *backend, int fault,
                       struct check_recovery *recovery) {
    *recovery =
        (struct check_recovery){.min = NAN, .max = NAN, .theory_min = NAN, .theory_max = NAN};
    for (int r = 0; r < view->row_count; r++) {
        const struct check_lock *lock = &view->check->locks[view->row[r]];
        const struct check_cell *cell = check_view_cell(view, view->row[r], fault);
        if (!cell || check_silent(cell) || lock->control || !lock->backend ||
            strcmp(lock->backend, backend) != 0)
            continue;
        recovery->never += cell->recovered == 0;
        if (!(cell->recovery_count > 0)) continue;
        recovery->trials += cell->recovery_count;
        recovery->min = less(recovery->min, cell->recovery_min);
        recovery->max = greater(recovery->max, cell->recovery_max);
        if (isnan(cell->theory_max)) continue;
        recovery->theory_min = less(recovery->theory_min, known(cell->theory_min));
        recovery->theory_max = greater(recovery->theory_max, cell->theory_max);
    }
}

int check_backends(const struct check_view *view, const char **ret_backends, int most) {
    int count = 0;
    for (int r = 0; r < view->row_count && count < most; r++) {
        const struct check_lock *lock = &view->check->locks[view->row[r]];
        bool seen = lock->control || !lock->backend;
        for (int b = 0; b < count && !seen; b++) seen = strcmp(ret_backends[b], lock->backend) == 0;
        if (!seen) ret_backends[count++] = lock->backend;
    }
    return count;
}

static bool recovers(const struct check_view *view, int fault) {
    for (int r = 0; r < view->row_count; r++) {
        const struct check_cell *cell = check_view_cell(view, view->row[r], fault);
        if (cell && !check_silent(cell) && is_real(view, view->row[r]) &&
            (cell->recovery_count > 0 || cell->recovered == 0))
            return true;
    }
    return false;
}

int check_recovery_faults(const struct check_view *view, int *ret_faults, int most) {
    /* The faults that people ask for first; the others follow in the file's order. */
    static const char *const first[] = {"holder-kill",      "server-restart", "sentinel-failover",
                                        "cluster-failover", "primary-lost",   "leader-kill"};
    const size_t firsts = sizeof first / sizeof *first;
    int count = 0;
    for (size_t i = 0; i <= firsts; i++) {
        for (int c = 0; c < view->column_count && count < most; c++) {
            const char *name = view->check->faults[view->column[c]].name;
            bool own = i < firsts && strcmp(name, first[i]) == 0, seen = false;
            for (size_t j = 0; j < firsts && i == firsts; j++) seen |= strcmp(name, first[j]) == 0;
            if ((own || (i == firsts && !seen)) && recovers(view, view->column[c]))
                ret_faults[count++] = view->column[c];
        }
    }
    return count;
}

static bool same(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool check_same_server(const struct check_cell *a, const struct check_cell *b) {
    return same(a->server, b->server) && same(a->durability, b->durability);
}
