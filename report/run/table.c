/* table: the report for a terminal, in 100 columns: the verdict, one comparison a load, what stands
 * beside the numbers. It leaves percentiles beyond p99 and everything per client to the other
 * outputs. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/screen.h"
#include "report/run/answer.h"
#include "report/run/column.h"
#include "report/run/report.h"

#define NAME_MAX 22  /* of the notes below the tables */
#define LABEL_MAX 34 /* of the tables */
#define CELL_MAX 10  /* "14,800,000" */
#define CELL_MIN 7   /* "1.5e+07" */
#define VERDICT_WIDTH 9
#define RATIO_WIDTH 6
#define BEST_MARK '*'
#define COLUMNS_MAX 14
#define WARNINGS_MAX 6 /* lines; the page has them all */

static const char *or_else(const char *text, const char *other) {
    return text ? text : other;
}

static void cell_text(const struct column *column, const struct report_row *row,
                      const struct number_unit *unit, int cell_max, char *text) {
    double value = column_value(column, row);
    number_text(value, unit, text);
    if (screen_width(text) > cell_max) {
        snprintf(text, NUMBER_TEXT_MAX, "%.*e", cell_max > CELL_MIN ? 2 : 1, value / unit->scale);
    }
}

static enum tone cell_tone(const struct column *column, const struct report_group *group, int row) {
    return column_is_best(column, group, row) ? TONE_BEST : TONE_PLAIN;
}

/* What a group's table has room for, by the index in columns_of(IN_COMPARISON). */
struct layout {
    const struct column *column[COLUMNS_MAX];
    const struct number_unit *unit[COLUMNS_MAX];
    int width[COLUMNS_MAX];
    int count;
    bool ratio; /* there are two to compare, so that they can be held against the best */
};

static bool has_ratio(const struct report_group *group) {
    for (int r = 0; r < group->row_count; r++) {
        double ratio = column_ratio_mean(group, r);
        if (!isnan(ratio) && ratio > 1) return true;
    }
    return false;
}

static void choose_columns(const struct report_group *group, struct layout *layout) {
    layout->count = 0;
    layout->ratio = has_ratio(group);
    for (const struct column *column = columns_of(IN_COMPARISON);
         column->key && layout->count < COLUMNS_MAX; column++) {
        if (!column_shown(column, group, true)) continue;
        layout->unit[layout->count] = column_unit(column, group);
        layout->column[layout->count++] = column;
    }
}

static void write_head(const struct screen *screen, const struct layout *layout, int name_width) {
    screen_put(screen, "lock", -name_width, TONE_PLAIN);
    fputc(' ', screen->out);
    screen_put(screen, "verdict", -VERDICT_WIDTH, TONE_PLAIN);
    if (layout->ratio) {
        fputc(' ', screen->out);
        screen_put(screen, "\xc3\x97 best", RATIO_WIDTH, TONE_PLAIN);
    }
    for (int c = 0; c < layout->count; c++) {
        fputc(' ', screen->out);
        screen_put(screen, layout->column[c]->brief, layout->width[c], TONE_PLAIN);
    }
    fputc('\n', screen->out);
    int before = name_width + 1 + VERDICT_WIDTH + (layout->ratio ? 1 + RATIO_WIDTH : 0);
    screen_put(screen, "", -before, TONE_PLAIN);
    int end = layout->count;
    while (end > 0 && !*layout->unit[end - 1]->name) end--;
    for (int c = 0; c < end; c++) {
        fputc(' ', screen->out);
        screen_put(screen, layout->unit[c]->name, layout->width[c], TONE_PLAIN);
    }
    fputc('\n', screen->out);
}

static void write_row(const struct screen *screen, const struct report *report,
                      const struct report_group *group, int r, const struct layout *layout,
                      int name_width, int cell_max) {
    const struct report_row *row = &group->rows[r];
    enum lock_state state = report->locks[row->lock].state;
    char text[NUMBER_TEXT_MAX], name[256];
    snprintf(name, sizeof name, "%s%s%s", report->locks[row->lock].label,
             row->incomplete ? "!" : "", row->limited ? "~" : "");
    screen_put(screen, name, -name_width, TONE_PLAIN);
    fputc(' ', screen->out);
    screen_put(screen, words_state(state), -VERDICT_WIDTH, words_state_tone(state));
    if (layout->ratio) {
        fputc(' ', screen->out);
        screen_put(screen, number_text(column_ratio_mean(group, r), &number_plain, text),
                   RATIO_WIDTH, TONE_PLAIN);
    }
    /* The mark of the best stands where the gap to the next column is. */
    bool best = false;
    for (int c = 0; c < layout->count; c++) {
        cell_text(layout->column[c], row, layout->unit[c], cell_max, text);
        fputc(best ? BEST_MARK : ' ', screen->out);
        screen_put(screen, text, layout->width[c], cell_tone(layout->column[c], group, r));
        best = column_is_best(layout->column[c], group, r);
    }
    if (best) fputc(BEST_MARK, screen->out);
    fputc('\n', screen->out);
}

