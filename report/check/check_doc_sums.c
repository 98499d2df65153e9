/* check_doc_sums: the safe and the broken cells, added up: by family of locks, by fault, and the
 * recoveries of each backend beside theory. See check_doc.h and check_sums.h. */
#include <math.h>
#include <string.h>

#include "report/check/check_doc.h"
#include "report/check/check_sums.h"

#define BACKENDS_MAX 32
#define FAULTS_MAX 64
#define FAULTS_SHOWN 5 /* rows of columns in Markdown */
#define NAMES_SHOWN 4

static void add_families(const struct check_view *view, struct doc *doc) {
    static const struct doc_column columns[] = {
        {.title = "locks"},
        {.title = "how many", .figure = DOC_COUNT},
        {.title = "cells", .figure = DOC_COUNT},
        {.title = "safe", .figure = DOC_COUNT},
        {.title = "expired", .figure = DOC_COUNT},
        {.title = "stuck", .figure = DOC_COUNT},
        {.title = "violated", .figure = DOC_COUNT},
        {.title = "no verdict", .figure = DOC_COUNT},
        {.title = "worse than stated", .figure = DOC_COUNT},
        {.title = "better", .figure = DOC_COUNT},
        {.title = NULL},
    };
    doc_table(doc, "figures sortable", "Cells, by what the lock's truth rests on");
    doc_columns(doc, columns);
    for (int f = 0; f < FAMILIES; f++) {
        const struct check_counts *counts = &view->families[f];
        if (counts->cells == 0) continue;
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", check_family_title((enum check_family)f));
        doc_figure(doc, view->locks[f]);
        doc_figure(doc, counts->cells);
        for (int v = CHECK_SAFE; v <= CHECK_VIOLATED; v++) doc_figure(doc, counts->verdict[v]);
        doc_figure(doc, counts->verdict[CHECK_INCONCLUSIVE] + counts->verdict[CHECK_FAILED]);
        doc_figure(doc, counts->worse);
        if (counts->worse > 0 && f != FAMILY_CONTROL) doc_set_tone(doc, TONE_BAD);
        doc_figure(doc, counts->better);
    }
    doc_end(doc);
}

/* Adds the names of the locks that are worse than their driver states. Returns how many. */
static int add_worse(const struct check_view *view, int fault, struct doc *doc) {
    int worse = 0;
    for (int r = 0; r < view->row_count; r++) {
        const struct check_cell *cell = check_view_cell(view, view->row[r], fault);
        if (!cell || cell->compared != CHECK_WORSE || check_lock_of(view, cell)->control) continue;
        if (!check_broke(cell) || worse++ >= NAMES_SHOWN) continue;
        if (worse > 1) doc_span(doc, DOC_PLAIN, ", ");
        doc_span(doc, DOC_STRONG, "%s", check_lock_of(view, cell)->name);
        doc_span(doc, DOC_PLAIN, " (%s)", check_verdict_name(cell->verdict));
    }
    if (worse > NAMES_SHOWN) {
        doc_span(doc, DOC_PLAIN, " and ");
        doc_span(doc, DOC_STRONG, "%d more", worse - NAMES_SHOWN);
    }
    return worse;
}

/* Adds "25 expired (redis, etcd)": the other locks that broke in the same way, by backend. */
static int add_stated(const struct check_view *view, int fault, enum check_verdict verdict,
                      const char *separator, struct doc *doc) {
    const char *backends[BACKENDS_MAX];
    int backend_count = 0, count = 0;
    for (int r = 0; r < view->row_count; r++) {
        const struct check_cell *cell = check_view_cell(view, view->row[r], fault);
        if (!cell || cell->verdict != verdict || cell->compared == CHECK_WORSE) continue;
        const struct check_lock *lock = check_lock_of(view, cell);
        bool known = !lock->backend || backend_count == BACKENDS_MAX;
        if (lock->control) continue;
        count++;
        for (int b = 0; b < backend_count && !known; b++)
            known = strcmp(backends[b], lock->backend) == 0;
        if (!known) backends[backend_count++] = lock->backend;
    }
    if (count == 0) return 0;
    doc_span(doc, DOC_PLAIN, "%s%d %s", separator, count, check_verdict_name(verdict));
    for (int b = 0; b < backend_count; b++)
        doc_span(doc, DOC_PLAIN, "%s%s", b == 0 ? " (" : ", ", backends[b]);
    if (backend_count > 0) doc_span(doc, DOC_PLAIN, ")");
    return count;
}

