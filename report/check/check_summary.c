/* check_summary: a check on one screen of a terminal: at most 40 lines of at most 100 columns. The answer comes first, then
 * one table, a row for each lock, and what to type next. See check_doc.h. */
#include <stdlib.h>
#include <string.h>

#include "report/check/check_doc.h"
#include "results/format/bound.h"

#define ROWS_MAX 14
#define SENTENCES 8 /* of the answer, beside so many rows; each more costs two */
#define FINDINGS_MAX 2
#define SEEDS_ENOUGH 20
#define FAULTS_MAX 4 /* with more, the verdicts are counted */
#define LEGEND "ok: nothing wrong was seen; ?: the fault tested nothing"

static const char *const words[CHECK_VERDICTS] = {
    [CHECK_SAFE] = "ok",           [CHECK_EXPIRED] = "2 holders", [CHECK_STUCK] = "stuck",
    [CHECK_VIOLATED] = "violated", [CHECK_INCONCLUSIVE] = "?",    [CHECK_FAILED] = "failed"};

/* True if real locks have cells of the fault: the controls have a fault of their own. */
static bool is_shown(const struct check_view *view, int column) {
    bool any = false;
    for (int r = 0; r < view->row_count; r++) {
        const struct check_cell *cell = check_view_cell(view, view->row[r], view->column[column]);
        any |= cell && !check_lock_of(view, cell)->control;
    }
    return any;
}

/* True if the names of all faults have room side by side. */
static bool has_room(const struct check_view *view) {
    int shown = 0;
    for (int c = 0; c < view->column_count; c++) shown += is_shown(view, c);
    return shown <= FAULTS_MAX;
}

/* The verdict under each fault. */
static void add_words(const struct check_view *view, int row, struct doc *doc) {
    for (int c = 0; c < view->column_count; c++) {
        const struct check_cell *cell = check_view_cell(view, row, view->column[c]);
        bool worse = cell && (cell->compared == CHECK_WORSE || cell->missed);
        doc_cell(doc, "%s%s", cell ? words[cell->verdict] : "-", worse ? " !" : "");
        if (cell) doc_set_tone(doc, check_tone(view, cell));
    }
}

/* The number of the lock's cells with each verdict. */
static void add_counts(const struct check_view *view, int row, struct doc *doc) {
    int count[CHECK_VERDICTS] = {0};
    for (int c = 0; c < view->column_count; c++) {
        const struct check_cell *cell = check_view_cell(view, row, view->column[c]);
        if (cell) count[cell->verdict]++;
    }
    for (int v = 0; v < CHECK_VERDICTS; v++) doc_cell(doc, "%d", count[v]);
}

void check_add_table(const struct check_view *view, int rows, struct doc *doc) {
    bool room = has_room(view);
    int more = 0, controls = 0;
    doc_table(doc, NULL, NULL);
    doc_column(doc, &(struct doc_column){.title = "lock"});
    for (int c = 0; c < view->column_count; c++)
        doc_column(doc, &(struct doc_column){.title = view->check->faults[view->column[c]].name,
                                             .only = room && is_shown(view, c) ? 0 : DOC_MARKDOWN});
    for (int v = 0; v < CHECK_VERDICTS; v++)
        doc_column(doc, &(struct doc_column){.title = words[v],
                                             .right = true,
                                             .only = room ? DOC_NONE : DOC_TERMINAL});
    for (int r = 0; r < view->row_count; r++) {
        const struct check_lock *lock = &view->check->locks[view->row[r]];
        if (!lock->control && rows-- <= 0) {
            more++;
            continue;
        }
        if (lock->control && controls++ == 0) {
            doc_group(doc, TONE_PLAIN, "broken on purpose");
            doc_set_only(doc, DOC_MARKDOWN);
        }
        doc_row(doc, DOC_ROW);
        doc_set_only(doc, lock->control ? DOC_MARKDOWN : 0);
        doc_cell(doc, "%s", lock->name);
        add_words(view, view->row[r], doc);
        add_counts(view, view->row[r], doc);
    }
    if (more > 0) doc_note(doc, TONE_PLAIN, "and %d more locks", more);
    doc_note(doc, TONE_PLAIN, LEGEND);
    doc_set_only(doc, room ? DOC_NONE : DOC_TERMINAL);
    doc_note(doc, TONE_PLAIN, LEGEND "; !: worse than stated, or missed; -: not run");
    doc_set_only(doc, room ? 0 : DOC_MARKDOWN);
    doc_end(doc);
}

static void say_next(const struct check_view *view, struct doc *doc) {
    const struct check_cell *const *cells = view->finding_count ? view->finding : view->silent;
    int count = view->finding_count ? view->finding_count : view->silent_count;
    doc_section(doc, "next", "Next");
    for (int i = 0; i < count && i < FINDINGS_MAX; i++) {
        doc_say(doc, TONE_PLAIN, "%s under %s: %s%s%s", check_lock_of(view, cells[i])->name,
                check_fault_of(view, cells[i])->name, check_verdict_name(cells[i]->verdict),
                cells[i]->expected ? ", stated: " : "", doc_or(cells[i]->expected, ""));
        if (cells[i]->command) doc_command(doc, "again", cells[i]->command);
    }
    if (json_array_size(view->check->seeds) < SEEDS_ENOUGH)
        doc_say(
            doc, TONE_PLAIN,
            "A run or a few a cell: --seed 1..%d finds what fails in %.0f %% of runs or more (95 %%).",
            SEEDS_ENOUGH, 100 * bound_of_faults(SEEDS_ENOUGH));
    doc_say(doc, TONE_PLAIN, "Everything: lockbench report --full %s; each cell's run: its cells/",
            view->check->dir);
    doc_end(doc);
}

void check_summary(const struct check_view *view, bool quiet, struct doc *doc) {
    const struct check *check = view->check;
    char machine[WORDS_MACHINE_MAX];
    doc_section(doc, "answer", "Answer");
    check_verdict(view, doc);
    doc_end(doc);
    if (quiet) return;
    json_t *sentences = doc_sentences(doc);
    int said = (int)json_array_size(sentences);
    json_decref(sentences);
    words_machine(check->environment, machine, sizeof machine);
    doc_section(doc, "ran", "Ran");
    doc_say(doc, TONE_PLAIN, "Ran: %s, lockbench %s, %s to %s; %s.",
            doc_or(check->command, "lockbench check"),
            doc_or(check->tool_version, "of an unknown version"),
            doc_or(check->started_at, "undated"), doc_or(check->ended_at, "its end"), machine);
    check_add_servers(check, true, doc);
    doc_end(doc);
    int rows = said > SENTENCES ? ROWS_MAX - 2 * (said - SENTENCES) : ROWS_MAX;
    if (view->row_count > 0) check_add_table(view, rows, doc);
    say_next(view, doc);
}
