/* check_words: a cell and a check in signs and sentences, the same in every output. It escapes
 * nothing: each output escapes the names and reasons, which come from servers. */
#include <math.h>

#include "report/check/check_doc.h"

#define NAMES_SHOWN 2
#define FAULTS_SHOWN 3

enum tone check_tone(const struct check_view *view, const struct check_cell *cell) {
    if (check_silent(cell)) return TONE_PLAIN;
    if (check_lock_of(view, cell)->control)
        return TONE_PLAIN; /* broken on purpose: only whether it is caught counts */
    if (cell->verdict == CHECK_SAFE) return TONE_GOOD;
    return cell->verdict == CHECK_VIOLATED || cell->compared == CHECK_WORSE ? TONE_BAD : TONE_WARN;
}

/* Adds "3 overlaps in 1,204 grants, 2 lost updates"; counts of zero are left out. */
static void add_counts(struct doc *doc, const struct check_cell *cell) {
    char text[NUMBER_TEXT_MAX];
    const struct {
        double count;
        const char *one, *many;
    } counts[] = {{cell->overlaps, "overlap", "overlaps"},
                  {cell->lost_updates, "lost update", "lost updates"},
                  {cell->lost_wakeups, "lost wake-up", "lost wake-ups"},
                  {cell->grants_lost, "grant lost", "grants lost"},
                  {cell->residue, "leftover on the server", "leftovers on the server"}};
    const char *separator = ": ";
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (!(counts[i].count > 0)) continue;
        doc_span(doc, DOC_PLAIN, "%s%s %s", separator, number_count_text(counts[i].count, text),
                 counts[i].count == 1 ? counts[i].one : counts[i].many);
        separator = ", ";
    }
    if (!isnan(cell->grants)) {
        doc_span(doc, DOC_PLAIN, "%s%s grant%s", *separator == ':' ? ": " : " in ",
                 number_count_text(cell->grants, text), cell->grants == 1 ? "" : "s");
    }
}

static void add_recovery(const struct check_cell *cell, struct doc *doc) {
    char p50[NUMBER_TEXT_MAX], max[NUMBER_TEXT_MAX], trials[NUMBER_TEXT_MAX];
    char theory[NUMBER_TEXT_MAX + 24] = "";
    if (cell->theory_max == 0)
        snprintf(theory, sizeof theory, "; theory: at once");
    else if (!isnan(cell->theory_max))
        snprintf(theory, sizeof theory, "; theory: %s at most",
                 number_time_text(cell->theory_max, max));
    if (cell->recovery_count > 0)
        doc_span(doc, DOC_DETAIL, "recovered in %s at p50, %s at most, of %s trial%s%s",
                 number_time_text(cell->recovery_p50, p50),
                 number_time_text(cell->recovery_max, max),
                 number_count_text(cell->recovery_count, trials),
                 cell->recovery_count == 1 ? "" : "s", theory);
    else if (cell->recovered == 0 && !check_silent(cell))
        doc_span(doc, DOC_DETAIL, "did not recover%s", theory);
}

static void add_stale_writes(const struct check_cell *cell, struct doc *doc) {
    char attempted[NUMBER_TEXT_MAX], accepted[NUMBER_TEXT_MAX], rejected[NUMBER_TEXT_MAX];
    bool fenced = !isnan(cell->stale_rejected_fenced);
    if (cell->stale_attempted > 0)
        doc_span(doc, DOC_DETAIL, "%s stale write%s: accepted without fencing %s, %s%s",
                 number_count_text(cell->stale_attempted, attempted),
                 cell->stale_attempted == 1 ? "" : "s",
                 number_count_text(cell->stale_accepted_unfenced, accepted),
                 fenced ? "rejected with it " : "and the lock has no token",
                 fenced ? number_count_text(cell->stale_rejected_fenced, rejected) : "");
}

void check_add_seen(const struct check_cell *cell, struct doc *doc) {
    doc_span(doc, DOC_PLAIN, ": %s", check_verdict_name(cell->verdict));
    if (cell->expected && cell->compared != CHECK_AS_EXPECTED) {
        doc_span(doc, DOC_PLAIN, ", %s is stated", cell->expected);
        if (cell->expected_why) doc_span(doc, DOC_PLAIN, " (%s)", cell->expected_why);
    }
    add_counts(doc, cell);
    if (cell->why) doc_span(doc, DOC_PLAIN, "; %s", cell->why);
    add_recovery(cell, doc);
    add_stale_writes(cell, doc);
}

