/* compare_machine: a comparison for programs: JSON, JUnit XML for continuous integration, Go's benchmark text
 * for benchstat, CSV. */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "report/compare.h"
#include "report/escape.h"
#include "report/html_parts.h"

static json_t *number_json(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *side_json(const struct compare_side *side) {
    json_t *values = json_array();
    for (int i = 0; i < side->count; i++) json_array_append_new(values, json_real(side->values[i]));
    return json_pack("{s:o, s:o}", "median", number_json(side->median), "values", values);
}

static json_t *figure_json(const struct compare_figure *figure) {
    bool wants = figure->verdict == COMPARE_INCONCLUSIVE;
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "verdict", compare_word(figure->verdict),
                     "base", side_json(&figure->base), "new", side_json(&figure->new), "shift",
                     number_json(figure->shift), "low", number_json(figure->low), "high",
                     number_json(figure->high), "p", number_json(figure->p), "repeats_wanted",
                     wants ? json_integer(figure->wanted) : json_null());
}

int compare_write_json(const struct compare *compare, FILE *out) {
    json_t *rows = json_array(), *differences = json_array(), *alone = json_array();
    for (int i = 0; i < compare->alone_count; i++) {
        json_array_append_new(alone, json_string(compare->alone[i]));
    }
    for (int i = 0; i < compare->difference_count; i++) {
        json_array_append_new(differences, json_string(compare->differences[i]));
    }
    for (int i = 0; i < compare->row_count; i++) {
        const struct compare_row *row = &compare->rows[i];
        json_t *figures = json_object();
        for (int m = 0; m < COMPARE_METRICS; m++) {
            if (row->figure[m].verdict == COMPARE_UNKNOWN) continue;
            json_object_set_new(figures, compare_metrics[m].name, figure_json(&row->figure[m]));
        }
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:f, s:b, s:o}", "lock", row->lock, "new_lock",
                                              row->new_lock, "load", row->load, "clients", row->clients,
                                              "violated", row->violated, "figures", figures));
    }
    json_t *json =
        json_pack("{s:s, s:i, s:f, s:f, s:o, s:o, s:o}", "schema", "lockbench.compare/1", "exit_code",
                  compare_exit(compare), "min_effect", compare->min_effect, "alpha", compare->alpha,
                  "differences", differences, "only_one_side", alone, "rows", rows);
    int failed = json ? json_dumpf(json, out, JSON_INDENT(1)) : -1;
    fputc('\n', out);
    json_decref(json);
    return failed;
}

static void junit_figure(FILE *out, const struct compare_row *row, int m) {
    const struct compare_figure *figure = &row->figure[m];
    fputs("  <testcase classname=\"lockbench.", out);
    html_text(out, row->lock);
    fprintf(out, "\" name=\"%s, %.0f clients, ", compare_metrics[m].name, row->clients);
    html_text(out, row->load);
    fputs("\">", out);
    if (figure->verdict == COMPARE_WORSE) {
        fprintf(out, "<failure message=\"%s: %.6g, now %.6g (%+.1f %%, p = %.2g)\"/>",
                compare_metrics[m].title, figure->base.median, figure->new.median, 100 * figure->shift,
                figure->p);
    } else if (figure->verdict == COMPARE_INCONCLUSIVE) {
        fprintf(out, "<skipped message=\"inconclusive: %d repeats a side would do\"/>", figure->wanted);
    }
    fputs("</testcase>\n", out);
}

/* Inconclusive figures are skipped tests; a violated lock is a failure of its own. */
void compare_write_junit(const struct compare *compare, FILE *out) {
    int violated = 0, all = 0;
    for (int v = COMPARE_SAME; v <= COMPARE_WORSE; v++) all += compare->counts[v];
    for (int i = 0; i < compare->row_count; i++) violated += compare->rows[i].violated;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"lockbench compare\" tests=\"%d\" failures=\"%d\" skipped=\"%d\">\n",
            all + violated, compare->counts[COMPARE_WORSE] + violated, compare->counts[COMPARE_INCONCLUSIVE]);
    for (int i = 0; i < compare->row_count; i++) {
        const struct compare_row *row = &compare->rows[i];
        for (int m = 0; m < COMPARE_METRICS; m++) {
            if (row->figure[m].verdict != COMPARE_UNKNOWN) junit_figure(out, row, m);
        }
        if (!row->violated) continue;
        fputs("  <testcase classname=\"lockbench.", out);
        html_text(out, row->new_lock);
        fprintf(out,
                "\" name=\"exclusion, %.0f clients\"><failure message=\"two holders at once\"/></testcase>\n",
                row->clients);
    }
    fputs("</testsuite>\n", out);
}

