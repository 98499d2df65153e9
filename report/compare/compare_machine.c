/* compare_machine: a comparison for programs: JSON, JUnit XML for continuous integration, Go's
 * benchmark text for benchstat, CSV. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "bench/base/output.h"
#include "report/compare/compare.h"
#include "report/compare/compare_parts.h"
#include "report/doc/escape.h"
#include "report/run/field_value.h"
#include "report/run/words.h"

/* An infinite value has no number in JSON. */
static double finite_or_absent(double value) {
    return isfinite(value) ? value : NAN;
}

static json_t *values_json(const struct compare_side *side) {
    json_t *values = json_array();
    for (int i = 0; i < side->count; i++)
        json_array_append_new(values, field_figure_json(side->values[i]));
    return values;
}

static json_t *compared_figure_json(const struct compare_row *row,
                                    const struct compare_figure *figure) {
    const struct compare_need *need = &figure->need;
    char needs[COMPARE_NEED_TEXT_MAX];
    compare_need_text(row, figure, needs);
    json_t *base = values_json(&figure->base), *new = values_json(&figure->new);
    json_t *json = compare_result_figure_json(&(struct compare_result_figure){
        .verdict = compare_word(figure->verdict),
        .base = {figure->base.median, base},
        .new = {figure->new.median, new},
        .shift = finite_or_absent(figure->shift),
        .low = finite_or_absent(figure->low),
        .high = finite_or_absent(figure->high),
        .p = finite_or_absent(figure->p),
        .needs = *needs ? needs : NULL,
        .repeats_wanted = need->kind == COMPARE_NEEDS_REPEATS ? need->repeats : NAN});
    json_decref(base);
    json_decref(new);
    return json;
}

static json_t *row_json(const struct compare_row *row) {
    json_t *figures = json_object();
    for (int m = 0; m < compare_metric_count(); m++) {
        if (row->figure[m].verdict == COMPARE_UNKNOWN) continue;
        json_object_set_new(figures, compare_metric(m)->compared,
                            compared_figure_json(row, &row->figure[m]));
    }
    json_t *json = compare_result_row_json(
        &(struct compare_result_row){.lock = row->lock,
                                     .new_lock = row->new_lock,
                                     .load = row->load,
                                     .clients = row->clients,
                                     .base_guarantee = row->guarantee,
                                     .new_guarantee = row->new_guarantee,
                                     .base_samples = row->base_count,
                                     .new_samples = row->new_count,
                                     .base_limited = row->base_limited,
                                     .new_limited = row->new_limited,
                                     .violated = compare_fails(row->state) == LB_EXIT_VIOLATED,
                                     .stuck = compare_fails(row->state) == LB_EXIT_REGRESSION,
                                     .figures = figures});
    json_decref(figures);
    return json;
}

static int write_json(const struct compare *compare, FILE *out, struct lb_err *err) {
    json_t *rows = json_array(), *differences = json_array(), *alone = json_array();
    for (int i = 0; i < compare->alone_count; i++)
        json_array_append_new(alone, json_string(compare->alone[i].text));
    for (int i = 0; i < compare->difference_count; i++)
        json_array_append_new(differences, json_string(compare->differences[i]));
    for (int i = 0; i < compare->row_count; i++)
        json_array_append_new(rows, row_json(&compare->rows[i]));
    json_t *json = compare_result_json(
        &(struct compare_result){.exit_code = compare_exit(compare),
                                 .samples_of = compare_samples_word(compare),
                                 .partial = compare->partial_reason != NULL,
                                 .partial_reason = compare->partial_reason,
                                 .partial_runs = compare->partial_count,
                                 .violated = compare_fails(compare->state) == LB_EXIT_VIOLATED,
                                 .min_effect = compare->min_effect,
                                 .alpha = compare->alpha,
                                 .differences = differences,
                                 .only_one_side = alone,
                                 .rows = rows});
    json_decref(rows);
    json_decref(differences);
    json_decref(alone);
    return output_json(json, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, "the comparison", err);
}

/* <testcase classname="lockbench.LOCK" name="WHAT, 16 clients, LOAD">. load may be NULL. */
static void junit_begin(FILE *out, const char *lock, const char *what, double clients,
                        const char *load) {
    fputs("  <testcase classname=\"lockbench.", out);
    escape_html(out, lock);
    fprintf(out, "\" name=\"%s, %.0f client%s%s", what, clients, clients == 1 ? "" : "s",
            load ? ", " : "");
    if (load) escape_html(out, load);
    fputs("\">", out);
}