static bool same_class(const struct report_row *a, const struct report_row *b) {
    return words_durability(a->typical) == words_durability(b->typical) &&
           strcmp(words_guarantee(a->typical), words_guarantee(b->typical)) == 0;
}

/* Whether a row before it ran on the same topology, in the same class. */
static bool is_said(const struct report_group *group, int r) {
    for (int before = 0; before < r; before++) {
        const struct report_row *row = &group->rows[before];
        if (same_class(row, &group->rows[r]) &&
            strcmp(or_else(row->typical->topology, ""),
                   or_else(group->rows[r].typical->topology, "")) == 0)
            return true;
    }
    return false;
}

/* What stands beside the numbers of the rows below: "in memory, one server: redis, postgres". */
static void write_class(const struct screen *screen, const struct report_group *group, int first) {
    const struct run_stage *stage = group->rows[first].typical;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return;
    bool stated = stage->guarantee != NULL, any = false;
    fprintf(out, "%s%s%s", words_durability_text(words_durability(stage)), stated ? ", " : "",
            stated ? words_guarantee(stage) : "");
    for (int r = first; r < group->row_count; r++) {
        if (!same_class(&group->rows[r], &group->rows[first]) || is_said(group, r)) continue;
        fprintf(out, "%s%s", any ? ", " : ": ",
                or_else(group->rows[r].typical->topology, "topology not stated"));
        any = true;
    }
    if (fclose(out) == 0) screen_say(screen, 2, TONE_PLAIN, "-- %s", text);
    free(text);
}

/* Rows of a class stand together, classes from the least durable on. */
static void write_rows(const struct screen *screen, const struct report *report,
                       const struct report_group *group, const struct layout *layout,
                       int name_width, int cell_max) {
    for (int d = 0; d < DURABILITIES; d++) {
        for (int r = 0; r < group->row_count; r++) {
            if ((int)words_durability(group->rows[r].typical) != d) continue;
            int first = 0;
            while (!same_class(&group->rows[first], &group->rows[r])) first++;
            if (first < r) continue;
            write_class(screen, group, r);
            for (int next = r; next < group->row_count; next++) {
                if (same_class(&group->rows[next], &group->rows[r]))
                    write_row(screen, report, group, next, layout, name_width, cell_max);
            }
        }
    }
}

/* Widths of the columns when no cell may be wider than cell_max; returns what is left for the
 * name. */
static int fit_columns(const struct report_group *group, int cell_max, struct layout *layout) {
    char text[NUMBER_TEXT_MAX];
    /* At the end there is room for a mark. */
    int room = SCREEN_WIDTH - 1 - VERDICT_WIDTH - (layout->ratio ? 1 + RATIO_WIDTH : 0) - 1;
    for (int c = 0; c < layout->count; c++) {
        layout->width[c] = screen_width(layout->column[c]->brief);
        for (int r = 0; r < group->row_count; r++) {
            cell_text(layout->column[c], &group->rows[r], layout->unit[c], cell_max, text);
            if (screen_width(text) > layout->width[c]) layout->width[c] = screen_width(text);
        }
        room -= 1 + layout->width[c];
    }
    return room;
}

/* Room for names, at the price of digits first, then of the columns that tell least. Returns their
 * width. */
static int fit_names(const struct report_group *group, int wanted, struct layout *layout,
                     int *ret_cell_max) {
    static const char *const least[] = {"latency_ns.ping.p50", "cost.server_cpu_ns_per_grant",
                                        "latency_ns.release.p50", "cost.commands_per_grant"};
    int cell_max = CELL_MAX, room = fit_columns(group, cell_max, layout);
    while (room < wanted && cell_max > CELL_MIN) room = fit_columns(group, --cell_max, layout);
    for (size_t i = 0; i < sizeof least / sizeof *least && room < wanted; i++) {
        int kept = 0;
        for (int c = 0; c < layout->count; c++) {
            if (strcmp(layout->column[c]->key, least[i]) == 0) continue;
            layout->unit[kept] = layout->unit[c];
            layout->column[kept++] = layout->column[c];
        }
        layout->count = kept;
        room = fit_columns(group, cell_max, layout);
    }
    *ret_cell_max = cell_max;
    return room < wanted ? room : wanted;
}

