/* html_first: the first screen of the page of runs: a tile for each class of durability and guarantee with the lock that
 * comes first there, and the cost of every lock as a picture. It is markup without scripts, so that a reader without
 * JavaScript sees it too. The ranking is that of ranking.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html_parts.h"
#include "report/run/ranking.h"
#include "report/run/run_doc.h"

#define TILE_TIES 4 /* names of locks that are level with the first */

static void write_class(FILE *out, const struct report_class *class) {
    fputs("<h3>", out);
    escape_html(out, class->name);
    fputs("</h3>", out);
}

/* ---- the tiles ---- */

/* Where the load has ticks, their count stands in the place of grants a second. */
static void write_figure(FILE *out, const struct report_group *group, const struct report_row *row,
                         const char *name, const char *key) {
    const struct result_field *column = column_compared(key, group);
    char text[NUMBER_TEXT_MAX];
    double value = column_value(column, row);
    fprintf(out, "<div title=\"%s\"><dt>%s</dt><dd>%s", column->title,
            column->sums ? column->title : name,
            column_is_least(row, key) && !isnan(value) ? "&gt; " : "");
    escape_html(out, field_figure_text(column, value, text));
    fputs("</dd></div>", out);
}

static void write_level(FILE *out, const struct report_class *class) {
    int level = 0;
    const struct report_row *least = class->cheapest;
    if (least != class->rows[0] && !least->level) {
        fputs("<p>Its p99 decides: ", out);
        escape_html(out, least->lock->label);
        fputs(" costs less.</p>", out);
    }
    for (int i = 1; i < class->count; i++) {
        if (!class->rows[i]->level || level++ >= TILE_TIES) continue;
        fputs(level > 1 ? ", " : "<p>Level with it: ", out);
        escape_html(out, class->rows[i]->lock->label);
    }
    if (level > TILE_TIES) fprintf(out, " and %d more", level - TILE_TIES);
    if (level > 0) fputs("</p>", out);
    if (!class->contest) fputs("<p>The only one to choose.</p>", out);
}

/* The cause that can make two clients hold the lock at once, in a sentence; "" if the guarantee is
 * not stated. */
static const char *guarantee_title(const struct run_stage *stage) {
    static const char *const titles[LB_GUARANTEES + 1] = {
        [LB_ON_ONE_HOST] = "For the processes of one machine only.",
        [LB_ON_ONE_NODE] = "One server decides: without it nobody gets the lock.",
        [LB_ON_ASYNC_REPLICA] = "A failover can lose a grant: then two hold it.",
        [LB_ON_MAJORITY] = "A majority decides: it outlives the loss of a minority.",
        [LB_NO_GUARANTEE] = "It promises nothing.",
        [LB_GUARANTEES] = ""};
    return titles[lb_guarantee_from(stage->guarantee)];
}

static void write_tile(FILE *out, const struct report_group *group,
                       const struct report_class *class) {
    const struct report_row *row = class->rows[0];
    char text[RANKING_NOTE_MAX], cost[NUMBER_TEXT_MAX];
    fputs("<article class=\"tile\">", out);
    write_class(out, class);
    if (!isfinite(row->cost_ns)) {
        fputs("<p class=\"lock\">no lock to choose</p>", out);
    } else {
        fputs("<p class=\"lock\">", out);
        escape_html(out, row->lock->label);
        fprintf(out, "</p><dl><div><dt>%s</dt><dd>%s</dd></div>", ranking_figure(group),
                number_time_text(row->cost_ns, cost));
        write_figure(out, group, row, "p99 wait", "latency_ns.acquire.p99");
        write_figure(out, group, row, "grants/s", "throughput_per_s");
        fputs("</dl>", out);
        write_level(out, class);
        if (*ranking_note(row, text)) fprintf(out, "<p class=\"warn\">But: %s.</p>", text);
        if (row->limited) fprintf(out, "<p class=\"warn\">But: %s.</p>", words_help(WORDS_LIMITED));
    }
    fprintf(out, "<p class=\"loses\">%s. %s</p></article>\n",
            words_durability_title(words_durability(class->first)), guarantee_title(class->first));
}