static void junit_property(FILE *out, const char *name, const char *value) {
    fprintf(out, "    <property name=\"%s\" value=\"", name);
    escape_html(out, value);
    fputs("\"/>\n", out);
}

/* Adds the facts that a reader must know before any figure, as compare_doc does. */
static void junit_properties(FILE *out, const struct compare *compare) {
    char text[20];
    fputs("  <properties>\n", out);
    junit_property(out, "samples_of", compare_samples_word(compare));
    if (compare_is_by_stage(compare)) junit_property(out, "warning", COMPARE_BY_STAGE_WARNING);
    if (compare->partial_reason) junit_property(out, "partial", compare->partial_reason);
    if (compare->partial_count > 0) {
        snprintf(text, sizeof text, "%d", compare->partial_count);
        junit_property(out, "partial_runs", text);
    }
    for (int i = 0; i < compare->difference_count; i++)
        junit_property(out, "differs", compare->differences[i]);
    fputs("  </properties>\n", out);
}

/* The text of a figure may be "<0.0001". */
static void junit_failure(FILE *out, const struct compare_figure *figure,
                          const struct result_field *metric) {
    char text[NUMBER_TEXT_MAX];
    fprintf(out, "<failure message=\"%s: ", metric->title);
    escape_html(out, field_figure_text(metric, figure->base.median, text));
    fputs(", now ", out);
    if (isnan(figure->p)) {
        fputs("none", out);
    } else {
        escape_html(out, field_figure_text(metric, figure->new.median, text));
        fprintf(out, " (%s, p = %.2g)", number_change_text(figure->shift, text), figure->p);
    }
    fputs("\"/>", out);
}

static void junit_figure(FILE *out, const struct compare *compare, const struct compare_row *row,
                         int m) {
    const struct compare_figure *figure = &row->figure[m];
    junit_begin(out, row->new_lock, compare_metric(m)->title, row->clients, row->load);
    if (figure->verdict == COMPARE_WORSE) {
        junit_failure(out, figure, compare_metric(m));
    } else if (figure->verdict == COMPARE_INCONCLUSIVE) {
        char needs[COMPARE_NEED_TEXT_MAX];
        fprintf(out, "<skipped message=\"inconclusive: %s\"/>",
                compare_need_text(row, figure, needs));
    }
    fprintf(
        out,
        "<system-out>samples (%s): %d of the base, %d of the new side</system-out></testcase>\n",
        compare_samples_word(compare), figure->base.count, figure->new.count);
}

/* The baseline and locks that are broken on purpose have no test of their own. */
static bool is_judged(const struct compare_row *row) {
    return row->state != LOCK_BASELINE;
}

/* Nothing showed whether the new lock excludes: that is no success. */
static bool is_untested(const struct compare_row *row) {
    return row->state == LOCK_UNCHECKED || row->state == LOCK_ALONE;
}

/* Adds a test about the lock itself: two holders, or keys that no client gets any more. */
static void junit_lock(FILE *out, const struct compare_row *row) {
    if (!is_judged(row)) return;
    junit_begin(out, row->new_lock, "exclusion", row->clients, row->load);
    if (compare_fails(row->state))
        fprintf(out, "<failure message=\"%s\"/>", words_state_title(row->state));
    else if (is_untested(row))
        fprintf(out, "<skipped message=\"%s: %s\"/>", words_state(row->state),
                words_state_title(row->state));
    fputs("</testcase>\n", out);
}

static void junit_alone(FILE *out, const struct compare_alone *alone) {
    fputs("  <testcase classname=\"lockbench\" name=\"", out);
    escape_html(out, alone->text);
    fputs(alone->new ? "\"/>\n" : "\"><skipped message=\"the new runs lack it\"/></testcase>\n",
          out);
}

/* Inconclusive figures, and locks that the new runs lack, are skipped tests; each lock has a test
 * of its own, too, which is skipped if nothing tested it. */
