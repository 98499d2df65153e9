/* md: the report as GitHub Markdown, for a pull request: the verdict, the answers, one table a
 * load, what stands beside the numbers. Names and reasons are escaped: they come from servers. */
#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/escape.h"
#include "report/run/answer.h"
#include "report/run/column.h"
#include "report/run/report.h"

static void put_or(FILE *out, const char *text, const char *other) {
    escape_md(out, text ? text : other);
}

static void put_unit(FILE *out, const struct number_unit *unit) {
    if (*unit->name) fprintf(out, " (%s)", unit->name);
}

static void write_words(FILE *out, const struct words *words) {
    for (int i = 0; i < words->count; i++) {
        const struct words_line *line = &words->lines[i];
        const char *mark = line->tone == TONE_BAD    ? "❌ "
                           : line->tone == TONE_WARN ? "⚠️ "
                           : line->tone == TONE_GOOD ? "✅ "
                                                     : "";
        fprintf(out, "%s%s", i == words->headline ? "**" : "", mark);
        escape_md(out, line->text);
        fprintf(out, "%s\n\n", i == words->headline ? "**" : "");
    }
}

static void write_answer(FILE *out, const struct report *report, const struct answer *answer,
                         enum question question) {
    char text[NUMBER_TEXT_MAX];
    if (!answer->best) {
        fputs(" " NUMBER_NONE " |", out);
        return;
    }
    fputc(' ', out);
    escape_md(out, report->locks[answer->best->lock].label);
    fprintf(out, " %s", answer_text(answer, question, text));
    for (int t = 0; t < answer->tie_count && t < ANSWER_TIES; t++) {
        fputs(t == 0 ? " ≈ " : ", ", out);
        escape_md(out, report->locks[answer->ties[t]->lock].label);
    }
    fputs(" |", out);
}

static void write_answers(FILE *out, const struct report *report) {
    struct answers answers;
    char text[NUMBER_TEXT_MAX];
    answer_make(report, &answers);
    bool any = false;
    for (int d = 0; d < DURABILITIES; d++) any |= answers.has[d];
    if (!any || (!answers.alone && !answers.contended)) return;
    fputs("| what the lock's state survives |", out);
    for (int q = 0; q < QUESTIONS; q++) {
        const struct report_group *group = answer_group(&answers, (enum question)q);
        fprintf(out, " %s", answer_title((enum question)q));
        if (group)
            fprintf(out, ", %s client%s", number_count_text(group->clients, text),
                    group->clients == 1 ? "" : "s");
        fputs(" |", out);
    }
    fputs("\n|---|---|---|---|---|---|\n", out);
    for (int d = 0; d < DURABILITIES; d++) {
        if (!answers.has[d]) continue;
        fprintf(out, "| %s |", words_durability_text((enum durability)d));
        for (int q = 0; q < QUESTIONS; q++) {
            write_answer(out, report, &answers.cell[d][q], (enum question)q);
        }
        fputc('\n', out);
    }
    fputs("\n≈: within 5 %, no difference that one run can show.\n\n", out);
}

static void write_row(FILE *out, const struct report *report, const struct report_group *group,
                      int r) {
    const struct report_row *row = &group->rows[r];
    char text[NUMBER_TEXT_MAX];
    fputs("| ", out);
    escape_md(out, report->locks[row->lock].label);
    fprintf(out, "%s%s | %s | %s | %s | ", row->incomplete ? " (partial)" : "",
            row->limited ? " ~" : "", words_state(report->locks[row->lock].state),
            words_durability_text(words_durability(row->typical)), words_guarantee(row->typical));
    put_or(out, row->typical->topology, "not stated");
    fprintf(out, " | %s |", number_text(column_ratio_mean(group, r), &number_plain, text));
    for (const struct column *column = columns_of(IN_COMPARISON); column->key; column++) {
        if (!column_shown(column, group, false)) continue;
        bool best = column_is_best(column, group, r);
        number_text(column_value(column, row), column_unit(column, group), text);
        fprintf(out, best ? " **%s** |" : " %s |", text);
    }
    fputc('\n', out);
}