/* Adds "redis-wait under primary-lost, zk-lock under pause and 4 more" to the last sentence. */
static void add_cell_names(struct doc *doc, const struct check_view *view,
                           const struct check_cell *const *cells, int count) {
    for (int i = 0; i < count && i < NAMES_SHOWN; i++) {
        doc_span(doc, DOC_PLAIN, "%s%s under %s",
                 i == 0           ? ""
                 : i + 1 == count ? " and "
                                  : ", ",
                 check_lock_of(view, cells[i])->name, check_fault_of(view, cells[i])->name);
    }
    if (count > NAMES_SHOWN) doc_span(doc, DOC_PLAIN, " and %d more", count - NAMES_SHOWN);
}

#define ANY (-1)

/* Cells of real locks with a verdict: of a row, a column, with this one. */
static int judged(const struct check_view *view, int row, int column, int verdict) {
    int count = 0;
    for (int r = 0; r < view->row_count; r++) {
        if (row != ANY && r != row) continue;
        for (int c = 0; c < view->column_count; c++) {
            const struct check_cell *cell = check_view_cell(view, view->row[r], view->column[c]);
            if (column != ANY && c != column) continue;
            count += cell && !check_silent(cell) && !check_lock_of(view, cell)->control &&
                     (verdict == ANY || (int)cell->verdict == verdict);
        }
    }
    return count;
}

/* First of all, since it limits all that follows. */
static void say_unfinished(const struct check_view *view, struct doc *doc) {
    const struct check *check = view->check;
    if (!check->partial) return;
    doc_say(
        doc, TONE_WARN, "Not finished: %s",
        doc_or(check->partial_reason, "the check was interrupted; this is the part that was done"));
    if (check->planned > 0)
        doc_span(doc, DOC_PLAIN, "; %d of %.0f cells %s run", check->cell_count, check->planned,
                 check->cell_count == 1 ? "was" : "were");
}

static void say_findings(const struct check_view *view, struct doc *doc) {
    int count = view->finding_count, cells = view->judged, locks = 0, faults = 0;
    for (int r = 0; r < view->row_count; r++) locks += judged(view, r, ANY, ANY) > 0;
    for (int c = 0; c < view->column_count; c++) faults += judged(view, ANY, c, ANY) > 0;
    if (count > 0) {
        doc_say(doc, TONE_BAD, "%d of %d cells show%s worse than the driver states: ", count, cells,
                count == 1 ? "s" : "");
        add_cell_names(doc, view, view->finding, count);
    } else if (cells == 0) {
        doc_say(doc, TONE_WARN, "Nothing was judged: no cell of a real lock has a verdict");
    } else {
        doc_say(doc, view->check->partial ? TONE_PLAIN : TONE_GOOD,
                "No lock did worse than its driver states%s: %d cell%s, %d lock%s, %d scenario%s",
                view->check->partial ? " so far" : "", cells, cells == 1 ? "" : "s", locks,
                locks == 1 ? "" : "s", faults, faults == 1 ? "" : "s");
    }
    if (view->better > 0) doc_span(doc, DOC_PLAIN, "; %d better", view->better);
    doc_set_headline(doc);
}

/* The locks whose cells are all safe. */
static void say_held(const struct check_view *view, struct doc *doc) {
    int locks = 0, held = 0;
    const char *names[NAMES_SHOWN];
    for (int r = 0; r < view->row_count; r++) {
        int all = judged(view, r, ANY, ANY);
        if (all == 0) continue;
        locks++;
        if (judged(view, r, ANY, CHECK_SAFE) == all && held++ < NAMES_SHOWN)
            names[held - 1] = view->check->locks[view->row[r]].name;
    }
    if (locks == 0) return;
    doc_say(doc, held == locks ? TONE_GOOD : TONE_WARN,
            "Is it a lock? %d of %d survived all that was judged", held, locks);
    for (int i = 0; i < held && i < NAMES_SHOWN; i++)
        doc_span(doc, DOC_PLAIN, "%s%s", i ? ", " : ": ", names[i]);
    if (held > NAMES_SHOWN) doc_span(doc, DOC_PLAIN, " and %d more", held - NAMES_SHOWN);
    doc_set_headline(doc);
}