static void write_junit(const struct compare *compare, FILE *out) {
    int broken = 0, all = 0, locks = 0, untested = 0;
    /* failures of locks that only the new runs have */
    bool elsewhere = compare_fails(compare->state) != 0;
    for (int v = COMPARE_SAME; v <= COMPARE_WORSE; v++) all += compare->counts[v];
    for (int i = 0; i < compare->row_count; i++) {
        bool fails = compare_fails(compare->rows[i].state) != 0;
        broken += fails;
        elsewhere &= !fails;
        locks += is_judged(&compare->rows[i]);
        untested += is_untested(&compare->rows[i]);
    }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"lockbench compare\" tests=\"%d\" failures=\"%d\" skipped=\"%d\">\n",
            all + locks + compare->alone_count + elsewhere,
            compare->counts[COMPARE_WORSE] + broken + elsewhere,
            compare->counts[COMPARE_INCONCLUSIVE] + compare->missing + untested);
    junit_properties(out, compare);
    for (int i = 0; i < compare->row_count; i++) {
        const struct compare_row *row = &compare->rows[i];
        junit_lock(out, row);
        for (int m = 0; m < compare_metric_count(); m++) {
            if (row->figure[m].verdict >= COMPARE_SAME) junit_figure(out, compare, row, m);
        }
    }
    for (int i = 0; i < compare->alone_count; i++) junit_alone(out, &compare->alone[i]);
    if (elsewhere) {
        fprintf(
            out,
            "  <testcase classname=\"lockbench\" name=\"exclusion, locks that only the new runs have\">"
            "<failure message=\"%s\"/></testcase>\n",
            words_state_title(compare->state));
    }
    fputs("</testsuite>\n", out);
}

/* Writes a name without blanks, which benchstat can split. */
static void put_word(FILE *out, const char *text) {
    for (; *text; text++) {
        bool splits = (unsigned char)*text <= ' ' || *text == '/' || *text == '=';
        fputc(splits ? '_' : *text, out);
    }
}

static void benchstat_side(FILE *out, const struct compare_row *row, bool new) {
    int count = new ? row->new_count : row->base_count;
    for (int i = 0; i < count; i++) {
        fputs("BenchmarkLock/lock=", out);
        put_word(out, new ? row->new_lock : row->lock);
        fprintf(out, "/clients=%.0f/load=", row->clients);
        put_word(out, row->load);
        fputs(" 1", out);
        for (int m = 0; m < compare_metric_count(); m++) {
            const struct compare_side *side = new ? &row->figure[m].new : &row->figure[m].base;
            if (i >= side->count) continue;
            /* "inf" is a number to Go. */
            fprintf(out, " %.6g %s", side->values[i], m == 0 ? "grants/s" : "");
            if (m > 0)
                fprintf(out, "%s-%s", result_field_is_time(compare_metric(m)) ? "ns" : "n",
                        compare_metric(m)->compared);
        }
        fputc('\n', out);
    }
}

/* Writes both sides into one file, for `benchstat -col side`. */
static void write_benchstat(const struct compare *compare, FILE *out) {
    /* of all other figures less is better, as benchstat assumes */
    fputs("Unit grants/s better=higher\n", out);
    fprintf(out, "samples-of: %s\n", compare_samples_word(compare));
    if (compare->partial_count > 0) fprintf(out, "partial-runs: %d\n", compare->partial_count);
    for (int new = 0; new < 2; new ++) {
        fprintf(out, "side: %s\n", new ? "new" : "base");
        for (int i = 0; i < compare->row_count; i++) benchstat_side(out, &compare->rows[i], new);
    }
}

int compare_write(const struct compare *compare, enum compare_format format, bool color, FILE *out,
                  struct lb_err *err) {
    struct doc doc = {0};
    switch (format) {
    case COMPARE_TABLE:
    case COMPARE_MD:
        compare_doc(compare, &doc);
        return doc_write_and_free(&doc, format == COMPARE_MD ? DOC_MARKDOWN : DOC_TERMINAL, color,
                                  out, err);
    case COMPARE_JSON:
        return write_json(compare, out, err);
    case COMPARE_JUNIT:
        write_junit(compare, out);
        break;
    case COMPARE_BENCHSTAT:
        write_benchstat(compare, out);
        break;
    case COMPARE_HTML:
        return compare_page(compare, out, err);
    case COMPARE_CSV:
        compare_csv(compare, &doc);
        return doc_write_and_free(&doc, DOC_CSV, false, out, err);
    }
    return output_check(out, "the comparison", err);
}