/* A name that benchstat can split: no blanks. */
static void put_word(FILE *out, const char *text) {
    for (; *text; text++) fputc(*text == ' ' || *text == '/' || *text == '=' ? '_' : *text, out);
}

static void benchstat_side(FILE *out, const struct compare_row *row, bool new) {
    int count = new ? row->new_count : row->base_count;
    for (int i = 0; i < count; i++) {
        fputs("BenchmarkLock/lock=", out);
        put_word(out, new ? row->new_lock : row->lock);
        fprintf(out, "/clients=%.0f/load=", row->clients);
        put_word(out, row->load);
        fputs(" 1", out);
        for (int m = 0; m < COMPARE_METRICS; m++) {
            const struct compare_side *side = new ? &row->figure[m].new : &row->figure[m].base;
            if (i >= side->count) continue;
            fprintf(out, " %.6g %s", side->values[i], m == 0 ? "grants/s" : "");
            if (m > 0)
                fprintf(out, "%s-%s", compare_metrics[m].is_time ? "ns" : "n", compare_metrics[m].name);
        }
        fputc('\n', out);
    }
}

/* Both sides in one file: `benchstat -col side`. */
void compare_write_benchstat(const struct compare *compare, FILE *out) {
    for (int new = 0; new < 2; new ++) {
        fprintf(out, "side: %s\n", new ? "new" : "base");
        for (int i = 0; i < compare->row_count; i++) benchstat_side(out, &compare->rows[i], new);
    }
}

/* One line a figure. */
void compare_write_csv(const struct compare *compare, FILE *out) {
    fputs("lock,new_lock,clients,load,figure,base_median,new_median,shift,low,high,p,verdict\r\n", out);
    for (int i = 0; i < compare->row_count; i++) {
        const struct compare_row *row = &compare->rows[i];
        for (int m = 0; m < COMPARE_METRICS; m++) {
            const struct compare_figure *figure = &row->figure[m];
            if (figure->verdict == COMPARE_UNKNOWN) continue;
            escape_csv(out, row->lock);
            fputc(',', out);
            escape_csv(out, row->new_lock);
            fprintf(out, ",%.0f,", row->clients);
            escape_csv(out, row->load);
            fprintf(out, ",%s,", compare_metrics[m].name);
            const double figures[] = {figure->base.median,
                                      figure->new.median,
                                      figure->shift,
                                      isfinite(figure->low) ? figure->low : NAN,
                                      isfinite(figure->high) ? figure->high : NAN,
                                      figure->p};
            for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
                escape_csv_figure(out, figures[f]);
                fputc(',', out);
            }
            fprintf(out, "%s\r\n", compare_word(figure->verdict));
        }
    }
}

int compare_write(const struct compare *compare, enum compare_format format, bool color, FILE *out,
                  struct lb_err *err) {
    int failed = 0;
    switch (format) {
    case COMPARE_TABLE:
        failed = compare_write_table(compare, color, out);
        break;
    case COMPARE_MD:
        failed = compare_write_md(compare, out);
        break;
    case COMPARE_JSON:
        failed = compare_write_json(compare, out);
        break;
    case COMPARE_JUNIT:
        compare_write_junit(compare, out);
        break;
    case COMPARE_BENCHSTAT:
        compare_write_benchstat(compare, out);
        break;
    case COMPARE_CSV:
        compare_write_csv(compare, out);
        break;
    }
    if (!failed && !ferror(out)) return 0;
    return err_set(err, LB_EXIT_MACHINE, "compare: cannot write: is the disk full?");
}
