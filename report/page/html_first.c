/* html_first: the first screen of the page of runs: one sentence, a tile for each class of
 * durability and guarantee with the lock that leads there, and how far each lock is from the best.
 * The first screen is markup without scripts, so that a reader without JavaScript sees it too. It
 * ranks nothing itself: the figures are those of the comparison (best.h). An unfair lock leads only
 * if no lock is fair. A lock whose stages were limited by the generator may lead. The tile says
 * both. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html_parts.h"
#include "report/run/best.h"
#include "report/run/run_doc.h"

#define TILE_TIES 4 /* names of locks that are level with a leader */

/* A row with its distance, for sorting. */
struct bar {
    int row;
    double ratio;     /* NAN: not ranked */
    double low, high; /* its range over the repeats; NAN: none */
};

static bool is_in_class(const struct report_group *group, int row, int first) {
    return report_is_real(group->rows[row].typical) &&
           words_same_class(group->rows[row].typical, group->rows[first].typical);
}

/* True if a row is the first real lock of its class. */
static bool opens_class(const struct report_group *group, int row) {
    if (!report_is_real(group->rows[row].typical)) return false;
    for (int before = 0; before < row; before++)
        if (is_in_class(group, before, row)) return false;
    return true;
}

/* The next row after `after` that is the first of a class, in the order of durabilities; after = -1
 * gives the first. Returns -1 if there is none. */
static int next_class(const struct report_group *group, int after) {
    int d = after < 0 ? 0 : (int)words_durability(group->rows[after].typical);
    for (int from = after + 1; d < DURABILITIES; d++, from = 0) {
        for (int r = from; r < group->row_count; r++)
            if ((int)words_durability(group->rows[r].typical) == d && opens_class(group, r))
                return r;
    }
    return -1;
}

