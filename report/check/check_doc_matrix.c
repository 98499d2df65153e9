/* check_doc_matrix: the matrix of locks and faults, and the findings below it. See check_doc.h.
 *
 * In the page the matrix is a plain table of links, each with its whole meaning as its name, so
 * that it works by keyboard, for screen readers and without a script; the script adds the arrow
 * keys and the filter. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/text.h"
#include "report/check/check_doc.h"
#include "report/check/check_view.h"

#define FINDINGS_SHOWN 8 /* the most findings, except in the page, which has all */
#define SILENT_SHOWN 4

char *check_cell_anchor(const struct check_view *view, const struct check_cell *cell, char *text) {
    snprintf(text, CHECK_ANCHOR_MAX, "#cell-%d", (int)(cell - view->check->cells));
    return text;
}

static void add_fault_columns(const struct check_view *view, struct doc *doc) {
    doc_column(doc, &(struct doc_column){.title = "lock"});
    for (int c = 0; c < view->column_count; c++) {
        const struct check_fault *fault = &view->check->faults[view->column[c]];
        doc_column(doc, &(struct doc_column){
                            .title = fault->name, .help = fault->summary, .upright = true});
    }
}

static void add_cell_sign(const struct check_view *view, const struct check_cell *cell,
                          struct doc *doc) {
    char sign[8], name[300], anchor[CHECK_ANCHOR_MAX];
    if (!cell) {
        doc_cell(doc, "%s", "-");
        doc_set_title(doc, "not run");
        return;
    }
    doc_cell(doc, "%s", "");
    doc_set_tone(doc, check_tone(view, cell));
    doc_set_data(doc, "verdict", check_verdict_name(cell->verdict));
    if (cell->compared == CHECK_WORSE || cell->missed) doc_set_data(doc, "worse", "");
    if (cell->compared == CHECK_WORSE || cell->compared == CHECK_BETTER)
        doc_set_data(doc, "differs", "");
    snprintf(sign, sizeof sign, "%s%s", check_sign(cell->verdict), check_mark(cell));
    snprintf(name, sizeof name, "%s under %s: %s, %s", check_lock_of(view, cell)->name,
             check_fault_of(view, cell)->name, check_verdict_name(cell->verdict),
             check_compared_text(cell));
    doc_link(doc, check_cell_anchor(view, cell, anchor), sign, name);
}

static void add_lock_rows(const struct check_view *view, struct doc *doc) {
    int family = -1;
    for (int r = 0; r < view->row_count; r++) {
        const struct check_lock *lock = &view->check->locks[view->row[r]];
        int own = (int)check_family_of(lock);
        if (own != family)
            doc_group(doc, TONE_PLAIN, "%s", check_family_title((enum check_family)own));
        family = own;
        doc_row(doc, DOC_ROW);
        doc_set_data(doc, "backend", lock->backend);
        doc_cell(doc, "%s", lock->name);
        for (int c = 0; c < view->column_count; c++)
            add_cell_sign(view, check_view_cell(view, view->row[r], view->column[c]), doc);
    }
}

/* The signs and what they mean: the one legend of all outputs. */
static void add_legend(struct doc *doc) {
    struct {
        enum tone tone;
        const char *sign, *text;
    } signs[CHECK_VERDICTS + 3];
    static const enum tone tones[CHECK_VERDICTS] = {[CHECK_SAFE] = TONE_GOOD,
                                                    [CHECK_EXPIRED] = TONE_WARN,
                                                    [CHECK_STUCK] = TONE_WARN,
                                                    [CHECK_VIOLATED] = TONE_BAD};
    const size_t sign_count = sizeof signs / sizeof *signs;
    for (int v = 0; v < CHECK_VERDICTS; v++) {
        signs[v].tone = tones[v];
        signs[v].sign = check_sign((enum check_verdict)v);
        signs[v].text = check_verdict_name((enum check_verdict)v);
    }
    signs[CHECK_VERDICTS].tone = TONE_PLAIN;
    signs[CHECK_VERDICTS].sign = "-";
    signs[CHECK_VERDICTS].text = "not run";
    signs[CHECK_VERDICTS + 1].tone = TONE_GOOD;
    signs[CHECK_VERDICTS + 1].sign = "+";
    signs[CHECK_VERDICTS + 1].text = "better than the driver states";
    signs[CHECK_VERDICTS + 2].tone = TONE_BAD;
    signs[CHECK_VERDICTS + 2].sign = "!";
    signs[CHECK_VERDICTS + 2].text =
        "worse than the driver states, or a control that was not caught";
    doc_list(doc, "legend");
    doc_set_only(doc, DOC_HTML);
    for (size_t i = 0; i < sign_count; i++) {
        doc_item(doc, TONE_PLAIN, "%s", "");
        doc_chip(doc, DOC_CHIP, signs[i].tone, NULL, signs[i].sign, NULL);
        doc_span(doc, DOC_PLAIN, " %s", signs[i].text);
    }
    doc_end(doc);
    doc_say(doc, TONE_PLAIN, "%s", "");
    doc_set_only(doc, DOC_TERMINAL);
    for (size_t i = 0; i < sign_count; i++)
        doc_span(doc, DOC_PLAIN, "%s%s %s", i > 0 ? ", " : "", signs[i].sign, signs[i].text);
}

