/* html_faults: what became of holders, their writes and the key around faults: the guarded store,
 * the history and its counter-examples, recoveries. See html_parts.h. A run without any of them has
 * no such section. */
#include <math.h>
#include <string.h>

#include "report/doc/counterexample.h"
#include "report/page/html_parts.h"

static bool any_used(const struct report *report, const struct column *columns) {
    for (int g = 0; g < report->group_count; g++) {
        for (const struct column *column = columns; column->key; column++) {
            if (column_used(column, &report->groups[g])) return true;
        }
    }
    return false;
}

bool html_has_faults(const struct report *report) {
    return any_used(report, columns_of(IN_STORE)) || any_used(report, columns_of(IN_HISTORY)) ||
           any_used(report, columns_of(IN_RECOVERY));
}

void html_counterexample(FILE *out, const json_t *operations) {
    struct doc doc = {0};
    struct lb_err err = {0};
    doc_counterexample(&doc, operations);
    doc_write_and_free(&doc, DOC_HTML, false, out, &err);
}

static void write_history(FILE *out, const struct run_stage *stage) {
    if (!stage->history_verdict) return;
    if (json_array_size(stage->counterexample) == 0) return;
    fputs("<h3>", out);
    escape_html(out, stage->id ? stage->id : stage->lock);
    fputs(": ", out);
    escape_html(out, stage->history_verdict);
    if (stage->history_model) {
        fputs(" as a ", out);
        escape_html(out, stage->history_model);
    }
    fputs("</h3>\n", out);
    html_counterexample(out, stage->counterexample);
}

void html_faults(FILE *out, const struct report *report) {
    if (!html_has_faults(report)) return;
    html_section(out, "faults", "Under faults: histories, stale writes, recovery");
    for (int r = 0; r < report->run_count; r++) {
        for (int s = 0; s < report->runs[r]->stage_count; s++)
            write_history(out, &report->runs[r]->stages[s]);
    }
    html_folded(out, report, columns_of(IN_HISTORY), "Histories");
    html_folded(out, report, columns_of(IN_STORE), "Guarded store");
    html_folded(out, report, columns_of(IN_RECOVERY), "Recovery");
    fputs("</section>\n", out);
}