static void add_broken(const struct check_view *view, int fault, struct doc *doc) {
    static const enum check_verdict order[] = {CHECK_VIOLATED, CHECK_STUCK, CHECK_EXPIRED};
    doc_cell(doc, "%s", "");
    int broken = add_worse(view, fault, doc);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        broken += add_stated(view, fault, order[i], broken ? "; " : "", doc);
}

/* Names the faults under which nothing broke: in Markdown they have no rows. */
static void note_unbroken(const struct check_view *view, struct doc *doc) {
    int count = 0, cells = 0;
    for (int c = 0; c < view->column_count; c++) {
        struct check_sums sums;
        check_sum_fault(view, view->column[c], &sums);
        if (sums.judged == 0 || sums.broke > 0) continue;
        if (count == 0) {
            doc_note(doc, TONE_PLAIN, "Nothing broke under: ");
            doc_set_only(doc, DOC_MARKDOWN);
        }
        doc_span(doc, DOC_PLAIN, "%s%s", count++ > 0 ? ", " : "",
                 view->check->faults[view->column[c]].name);
        cells += sums.judged;
    }
    if (count > 0) doc_span(doc, DOC_PLAIN, " (%d cell%s)", cells, cells == 1 ? "" : "s");
}

static void add_fault_sums(const struct check_view *view, struct doc *doc) {
    static const struct doc_column columns[] = {
        {.title = "under"},
        {.title = "judged", .figure = DOC_COUNT},
        {.title = "safe", .figure = DOC_COUNT},
        {.title = "broke", .words = true},
        {.title = "overlaps", .figure = DOC_COUNT},
        {.title = "grants", .figure = DOC_COUNT},
        {.title = "stale writes accepted unfenced", .figure = DOC_COUNT},
        {.title = "rejected fenced", .figure = DOC_COUNT},
        {.title = "longest that a free key waited", .figure = DOC_TIME},
        {.title = NULL},
    };
    doc_table(doc, "figures sortable", "By fault, without the controls");
    doc_columns(doc, columns);
    for (int c = 0; c < view->column_count; c++) {
        struct check_sums sums;
        check_sum_fault(view, view->column[c], &sums);
        if (sums.judged == 0) continue;
        doc_row(doc, DOC_ROW);
        if (sums.broke == 0) doc_set_only(doc, DOC_HTML);
        doc_cell(doc, "%s", view->check->faults[view->column[c]].name);
        doc_figure(doc, sums.judged);
        doc_figure(doc, sums.safe);
        add_broken(view, view->column[c], doc);
        doc_figure(doc, sums.overlaps);
        doc_figure(doc, sums.grants);
        doc_figure(doc, sums.stale_accepted);
        doc_figure(doc, sums.stale_rejected);
        doc_figure(doc, sums.unavailable_max);
    }
    note_unbroken(view, doc);
    doc_note(
        doc, TONE_PLAIN,
        "Longest that a free key waited: nobody was granted anything meanwhile, although a client had asked "
        "for a key that nobody held. Time in which live holders kept the keys is none of it, also while the "
        "server was away.");
    if (view->finding_count > 0) doc_note(doc, TONE_PLAIN, "Bold: worse than the driver states.");
    doc_end(doc);
}