void check_doc_matrix(const struct check_view *view, enum doc_format format, struct doc *doc) {
    doc_section(doc, "matrix", "Locks and faults");
    doc_set_only(doc, format);
    if (view->row_count == 0) {
        doc_say(doc, TONE_PLAIN, "No cell has been run yet.");
        doc_set_only(doc, DOC_HTML);
    } else {
        doc_say(doc, TONE_PLAIN,
                "Each cell leads to its evidence; the arrow keys go from cell to cell.");
        doc_set_only(doc, DOC_HTML);
        doc_html(doc, "<div id=\"filter\" class=\"controls\" hidden></div>\n");
        doc_table(doc, "matrix", NULL);
        add_fault_columns(view, doc);
        add_lock_rows(view, doc);
        doc_end(doc);
        add_legend(doc);
    }
    doc_end(doc);
}

static bool is_plain(const char *word) {
    return word[strspn(word, PLAIN_WORD)] == '\0';
}

/* The command that prints what contradicts what in the history of the cell's run. */
static void add_judge(const struct check *check, const struct check_cell *cell, struct doc *doc) {
    char command[PATH_MAX + 300];
    if (!cell->run || !is_plain(cell->run) || json_array_size(cell->timeline) == 0) return;
    const char *quote = is_plain(check->dir) ? "" : "'";
    snprintf(command, sizeof command, "lockbench check %s%s/%s%s", quote, check->dir, cell->run,
             quote);
    doc_command(doc, "judge", command);
}

static void add_finding(const struct check_view *view, const struct check_cell *cell, bool is_shown,
                        struct doc *doc) {
    char *recovery = check_recovery_sentence(cell), *store = check_store_sentence(cell),
         anchor[CHECK_ANCHOR_MAX], name[300];
    if (!recovery || !store) doc->failed = true;
    snprintf(name, sizeof name, "%s under %s", check_lock_of(view, cell)->name,
             check_fault_of(view, cell)->name);
    doc_item(doc, check_tone(view, cell), "%s", "");
    if (!is_shown) doc_set_only(doc, DOC_HTML);
    doc_link(doc, check_cell_anchor(view, cell, anchor), name, NULL);
    check_add_seen(cell, doc);
    if (recovery && *recovery) doc_span(doc, DOC_DETAIL, "%s", recovery);
    if (store && *store) doc_span(doc, DOC_DETAIL, "%s", store);
    if (cell->command) doc_command(doc, "again", cell->command);
    add_judge(view->check, cell, doc);
    free(recovery);
    free(store);
}

static void add_cell_findings(const struct check_view *view, const struct check_cell *const *cells,
                              int count, int shown, struct doc *doc) {
    if (count == 0) return;
    doc_list(doc, "findings");
    for (int i = 0; i < count; i++) add_finding(view, cells[i], i < shown, doc);
    if (count > shown) {
        doc_item(doc, TONE_PLAIN, "and %d more: report.html has them, and lockbench report --json",
                 count - shown);
        doc_set_only(doc, DOC_TERMINAL | DOC_MARKDOWN);
    }
    doc_end(doc);
}

void check_doc_findings(const struct check_view *view, struct doc *doc) {
    bool judged = view->real.cells >
                  view->real.verdict[CHECK_INCONCLUSIVE] + view->real.verdict[CHECK_FAILED];
    doc_section(doc, "findings", "Findings: worse than stated");
    if (view->finding_count == 0) {
        doc_say(doc, TONE_PLAIN, judged ? "None." : "Nothing was judged.");
        doc_set_only(doc, DOC_HTML | DOC_MARKDOWN);
    } else {
        doc_heading(doc, "Worse than stated");
        doc_set_only(doc, DOC_TERMINAL);
    }
    add_cell_findings(view, view->finding, view->finding_count, FINDINGS_SHOWN, doc);
    if (view->silent_count > 0) {
        doc_fold(doc, false, "Without a verdict (%d)", view->silent_count);
        doc_set_headline(doc);
        add_cell_findings(view, view->silent, view->silent_count, SILENT_SHOWN, doc);
        doc_end(doc);
    }
    doc_end(doc);
}

/* check_doc_sums: the safe and the broken cells, added up: by family of locks, by fault, and the
 * recoveries of each backend beside theory. See check_doc.h. */

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
