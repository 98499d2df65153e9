/* reference: the tables of fields as a page, for `make fields`; report/tests/validate.mjs holds files against it. */
#include <stdio.h>
#include <string.h>

#include "results/format/run_read.h"

#define PATH_BYTES 160

static const struct result_document *const documents[] = {&run_document, &check_document,
                                                          &capacity_document};
#define DOCUMENTS (sizeof documents / sizeof *documents)

/* The next row of a table, past the members of a latency object, which are described once for all of them. */
static const struct result_field *next_row(const struct result_field *row) {
    const struct result_field *next = row + 1;
    while (row->kind == RESULT_LATENCY && result_field_is_inside(next, row)) next++;
    return next;
}

static const char *const kinds[] = {[RESULT_TEXT] = "text",
                                    [RESULT_TEXT_OR_COUNT] = "text or count",
                                    [RESULT_FLAG] = "true or false",
                                    [RESULT_COUNT] = "count",
                                    [RESULT_NS] = "ns",
                                    [RESULT_REAL] = "number",
                                    [RESULT_REAL_NS] = "ns, with a fraction",
                                    [RESULT_NS_OR_NEVER] = "ns or \"never\"",
                                    [RESULT_SIGNED] = "number",
                                    [RESULT_YES_NO] = "true, false or null",
                                    [RESULT_OBJECT] = "object",
                                    [RESULT_OPTIONAL] = "object or null",
                                    [RESULT_LATENCY] = "latency",
                                    [RESULT_HDR] = "text",
                                    [RESULT_TEXTS] = "list of texts",
                                    [RESULT_NUMBERS] = "list of numbers",
                                    [RESULT_OBJECTS] = "list",
                                    [RESULT_ANY] = "object or null",
                                    [RESULT_ROWS] = "list",
                                    [RESULT_FREE] = "any object"};

static void write_fields(FILE *out, const char *prefix, const struct result_field *fields) {
    for (const struct result_field *row = fields; row->path; row = next_row(row)) {
        fprintf(out, "| `%s.%s` | %s%s | ", prefix, row->path,
                row->unit ? row->unit : kinds[row->kind],
                row->kind == RESULT_SIGNED ? ", signed" : "");
        if (row->words) fprintf(out, "(%s) ", row->words);
        fprintf(out, "%s%s%s |\n", row->help ? row->help : "", row->more ? ". " : "",
                row->more ? row->more : "");
        if (!result_field_items(row)) continue;
        bool list = row->kind == RESULT_ROWS || row->kind == RESULT_OBJECTS;
        char inner[PATH_BYTES];
        snprintf(inner, sizeof inner, "%s.%s%s", prefix, row->path, list ? "[]" : "");
        write_fields(out, inner, result_field_items(row));
    }
}

static void write_page(FILE *out) {
    static const char head[] = "\n| field | unit | what |\n|---|---|---|\n";
    fputs(
        "# Fields of result files\n\n"
        "Made by `make fields` from the tables in results/format. null means not measured or not applicable, never zero.\n",
        out);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        fprintf(out, "\n## %s, schema `%s`\n\n%s\n%s", documents[i]->file, documents[i]->schema,
                documents[i]->about, head);
        write_fields(out, "", documents[i]->fields);
    }
    fprintf(out, "\n## Latency\n\nTimes as a histogram, and what is read from it.\n%s", head);
    write_fields(out, "", run_latency_fields());
}

int main(void) {
    write_page(stdout);
    return fflush(stdout) != 0;
}
