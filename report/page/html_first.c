/* html_first: the first screen of the page of runs: one sentence, a tile for each class of
 * durability and guarantee with the lock that leads there, and how far each lock is from the best.
 * The first screen is markup without scripts, so that a reader without JavaScript sees it too. Who leads
 * is decided in ranking.h. An unfair lock, and one whose stages were limited by the generator, may lead:
 * the tile says both. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/assets.h"
#include "report/page/html_parts.h"
#include "report/run/ranking.h"
#include "report/run/run_doc.h"
#include "results/format/run_read.h"

#define TILE_TIES 4 /* names of locks that are level with a leader */

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

/* Where the load has ticks, their count stands in the place of grants a second. */
static void write_figure(FILE *out, const struct report_group *group, int row, const char *name,
                         const char *key) {
    const struct column *column = column_compared(key, group);
    const struct answer answer = {.best = &group->rows[row]};
    char text[NUMBER_TEXT_MAX];
    fprintf(out, "<div title=\"%s\"><dt>%s</dt><dd>", column->title,
            column->sums ? column->title : name);
    escape_html(out, answer_text(&answer, column, text));
    fputs("</dd></div>", out);
}

static void write_unfair(FILE *out, const struct report_row *row) {
    fprintf(out, "unfair (Jain %.2f): %s.</p>", row->figures.jain, best_unfair_text(row));
}

static void write_doubts(FILE *out, const struct report *report, const struct report_group *group,
                         const struct lead_bar *bars, int leader) {
    const struct report_row *row = &group->rows[bars[leader].row];
    if (row->limited)
        fprintf(out,
                "<p class=\"warn\" title=\"%s\">Generator-limited: its times include delays "
                "of the load generator or the machine.</p>",
                words_help(WORDS_LIMITED));
    if (row->unrecorded > UNRECORDED_SHARE)
        fprintf(
            out,
            "<p class=\"warn\">At least %.0f %% of the time that its clients waited are not in its p99: "
            "see below the table.</p>",
            unrecorded_per_cent(row->unrecorded));
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
                        const struct lead_bar *bars, int count, int leader) {
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
    if (lead_is_alone(bars, count)) fputs("<p>The only one to choose.</p>", out);
    if (level > TILE_TIES) fprintf(out, " and %d more", level - TILE_TIES);
    if (level > 0) fputs("</p>", out);
}

static void write_tile(FILE *out, const struct report *report, const struct report_group *group,
                       int first, struct lead_bar *bars) {
    const struct run_stage *stage = group->rows[first].typical;
    int count = lead_bars(group, first, bars), leader = lead_leader(group, bars, count);
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
        struct lead_bar bar = lead_bar_of(group, r);
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
static void write_range(FILE *out, const struct lead_bar *bar, double end) {
    char low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX];
    if (isnan(bar->low)) return;
    double from = axis_place(bar->low, end), to = axis_place(bar->high, end);
    fprintf(out, "<u style=\"left:%.1f%%;width:%.1f%%\" title=\"%s to %s&times;\"></u>", from,
            to - from, number_text(bar->low, &number_plain, low),
            number_text(bar->high, &number_plain, high));
}

static void write_bar(FILE *out, const struct report *report, const struct report_group *group,
                      const struct lead_bar *bar, double end) {
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
                          struct lead_bar *bars) {
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
    fprintf(out, "%s</p>\n",
            *asset_bundle ? "<a class=\"alone\" href=\"#ratio\">Figure by figure</a>" : "");
    write_axis(out, end);
    for (int c = lead_next_class(group, -1); c >= 0; c = lead_next_class(group, c)) {
        int count = lead_bars(group, c, bars);
        fputs("<h3>", out);
        write_class(out, group, c);
        fputs("</h3>\n<ul>\n", out);
        for (int i = 0; i < count; i++) write_bar(out, report, group, &bars[i], end);
        fputs("</ul>\n", out);
    }
    fputs("</div>\n", out);
}

static void write_sentence(FILE *out, const struct report *report, const struct report_group *group,
                           struct lead_bar *bars) {
    char clients[NUMBER_TEXT_MAX], rtt[NUMBER_TEXT_MAX];
    int said = 0;
    fprintf(out, "<p class=\"lead\">Leading with %s client%s%s: ",
            number_count_text(group->clients, clients), group->clients == 1 ? "" : "s",
            report_rtt_text(group->rtt_ns, rtt));
    for (int c = lead_next_class(group, -1); c >= 0; c = lead_next_class(group, c)) {
        int leader = lead_leader(group, bars, lead_bars(group, c, bars));
        if (leader < 0) continue;
        fprintf(out, "%s<b>", said++ ? ", " : "");
        escape_html(out, label_of(report, group, bars[leader].row));
        fputs("</b> (", out);
        write_class(out, group, c);
        fputs(")", out);
    }
    fprintf(out, "%s.</p>\n", said ? "" : "no lock can be chosen");
}

int html_first(FILE *out, const struct report *report, const struct answers *answers,
               struct lb_err *err) {
    const struct report_group *group = lead_group(answers);
    if (!group) return 0;
    struct lead_bar *bars = malloc((size_t)group->row_count * sizeof *bars);
    if (!bars) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    fputs("<section id=\"first\" aria-label=\"Which lock leads\">\n", out);
    write_sentence(out, report, group, bars);
    fputs("<div class=\"tiles\">\n", out);
    for (int c = lead_next_class(group, -1); c >= 0; c = lead_next_class(group, c))
        write_tile(out, report, group, c, bars);
    fputs("</div>\n", out);
    write_picture(out, report, group, bars);
    fputs("</section>\n", out);
    free(bars);
    return 0;
}
