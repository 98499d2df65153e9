/* csv: one row a stage, every scalar figure under its path in run.json, by RFC 4180. Figures that
 * were not measured are empty cells. It computes nothing: medians over repeats are for who reads
 * it. */
#include "report/doc/escape.h"
#include "report/run/report.h"

static void put_field(FILE *out, const struct run_stage *stage, const struct run_field *field) {
    const char *at = (const char *)stage + field->offset;
    const char *text;
    switch (field->kind) {
    case RUN_TEXT:
        text = run_stage_text(stage, field->offset);
        if (text) escape_csv(out, text);
        break;
    case RUN_FIGURE:
        escape_csv_figure(out, run_stage_figure(stage, field->offset));
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
    for (const struct run_field *field = fields; field->path; field++)
        fprintf(out, ",%s", field->path);
    fputs("\r\n", out);
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        for (int s = 0; s < run->stage_count; s++) {
            escape_csv(out, run->path);
            fputc(',', out);
            if (run->workload) escape_csv(out, run->workload);
            fputc(',', out);
            if (run->started_at) escape_csv(out, run->started_at);
            for (const struct run_field *field = fields; field->path; field++) {
                fputc(',', out);
                put_field(out, &run->stages[s], field);
            }
            fputs("\r\n", out);
        }
    }
    return 0;
}