static int by_ratio(const void *a, const void *b) {
    double x = ((const struct bar *)a)->ratio, y = ((const struct bar *)b)->ratio;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static struct bar bar_of(const struct report_group *group, int row) {
    struct bar bar = {.row = row, .ratio = best_ratio_mean(group, row), .low = NAN, .high = NAN};
    best_ratio_range(group, row, &bar.low, &bar.high);
    return bar;
}

/* The rows of a class, the nearest to the best first; ret_bars has room for all rows. Returns how
 * many. */
static int bars_of(const struct report_group *group, int first, struct bar *ret_bars) {
    int count = 0;
    for (int r = 0; r < group->row_count; r++)
        if (is_in_class(group, r, first)) ret_bars[count++] = bar_of(group, r);
    qsort(ret_bars, (size_t)count, sizeof *ret_bars, by_ratio);
    return count;
}

static void write_class(FILE *out, const struct report_group *group, int first) {
    const struct run_stage *stage = group->rows[first].typical;
    fputs(words_durability_text(words_durability(stage)), out);
    if (stage->guarantee) fprintf(out, ", %s", words_guarantee(stage));
}

static const char *label_of(const struct report *report, const struct report_group *group,
                            int row) {
    return report->locks[group->rows[row].lock].label;
}

/* ---- the tiles ---- */

static void write_figure(FILE *out, const struct report_group *group, int row, const char *name,
                         const char *key) {
    const struct column *column = column_compared(key, group);
    const struct answer answer = {.best = &group->rows[row]};
    char text[NUMBER_TEXT_MAX];
    fprintf(out, "<div title=\"%s\"><dt>%s</dt><dd>%s</dd></div>", column->title, name,
            answer_text(&answer, column, text));
}

/* The fair lock that is nearest to the best, or the nearest of all if none is fair: the times of an
 * unfair lock are those of the few clients that were served. -1: no lock is ranked. */
static int leader_of(const struct report_group *group, const struct bar *bars, int count) {
    for (int i = 0; i < count && isfinite(bars[i].ratio); i++)
        if (!best_is_unfair(&group->rows[bars[i].row])) return i;
    return count > 0 && isfinite(bars[0].ratio) ? 0 : -1;
}

static void write_unfair(FILE *out, const struct report_row *row) {
    fprintf(out, "unfair (Jain %.2f): few clients got most of the grants.</p>", row->figures.jain);
}

static void write_doubts(FILE *out, const struct report *report, const struct report_group *group,
                         const struct bar *bars, int leader) {
    const struct report_row *row = &group->rows[bars[leader].row];
    if (row->limited)
        fprintf(out,
                "<p class=\"warn\" title=\"%s\">Generator-limited: its times include delays "
                "of the load generator or the machine.</p>",
                words_help(WORDS_LIMITED));
    if (best_is_unfair(row)) {
        fputs("<p class=\"warn\">It is ", out);
        write_unfair(out, row);
    } else if (leader > 0) {
        fputs("<p class=\"warn\">", out);
        escape_html(out, label_of(report, group, bars[0].row));
        fputs(" is nearer to the best, but ", out);
        write_unfair(out, &group->rows[bars[0].row]);
    }
}

static void write_level(FILE *out, const struct report *report, const struct report_group *group,
                        const struct bar *bars, int count, int leader) {
    bool none_fair = best_is_unfair(&group->rows[bars[leader].row]);
    int level = 0;
    for (int i = 0; i < count; i++) {
        bool barred = best_is_unfair(&group->rows[bars[i].row]) && !none_fair;
        if (i == leader || barred || !best_mean_is_level(bars[i].ratio, bars[leader].ratio))
            continue;
        if (level++ >= TILE_TIES) continue;
        fputs(level > 1 ? ", " : "<p>Level with it: ", out);
        escape_html(out, label_of(report, group, bars[i].row));
    }
    if (level > TILE_TIES) fprintf(out, " and %d more", level - TILE_TIES);
    if (level > 0) fputs("</p>", out);
}

static void write_tile(FILE *out, const struct report *report, const struct report_group *group,
                       int first, struct bar *bars) {
    const struct run_stage *stage = group->rows[first].typical;
    int count = bars_of(group, first, bars), leader = leader_of(group, bars, count);
    fputs("<article class=\"tile\"><h3>", out);
    write_class(out, group, first);
    fputs("</h3>", out);
    if (leader < 0) {
        fputs("<p class=\"lock\">no lock to choose</p>", out);
    } else {
        int row = bars[leader].row;
        fputs("<p class=\"lock\">", out);
        escape_html(out, label_of(report, group, row));
        fputs("</p><dl>", out);
        write_figure(out, group, row, "p99 wait", "latency_ns.acquire.p99");
        write_figure(out, group, row, "grants/s", "throughput_per_s");
        write_figure(out, group, row, "handoff", "latency_ns.handoff.p50");
        fputs("</dl>", out);
        write_level(out, report, group, bars, count, leader);
        write_doubts(out, report, group, bars, leader);
    }
    fprintf(out, "<p class=\"loses\">%s. %s</p></article>\n",
            words_durability_title(words_durability(stage)), words_guarantee_title(stage));
}

/* ---- the picture ---- */

/* The right end of the axis: the first step of 2, 5, 10, 20, ... that is beyond all locks and
 * ranges. */
static double axis_end(const struct report_group *group) {
    static const double steps[] = {2, 2.5, 2};
    double most = 1, end = 2;
    for (int r = 0; r < group->row_count; r++) {
        struct bar bar = bar_of(group, r);
        if (isfinite(bar.ratio)) most = fmax(most, bar.ratio);
        if (isfinite(bar.high)) most = fmax(most, bar.high);
    }
    for (int i = 1; end < most; i++) end *= steps[i % 3];
    return end;
}

/* A place in per cent of the axis, which begins at 1. */
static double axis_place(double ratio, double end) {
    return isinf(ratio) ? 100 : 100 * log(fmax(ratio, 1)) / log(end);
}

static void write_axis(FILE *out, double end) {
    fputs("<div class=\"axis\" aria-hidden=\"true\"><span></span><div>", out);
    static const int steps[] = {1, 2, 5};
    for (int i = 0;; i++) {
        const int power = i / 3;
        double tick = steps[i % 3] * pow(10, power);
        if (tick > end * 1.0001) break;
        if (end > 50 && i % 3 > 0) continue;
        fprintf(out, "<i style=\"left:%.1f%%\">%g&times;</i>", axis_place(tick, end), tick);
    }
    fputs("</div><span></span></div>\n", out);
}

/* Draws a line over the bar. Hovering shows its figures, also if the line begins left of the
 * axis. */
static void write_range(FILE *out, const struct bar *bar, double end) {
    char low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX];
    if (isnan(bar->low)) return;
    double from = axis_place(bar->low, end), to = axis_place(bar->high, end);
    fprintf(out, "<u style=\"left:%.1f%%;width:%.1f%%\" title=\"%s to %s&times;\"></u>", from,
            to - from, number_text(bar->low, &number_plain, low),
            number_text(bar->high, &number_plain, high));
}