static void write_group(FILE *out, const struct report *report, const struct report_group *group) {
    char text[NUMBER_TEXT_MAX];
    fprintf(out, "### %s client%s\n\n", number_count_text(group->clients, text),
            group->clients == 1 ? "" : "s");
    escape_md(out, group->load);
    fputs("\n\n| lock | verdict | durability | guarantee | topology | × best |", out);
    for (const struct column *column = columns_of(IN_COMPARISON); column->key; column++) {
        if (!column_shown(column, group, false)) continue;
        fprintf(out, " %s", column->title);
        put_unit(out, column_unit(column, group));
        fputs(" |", out);
    }
    fputs("\n|---|---|---|---|---|--:|", out);
    for (const struct column *column = columns_of(IN_COMPARISON); column->key; column++) {
        if (column_shown(column, group, false)) fputs("--:|", out);
    }
    fputc('\n', out);
    bool limited = false;
    for (int r = 0; r < group->row_count; r++) {
        write_row(out, report, group, r);
        limited |= group->rows[r].limited;
    }
    fputs(
        limited
            ? "\n\\~ generator-limited: partly the load generator's or machine's own lateness.\n\n"
            : "\n",
        out);
}

static void write_lock(FILE *out, const struct report *report, const struct report_lock *lock) {
    const char *version = report_server_version(report_server(report, lock));
    char claims[256], grants[NUMBER_TEXT_MAX], *full = words_durability_full(lock->stage);
    words_claims(lock->stage, claims, sizeof claims);
    fputs("| ", out);
    escape_md(out, lock->label);
    fputs(" | ", out);
    put_or(out, lock->stage->topology, "not stated");
    if (version) {
        fputc(' ', out);
        escape_md(out, version);
    }
    fputs(" | ", out);
    put_or(out, full, "not stated");
    free(full);
    fputs(" | ", out);
    put_or(out, lock->stage->waits, NUMBER_NONE);
    fputs(" | ", out);
    escape_md(out, *claims ? claims : "nothing");
    fprintf(out, " | %s |", number_count_text(lock->competing, grants));
    if (lock->state == LOCK_CLEAN && lock->competing > 0) {
        fprintf(out, " %.1e |\n", 3 / lock->competing);
    } else {
        fputs(" " NUMBER_NONE " |\n", out);
    }
}

static void write_run(FILE *out, const struct report *report, int r) {
    const struct run *run = report->runs[r];
    char letter[8];
    fputs("- Run ", out);
    if (report->run_count > 1) fprintf(out, "%s: ", report_run_letter(r, letter));
    put_or(out, run->workload, "of an unnamed workload");
    fputs(", ", out);
    put_or(out, run->started_at, "undated");
    if (run->command) {
        fputs(". Again: ", out);
        escape_md(out, run->command);
    }
    fputc('\n', out);
    for (int i = 0; i < run->skip_count; i++) {
        const struct run_skip *skip = &run->skips[i];
        fputs("- Left out: ", out);
        put_or(out, skip->lock ? skip->lock : skip->backend, "?");
        fputs(": ", out);
        put_or(out, skip->reason, "no reason given");
        if (skip->install) {
            fputs("; install ", out);
            escape_md(out, skip->install);
        }
        fputc('\n', out);
    }
    for (size_t i = 0; i < json_array_size(run->warnings); i++) {
        fputs("- Warning: ", out);
        put_or(out, json_string_value(json_array_get(run->warnings, i)), "?");
        fputc('\n', out);
    }
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        if (!stage->error && json_array_size(stage->warnings) == 0) continue;
        fputs("- ", out);
        put_or(out, stage->id ? stage->id : stage->lock, "?");
        fputs(": ", out);
        put_or(out,
               stage->error ? stage->error : json_string_value(json_array_get(stage->warnings, 0)),
               "?");
        fputc('\n', out);
    }
}

int report_write_md(const struct report *report, FILE *out, struct lb_err *err) {
    struct words *words = words_make(report, err);
    if (!words) return -1;
    fputs("## lockbench\n\n", out);
    write_words(out, words);
    words_free(words);
    write_answers(out, report);
    for (int g = 0; g < report->group_count; g++) write_group(out, report, &report->groups[g]);
    fputs(
        "<details><summary>What stands beside the numbers</summary>\n\n"
        "| lock | topology, version | durability | waits by | claims | competing grants n | bound 3/n |\n"
        "|---|---|---|---|---|--:|--:|\n",
        out);
    for (int i = 0; i < report->lock_count; i++) write_lock(out, report, &report->locks[i]);
    fputc('\n', out);
    for (int r = 0; r < report->run_count; r++) write_run(out, report, r);
    fputs("\n</details>\n", out);
    return 0;
}