/* ---- the picture ---- */

/* A place in per cent of the axis, which ends at the dearest lock of all. */
static double axis_place(double cost_ns, double end_ns) {
    return cost_ns > end_ns ? 100 : 100 * cost_ns / end_ns;
}

/* Draws a line over the bar; a pointer shows its figures. */
static void write_range(FILE *out, const struct report_row *row, double end_ns) {
    char low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX];
    if (isnan(row->low_ns)) return;
    double from = axis_place(row->low_ns, end_ns), to = axis_place(row->high_ns, end_ns);
    fprintf(out, "<u style=\"left:%.1f%%;width:%.1f%%\" title=\"%s to %s\"></u>", from, to - from,
            number_time_text(row->low_ns, low), number_time_text(row->high_ns, high));
}

static void write_bar(FILE *out, const struct report_row *row, double end_ns) {
    enum lock_state state = row->lock->state;
    char text[RANKING_NOTE_MAX], cost[NUMBER_TEXT_MAX];
    fputs("<li><span class=\"name\">", out);
    if (*ranking_note(row, text))
        fprintf(out, "<span class=\"chip warn\" title=\"%s\">but</span> ", text);
    escape_html(out, row->lock->label);
    if (isnan(row->cost_ns)) {
        fprintf(out,
                "</span><span class=\"none\"><span class=\"chip %s\">%s</span> %s</span></li>\n",
                tone_name(words_state_tone(state)), words_state(state), words_state_title(state));
        return;
    }
    fprintf(out, "</span><span class=\"track\"><i style=\"width:%.1f%%\"></i>",
            axis_place(row->cost_ns, end_ns));
    write_range(out, row, end_ns);
    fprintf(out, "</span><b>%s</b></li>\n", number_time_text(row->cost_ns, cost));
}

/* The classes share no axis, since they differ by a thousand times. */
static void write_bars(FILE *out, const struct report_class *class) {
    double dearest_ns = 1, end_ns = 1;
    for (int i = 0; i < class->count; i++) {
        const struct report_row *row = class->rows[i];
        if (isfinite(row->cost_ns)) dearest_ns = fmax(dearest_ns, row->cost_ns);
        end_ns = fmax(end_ns, row->high_ns);
    }
    end_ns =
        fmax(dearest_ns, fmin(end_ns, 2 * dearest_ns)); /* a long interval would leave no bar */
    fputs("\n<ul>\n", out);
    for (int i = 0; i < class->count; i++) write_bar(out, class->rows[i], end_ns);
    fputs("</ul>\n", out);
}

static void write_picture(FILE *out, const struct report_group *group) {
    fprintf(
        out,
        "<div class=\"far\" id=\"far\">\n<h2>The %s of each lock</h2>\n<p class=\"note\">%s%sEach "
        "class has a scale of its own. A line on a bar is the interval over the repeats.</p>\n",
        ranking_figure(group), group->by_cost ? words_help(WORDS_COST) : "",
        group->by_cost ? ". " : "");
    for (int c = 0; c < group->class_count; c++) {
        write_class(out, &group->classes[c]);
        write_bars(out, &group->classes[c]);
    }
    fputs("</div>\n", out);
}

void html_first(FILE *out, const struct report *report) {
    const struct report_group *group = report->ranked;
    if (!group) return;
    char clients[NUMBER_TEXT_MAX], rtt[NUMBER_TEXT_MAX];
    fprintf(out,
            "<section id=\"first\" aria-label=\"Which lock\">\n<p class=\"lead\">First with %s "
            "client%s%s, by the least %s, or a far "
            "shorter p99.</p>\n<div class=\"tiles\">\n",
            number_count_text(group->clients, clients), group->clients == 1 ? "" : "s",
            report_rtt_text(group->rtt_ns, rtt), ranking_figure(group));
    for (int c = 0; c < group->class_count; c++) write_tile(out, group, &group->classes[c]);
    fputs("</div>\n", out);
    write_picture(out, group);
    fputs("</section>\n", out);
}