static void write_bar(FILE *out, const struct report *report, const struct report_group *group,
                      const struct bar *bar, double end) {
    const struct report_row *row = &group->rows[bar->row];
    enum lock_state state = report->locks[row->lock].state;
    char text[NUMBER_TEXT_MAX];
    fputs("<li><span class=\"name\">", out);
    if (best_is_unfair(row))
        fprintf(out, "<span class=\"chip warn\" title=\"Jain %.2f\">unfair</span> ",
                row->figures.jain);
    escape_html(out, label_of(report, group, bar->row));
    if (isnan(bar->ratio)) {
        fprintf(out, "</span><span class=\"none\"><span class=\"chip %s\">%s</span> %s</span>",
                tone_name(words_state_tone(state)), words_state(state), words_state_title(state));
        fputs("</li>\n", out);
        return;
    }
    fprintf(out, "</span><span class=\"track\"><i style=\"width:%.1f%%\"></i>",
            axis_place(bar->ratio, end));
    write_range(out, bar, end);
    fprintf(out, "</span><b>%s%s</b>", number_text(bar->ratio, &number_plain, text),
            isinf(bar->ratio) ? "" : "&times;");
    fputs("</li>\n", out);
}

static bool has_ranges(const struct report_group *group) {
    double low, high;
    for (int r = 0; r < group->row_count; r++)
        if (best_ratio_range(group, r, &low, &high)) return true;
    return false;
}

static void write_picture(FILE *out, const struct report *report, const struct report_group *group,
                          struct bar *bars) {
    double end = axis_end(group);
    fputs(
        "<div class=\"far\" id=\"far\">\n<h2>How far each lock is from the best</h2>\n"
        "<p class=\"note\">How many times worse than the best of its durability: the geometric "
        "mean over the figures of the comparison. 1&times; is the best, or level with it in every "
        "figure. ",
        out);
    if (has_ranges(group))
        fputs(
            "The line on a bar: all figures at the better end of their repeats, to all at the worse "
            "end (the 95 % interval of the median; of fewer than 6 repeats the range). ",
            out);
    fputs("<a href=\"#ratio\">Figure by figure</a></p>\n", out);
    write_axis(out, end);
    for (int c = next_class(group, -1); c >= 0; c = next_class(group, c)) {
        int count = bars_of(group, c, bars);
        fputs("<h3>", out);
        write_class(out, group, c);
        fputs("</h3>\n<ul>\n", out);
        for (int i = 0; i < count; i++) write_bar(out, report, group, &bars[i], end);
        fputs("</ul>\n", out);
    }
    fputs("</div>\n", out);
}

static void write_sentence(FILE *out, const struct report *report, const struct report_group *group,
                           struct bar *bars) {
    char clients[NUMBER_TEXT_MAX], rtt[NUMBER_TEXT_MAX];
    int said = 0;
    fprintf(out, "<p class=\"lead\">Leading with %s client%s%s: ",
            number_count_text(group->clients, clients), group->clients == 1 ? "" : "s",
            report_rtt_text(group->rtt_ns, rtt));
    for (int c = next_class(group, -1); c >= 0; c = next_class(group, c)) {
        int leader = leader_of(group, bars, bars_of(group, c, bars));
        if (leader < 0) continue;
        fprintf(out, "%s<b>", said++ ? ", " : "");
        escape_html(out, label_of(report, group, bars[leader].row));
        fputs("</b> (", out);
        write_class(out, group, c);
        fputs(")", out);
    }
    fprintf(out, "%s.%s</p>\n", said ? "" : "no lock can be chosen",
            run_machine_changed(report)
                ? " <b class=\"warn\">The machine changed: void, see above.</b>"
                : "");
}

int html_first(FILE *out, const struct report *report, const struct answers *answers,
               struct lb_err *err) {
    const struct report_group *group = answers->contended ? answers->contended : answers->alone;
    if (!group || next_class(group, -1) < 0) return 0;
    struct bar *bars = malloc((size_t)group->row_count * sizeof *bars);
    if (!bars) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    fputs("<section id=\"first\" aria-label=\"Which lock leads\">\n", out);
    write_sentence(out, report, group, bars);
    fputs("<div class=\"tiles\">\n", out);
    for (int c = next_class(group, -1); c >= 0; c = next_class(group, c))
        write_tile(out, report, group, c, bars);
    fputs("</div>\n", out);
    write_picture(out, report, group, bars);
    fputs("</section>\n", out);
    free(bars);
    return 0;
}