static void write_group(const struct screen *screen, const struct report *report,
                        const struct report_group *group) {
    struct layout layout;
    int name_width = 4, repeats = 1, cell_max;
    bool limited = false;
    char text[NUMBER_TEXT_MAX];
    choose_columns(group, &layout);
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        int length =
            screen_width(report->locks[row->lock].label) + (row->incomplete > 0) + row->limited;
        if (length > name_width) name_width = length;
        if (row->repeats > repeats) repeats = row->repeats;
    }
    name_width =
        fit_names(group, name_width > LABEL_MAX ? LABEL_MAX : name_width, &layout, &cell_max);
    fputc('\n', screen->out);
    screen_say(screen, 4, TONE_PLAIN, "%s client%s: %s%s", number_count_text(group->clients, text),
               group->clients == 1 ? "" : "s", group->load,
               repeats > 1 ? "; medians of the repeats" : "");
    write_head(screen, &layout, name_width);
    write_rows(screen, report, group, &layout, name_width, cell_max);
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        limited |= row->limited;
        if (row->incomplete == 0) continue;
        screen_say(screen, 2, TONE_WARN, "! %s: %s%s%s", report->locks[row->lock].label,
                   or_else(row->typical->status, "incomplete"), row->typical->error ? ": " : "",
                   or_else(row->typical->error, ""));
    }
    if (layout.ratio) {
        screen_say(
            screen, 2, TONE_PLAIN,
            "* the best of its durability; \xc3\x97 best: how many times worse than those, geometric mean "
            "over the figures");
    }
    if (limited)
        screen_say(screen, 2, TONE_WARN,
                   "~ generator-limited: partly the load generator's or machine's own lateness");
}

/* A line for each lock; the server's own words are said once for all locks on it. */
static void write_lock_note(const struct screen *screen, const struct report *report,
                            const struct report_lock *lock) {
    const struct run_stage *stage = lock->stage;
    const struct run_server *server = report_server(report, lock);
    const char *version = report_server_version(server);
    char claims[256], grants[NUMBER_TEXT_MAX], number[NUMBER_TEXT_MAX], bound[128] = "",
                                                                        *text = NULL;
    char *full = words_durability_full(stage);
    bool by_url = server && server->started_by && strcmp(server->started_by, "url") == 0;
    number_count_text(lock->grants, grants);
    if (lock->state == LOCK_CLEAN && lock->competing > 0) {
        snprintf(bound, sizeof bound, ", n = %s of them contended, bound 3/n = %.1e",
                 number_count_text(lock->competing, number), 3 / lock->competing);
    }
    words_claims(stage, claims, sizeof claims);
    if (asprintf(&text, "%s%s%s%s; %s; %s grants%s; claims %s%s%s",
                 or_else(stage->topology, "topology not stated"), version ? " " : "",
                 or_else(version, ""), by_url ? ", already running" : "", or_else(full, ""), grants,
                 bound, *claims ? claims : "nothing", stage->waits ? "; waiting: " : "",
                 or_else(stage->waits, "")) < 0) {
        goto out;
    }
    fputs("  ", screen->out);
    screen_put(screen, lock->label, -NAME_MAX, TONE_PLAIN);
    fputc(' ', screen->out);
    screen_wrap(screen, text, NAME_MAX + 3, NAME_MAX + 3, TONE_PLAIN);
    free(text);
out:
    free(full);
}

static void write_executor(const struct screen *screen, const struct run *run, const char *letter) {
    double least = INFINITY, most = 0, processes = 0, stall = NAN;
    bool pinned = false;
    char stall_text[NUMBER_TEXT_MAX];
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        least = fmin(least, stage->threads);
        most = fmax(most, stage->threads);
        processes = fmax(processes, stage->processes);
        stall = fmax(stall, stage->latency[METRIC_HICCUP].p99);
        pinned |= stage->pinned;
    }
    if (!isfinite(least)) return;
    screen_say(
        screen, 2, TONE_PLAIN,
        "Executor%s%s: clients are fibers on %.0f to %.0f threads in %.0f process%s, %s; its own "
        "stalls, p99 of the "
        "worst stage: %s",
        *letter ? " of run " : "", letter, least, most, processes, processes == 1 ? "" : "es",
        pinned ? "pinned" : "not pinned", number_time_text(stall, stall_text));
}

/* Whether the warning says why the stage is marked `~`. */
static bool explains_limit(const struct run_stage *stage, const json_t *warning) {
    for (size_t i = 0; i < json_array_size(stage->limited_why); i++) {
        if (json_equal(json_array_get(stage->limited_why, i), warning)) return true;
    }
    return false;
}

