/* check_sums: see check_sums.h. */
#include "report/check/check_sums.h"

#include <math.h>
#include <string.h>

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
