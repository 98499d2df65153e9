/* csv: one row a stage, every scalar figure under its path in run.json, by RFC 4180. Figures that were not
 * measured are empty cells. It computes nothing: medians over repeats are for who reads it.
 */
#include <math.h>
#include <string.h>

#include "report/report.h"

/* Names and errors come from servers; a spreadsheet would run a text that looks like a formula. */
static void put_text(FILE *out, const char *text) {
    bool formula = *text && strchr("=+-@\t\r", *text);
    if (!formula && !strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    if (formula) fputc('\'', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_figure(FILE *out, double figure) {
    if (!isfinite(figure)) return;
    fprintf(out, "%.15g", figure);
}

static void put_field(FILE *out, const struct run_stage *stage, const struct run_field *field) {
    const char *at = (const char *)stage + field->offset;
    const char *text;
    switch (field->kind) {
    case RUN_TEXT:
        text = run_stage_text(stage, field->offset);
        if (text) put_text(out, text);
        break;
    case RUN_FIGURE:
        put_figure(out, run_stage_figure(stage, field->offset));
        break;
    case RUN_FLAG:
        fputs(*(const bool *)at ? "true" : "false", out);
        break;
    }
}

int report_write_csv(const struct report *report, FILE *out, struct lb_err *err) {
    (void)err;
    const struct run_field *fields = run_stage_fields();
    fputs("run,workload,started_at", out);
    for (const struct run_field *field = fields; field->path; field++) fprintf(out, ",%s", field->path);
    fputs("\r\n", out);
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        for (int s = 0; s < run->stage_count; s++) {
            put_text(out, run->path);
            fputc(',', out);
            if (run->workload) put_text(out, run->workload);
            fputc(',', out);
            if (run->started_at) put_text(out, run->started_at);
            for (const struct run_field *field = fields; field->path; field++) {
                fputc(',', out);
                put_field(out, &run->stages[s], field);
            }
            fputs("\r\n", out);
        }
    }
    return 0;
}