static void add_fencing(const struct check_view *view, struct doc *doc) {
    struct check_sums sums;
    char a[NUMBER_TEXT_MAX], b[NUMBER_TEXT_MAX], c[NUMBER_TEXT_MAX];
    check_sum_all(view, &sums);
    if (!(sums.stale_attempted > 0)) return;
    doc_say(doc, TONE_PLAIN, "%s", "");
    doc_span(doc, DOC_STRONG, "Fencing");
    doc_span(doc, DOC_PLAIN, ": of %s stale writes the store without fencing accepted %s; ",
             number_count_text(sums.stale_attempted, a), number_count_text(sums.stale_accepted, b));
    if (isnan(sums.stale_rejected))
        doc_span(doc, DOC_PLAIN, "none of these locks has a token.");
    else
        doc_span(doc, DOC_PLAIN, "with it, where the lock has a token, it rejected %s.",
                 number_count_text(sums.stale_rejected, c));
    bool one = sums.broke_without_token == 1;
    if (sums.broke_without_token > 0)
        doc_span(doc, DOC_PLAIN, " %d lock%s broke and %s no token: nothing saves the data there.",
                 sums.broke_without_token, one ? "" : "s", one ? "has" : "have");
}

static void add_recovery(const struct check_recovery *recovery, struct doc *doc) {
    char range[CHECK_RANGE_MAX], count[NUMBER_TEXT_MAX];
    bool any = recovery->trials > 0;
    doc_cell(doc, "%s", !any && recovery->never == 0 ? NUMBER_NONE : "");
    if (any) {
        doc_span(doc, DOC_PLAIN, "%s", check_range_text(recovery->min, recovery->max, range));
        doc_span(doc, DOC_SOFT, ", n = %s", number_count_text(recovery->trials, count));
    }
    if (recovery->never > 0)
        doc_span(doc, DOC_PLAIN, "%s%d never", any ? "; " : "", recovery->never);
    if (isfinite(recovery->theory_max))
        doc_span(doc, DOC_SOFT, " (theory %s)",
                 check_range_text(recovery->theory_min, recovery->theory_max, range));
}

/* Fastest and slowest of all trials: ranges may be put together, percentiles may not. */
static void add_recoveries(const struct check_view *view, struct doc *doc) {
    const char *backends[BACKENDS_MAX];
    int faults[FAULTS_MAX], backend_count = check_backends(view, backends, BACKENDS_MAX);
    int fault_count = check_recovery_faults(view, faults, FAULTS_MAX);
    if (fault_count == 0) return;
    doc_table(doc, NULL,
              "Recovery: fastest and slowest of all trials, from the fault to the next grant");
    doc_column(doc, &(struct doc_column){.title = "recovery"});
    for (int f = 0; f < fault_count; f++)
        doc_column(doc, &(struct doc_column){.title = view->check->faults[faults[f]].name,
                                             .words = true,
                                             .only = f < FAULTS_SHOWN ? 0 : DOC_HTML});
    for (int b = 0; b < backend_count; b++) {
        struct check_recovery recovery[FAULTS_MAX];
        bool any = false;
        for (int f = 0; f < fault_count; f++) {
            check_recovery_of(view, backends[b], faults[f], &recovery[f]);
            any |= recovery[f].trials > 0 || recovery[f].never > 0;
        }
        if (!any) continue;
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", backends[b]);
        for (int f = 0; f < fault_count; f++) add_recovery(&recovery[f], doc);
    }
    doc_end(doc);
}

void check_doc_sums(const struct check_view *view, struct doc *doc) {
    doc_section(doc, "sums", "What held, what broke, for how long");
    doc_set_only(doc, DOC_MARKDOWN | DOC_HTML);
    if (view->row_count > 0) {
        add_families(view, doc);
        add_fault_sums(view, doc);
        add_fencing(view, doc);
        add_recoveries(view, doc);
    }
    doc_end(doc);
}
