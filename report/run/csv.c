/* csv: one row a stage, every scalar figure under its path in run.json, by RFC 4180. Figures that
 * were not measured are empty cells. It computes nothing: medians over repeats are for who reads
 * it. */
#include "report/doc/escape.h"
#include "report/run/report.h"

int report_write_csv(const struct report *report, FILE *out, struct lb_err *err) {
    (void)err;
    const struct result_field *fields = run_stage_fields();
    fputs("run,workload,started_at", out);
    for (const struct result_field *field = fields; field->path; field++) {
        if (result_field_in_reports(field)) fprintf(out, ",%s", field->path);
    }
    fputs("\r\n", out);
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        for (int s = 0; s < run->stage_count; s++) {
            escape_csv(out, run->path);
            fputc(',', out);
            if (run->workload) escape_csv(out, run->workload);
            fputc(',', out);
            if (run->started_at) escape_csv(out, run->started_at);
            for (const struct result_field *field = fields; field->path; field++) {
                if (!result_field_in_reports(field)) continue;
                fputc(',', out);
                escape_csv_field(out, field, &run->stages[s]);
            }
            fputs("\r\n", out);
        }
    }
    return 0;
}
