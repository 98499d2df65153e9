/* html_faults: what became of holders, their writes and the key around faults: the guarded store,
 * the history and its counter-examples, recoveries. See html_parts.h. A run without any of them has
 * no such section. */
#include <math.h>
#include <string.h>

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

static void write_seconds(FILE *out, const json_t *operation, const char *member) {
    const json_t *value = json_object_get(operation, member);
    if (json_is_number(value)) {
        fprintf(out, "<td class=\"num\">%.6f</td>", json_number_value(value));
    } else {
        fputs("<td class=\"num\">" NUMBER_NONE "</td>", out);
    }
}

/* A text, or a number as it is: tokens are whole and wider than a double. */
static void write_member(FILE *out, const json_t *operation, const char *member, const char *kind) {
    const json_t *value = json_object_get(operation, member);
    fprintf(out, "<td class=\"%s\">", kind);
    if (strcmp(member, "token") == 0 && json_is_integer(value) && json_integer_value(value) == 0) {
        fputs(NUMBER_NONE, out); /* the lock has none */
    } else if (json_is_integer(value)) {
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        fprintf(out, "%.15g", json_real_value(value));
    } else {
        escape_html(out, json_string_value(value));
    }
    fputs("</td>", out);
}

void html_counterexample(FILE *out, const json_t *operations) {
    fputs(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"figures\"><caption>The operations that "
        "contradict each "
        "other; seconds from the window's begin</caption><thead><tr><th scope=\"col\">operation</th>"
        "<th scope=\"col\">outcome</th><th scope=\"col\" class=\"num\">client</th><th scope=\"col\" "
        "class=\"num\">key</th><th scope=\"col\" class=\"num\">called (s)</th><th scope=\"col\" "
        "class=\"num\">returned (s)</th><th scope=\"col\" class=\"num\">lease end (s)</th><th scope=\"col\" "
        "class=\"num\">token</th><th scope=\"col\">note</th></tr></thead><tbody>\n",
        out);
    for (size_t i = 0; i < json_array_size(operations); i++) {
        const json_t *operation = json_array_get(operations, i);
        fputs("<tr><th scope=\"row\">", out);
        escape_html(out, json_string_value(json_object_get(operation, "op")));
        fputs("</th>", out);
        write_member(out, operation, "outcome", "words");
        write_member(out, operation, "client", "num");
        write_member(out, operation, "key", "num");
        write_seconds(out, operation, "begin_s");
        write_seconds(out, operation, "end_s");
        write_seconds(out, operation, "lease_end_s");
        write_member(out, operation, "token", "num");
        write_member(out, operation, "note", "words long");
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
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