/* Warnings of a stage, or of the run (NULL); what `~` marks is not said again. left: lines that may
 * still be written; those beyond are only counted in *more. */
static void write_warnings(const struct screen *screen, const struct run_stage *stage,
                           const json_t *warnings, int *left, int *more) {
    const char *of = stage ? or_else(stage->id, stage->lock) : "";
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const json_t *warning = json_array_get(warnings, i);
        if (stage && explains_limit(stage, warning)) continue;
        if ((*left)-- <= 0) {
            (*more)++;
            continue;
        }
        screen_say(screen, 2, TONE_WARN, "Warning: %s%s%s", of, *of ? ": " : "",
                   or_else(json_string_value(warning), "?"));
    }
}

static void write_run_notes(const struct screen *screen, const struct report *report, int r) {
    const struct run *run = report->runs[r];
    char letter[8] = "";
    if (report->run_count > 1) report_run_letter(r, letter);
    write_executor(screen, run, letter);
    for (int i = 0; i < run->skip_count; i++) {
        const struct run_skip *skip = &run->skips[i];
        screen_say(screen, 2, TONE_WARN, "Left out: %s: %s%s%s",
                   or_else(skip->lock, or_else(skip->backend, "?")),
                   or_else(skip->reason, "no reason given"), skip->install ? "; install " : "",
                   or_else(skip->install, ""));
    }
    int left = WARNINGS_MAX, more = 0;
    write_warnings(screen, NULL, run->warnings, &left, &more);
    for (int s = 0; s < run->stage_count; s++) {
        write_warnings(screen, &run->stages[s], run->stages[s].warnings, &left, &more);
    }
    if (more > 0) {
        screen_say(screen, 2, TONE_WARN,
                   "... and %d more warning%s: in the page, --html, and in run.json", more,
                   more == 1 ? "" : "s");
    }
    screen_say(screen, 2, TONE_PLAIN, "Run%s%s: %s, %s, %s", *letter ? " " : "", letter,
               or_else(run->workload, "workload not stated"), or_else(run->started_at, "undated"),
               run->path);
    if (run->command) screen_say(screen, 2, TONE_PLAIN, "Again: %s", run->command);
}

/* The best of each durability; never one ranked against another. */
static void write_answers(const struct screen *screen, const struct report *report) {
    struct answers answers;
    char value[NUMBER_TEXT_MAX];
    answer_make(report, &answers);
    bool any = false;
    for (int d = 0; d < DURABILITIES; d++) any |= answers.has[d];
    if (!any || (!answers.alone && !answers.contended)) return;
    fputs("\nBest of each durability", screen->out);
    if (answers.contended)
        fprintf(screen->out, " (%.0f clients unless alone)", answers.contended->clients);
    fputc('\n', screen->out);
    for (int d = 0; d < DURABILITIES; d++) {
        char *text = NULL;
        size_t size;
        FILE *line = answers.has[d] ? open_memstream(&text, &size) : NULL;
        if (!line) continue;
        for (int q = 0; q < QUESTIONS; q++) {
            const struct answer *answer = &answers.cell[d][q];
            if (!answer->best) continue;
            fprintf(line, "%s%s: %s %s", ftell(line) > 0 ? "; " : "",
                    answer_title((enum question)q), report->locks[answer->best->lock].label,
                    answer_text(answer, (enum question)q, value));
            for (int t = 0; t < answer->tie_count && t < ANSWER_TIES; t++) {
                fprintf(line, "%s%s", t == 0 ? " ~ " : ", ",
                        report->locks[answer->ties[t]->lock].label);
            }
        }
        fputs("  ", screen->out);
        screen_put(screen, words_durability_text((enum durability)d), -18, TONE_PLAIN);
        if (fclose(line) == 0) screen_wrap(screen, text, 20, 20, TONE_PLAIN);
        free(text);
    }
}

int report_write_table(const struct report *report, bool color, FILE *out, struct lb_err *err) {
    struct screen screen = {out, color};
    struct words *words = words_make(report, err);
    if (!words) return -1;
    for (int i = 0; i < words->count; i++)
        screen_wrap(&screen, words->lines[i].text, 0, 2, words->lines[i].tone);
    words_free(words);
    for (int g = 0; g < report->group_count; g++) {
        /* The verdict above says how each control was caught in its own workload. */
        if (!report_is_aside(&report->groups[g])) write_group(&screen, report, &report->groups[g]);
    }
    write_answers(&screen, report);
    fputs("\nWhat stands beside the numbers\n", out);
    for (int i = 0; i < report->lock_count; i++)
        write_lock_note(&screen, report, &report->locks[i]);
    for (int r = 0; r < report->run_count; r++) write_run_notes(&screen, report, r);
    return 0;
}