/* What breaks, whatever the drivers state, because the resource of a user is harmed by a break that was expected, too:
 * "Stuck: 3 of 14 under server-restart". */
static void say_broken(const struct check_view *view, enum check_verdict verdict, const char *what,
                       struct doc *doc) {
    int said = 0, more = 0;
    for (int c = 0; c < view->column_count; c++) {
        int broke = judged(view, ANY, c, (int)verdict);
        more += broke > 0 && said == FAULTS_SHOWN;
        if (broke == 0 || said == FAULTS_SHOWN) continue;
        if (said == 0) doc_say(doc, TONE_WARN, "%s: ", what);
        doc_span(doc, DOC_PLAIN, "%s%d of %d under %s", said++ ? ", " : "", broke,
                 judged(view, ANY, c, ANY), view->check->faults[view->column[c]].name);
    }
    if (more > 0) doc_span(doc, DOC_PLAIN, " and %d more", more);
}

static void say_answer(const struct check_view *view, struct doc *doc) {
    say_held(view, doc);
    say_broken(view, CHECK_EXPIRED, "A second holder, from whom a fencing token saves the data",
               doc);
    say_broken(view, CHECK_VIOLATED, "Two valid holders, or a grant was lost", doc);
    say_broken(view, CHECK_STUCK, "Stuck: granted again late, or never", doc);
}

/* Adds the names of controls to the last sentence. */
static void add_control_names(const struct check_lock *const *locks, int count, struct doc *doc) {
    for (int i = 0; i < count && i < NAMES_SHOWN; i++)
        doc_span(doc, DOC_PLAIN, "%s%s", i ? ", " : "", locks[i]->name);
    if (count > NAMES_SHOWN) doc_span(doc, DOC_PLAIN, " and %d more", count - NAMES_SHOWN);
}

static void say_controls(const struct check_view *view, struct doc *doc) {
    int all = view->control_count, caught = view->caught_count;
    if (all == 0) return;
    if (view->missed_count > 0) {
        doc_say(doc, TONE_BAD, "Broken on purpose, and not caught, so do not trust this check: ");
        add_control_names(view->missed, view->missed_count, doc);
    }
    if (view->unshown_count > 0) {
        doc_say(doc, TONE_WARN, "Broken on purpose, and its run failed or was inconclusive: ");
        add_control_names(view->unshown, view->unshown_count, doc);
    }
    if (caught == all) {
        doc_say(doc, TONE_GOOD, "Every lock broken on purpose was caught: %d", all);
        return;
    }
    doc_say(doc, TONE_PLAIN, "Of %d lock%s broken on purpose %d %s caught%s", all,
            all == 1 ? "" : "s", caught, caught == 1 ? "was" : "were",
            view->missed_count + view->unshown_count > 0
                ? ""
                : "; the others showed nothing in scenarios that are not made for them");
}

static void say_silent(const struct check_view *view, struct doc *doc) {
    const struct check *check = view->check;
    int half = 0;
    for (int i = 0; i < check->cell_count; i++)
        half += !check_silent(&check->cells[i]) && check->cells[i].failed_runs > 0;
    if (view->silent_count > 0) {
        doc_say(doc, TONE_WARN, "%d cell%s show%s nothing: ", view->silent_count,
                view->silent_count == 1 ? "" : "s", view->silent_count == 1 ? "s" : "");
        add_cell_names(doc, view, view->silent, view->silent_count);
    }
    if (half > 0)
        doc_say(doc, TONE_WARN,
                "%d cell%s on a part of %s runs: the others failed or were inconclusive", half,
                half == 1 ? " rests" : "s rest", half == 1 ? "its" : "their");
}

void check_verdict(const struct check_view *view, struct doc *doc) {
    doc_box(doc);
    say_unfinished(view, doc);
    say_answer(view, doc);
    say_findings(view, doc);
    say_controls(view, doc);
    say_silent(view, doc);
    doc_end(doc);
}
