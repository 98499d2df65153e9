/* reference: see reference.h; the schemas are in schema.c. */
#include "results/format/reference.h"

#include <string.h>

#include "results/format/run_read.h"

#define WIDTH 120
#define PATH_MAX_LENGTH 160

const struct result_document *const result_documents[] = {
    &run_document, &check_document, &capacity_document, &compare_document, NULL};

/* Writes the words of a text, broken at WIDTH columns; *at is the column that is reached. */
static void write_words(FILE *out, const char *text, int *at) {
    for (const char *word = text; *word;) {
        int length = (int)strcspn(word, " ");
        if (*at > 0 && *at + 1 + length > WIDTH) {
            fputc('\n', out);
            *at = 0;
        }
        if (*at > 0) ++*at, fputc(' ', out);
        fprintf(out, "%.*s", length, word);
        *at += length;
        word += length + (int)strspn(word + length, " ");
    }
}

static const char *kind_text(const struct result_field *field) {
    static const char *const texts[] = {
        [RESULT_TEXT] = "text or null",
        [RESULT_TEXT_OR_COUNT] = "text or whole number",
        [RESULT_FLAG] = "true or false",
        [RESULT_COUNT] = "whole number or null",
        [RESULT_NS] = "whole nanoseconds or null",
        [RESULT_REAL] = "number or null",
        [RESULT_REAL_NS] = "nanoseconds or null",
        [RESULT_NS_OR_NEVER] = "whole nanoseconds, \"never\" or null",
        [RESULT_REAL_OR_NEVER] = "number, \"never\" or null",
        [RESULT_SIGNED] = "number, may be negative, or null",
        [RESULT_YES_NO] = "true, false or null",
        [RESULT_OBJECT] = "object",
        [RESULT_OPTIONAL] = "object or null",
        [RESULT_LATENCY] = "latency object or null",
        [RESULT_HDR] = "text",
        [RESULT_TEXTS] = "array of texts",
        [RESULT_NUMBERS] = "array of numbers",
        [RESULT_NUMBERS_OR_NEVER] = "array of numbers and \"never\"",
        [RESULT_OBJECTS] = "array of objects",
        [RESULT_COMPARED] = "object of figures",
        [RESULT_ANY] = "object or null",
        [RESULT_ROWS] = "array of objects",
        [RESULT_FREE] = "object"};
    return texts[field->kind];
}

static void write_field(FILE *out, const char *prefix, const struct result_field *field) {
    int at = 0;
    fprintf(out, "\n### `%s.%s`\n\n%s", prefix, field->path, kind_text(field));
    if (field->unit) fprintf(out, ", %s", field->unit);
    if (field->words) {
        at = (int)strlen(kind_text(field));
        write_words(out, "of:", &at);
        write_words(out, field->words, &at);
    }
    fputs("\\\n", out);
    at = 0;
    write_words(out, field->help ? field->help : "", &at);
    fputs(".\n", out);
    if (!field->more) return;
    at = 0;
    write_words(out, field->more, &at);
    fputc('\n', out);
}

const struct result_field *reference_next(const struct result_field *row) {
    const struct result_field *next = row + 1;
    while (row->kind == RESULT_LATENCY && result_field_is_inside(next, row)) next++;
    return next;
}

static void write_fields(FILE *out, const char *prefix, const struct result_field *fields) {
    for (const struct result_field *row = fields; row->path; row = reference_next(row)) {
        char inner[PATH_MAX_LENGTH];
        write_field(out, prefix, row);
        bool list = row->kind == RESULT_ROWS || row->kind == RESULT_OBJECTS;
        const char *element = list ? "[]" : row->kind == RESULT_COMPARED ? ".NAME" : "";
        snprintf(inner, sizeof inner, "%s.%s%s", prefix, row->path, element);
        if (row->items) write_fields(out, inner, row->items);
        if (row->kind == RESULT_ROWS && !row->items) write_fields(out, inner, run_stage_fields());
    }
}

void reference_write(FILE *out) {
    fputs(
        "# Fields of result files\n\n"
        "Made by `make fields` from the tables in results/format; results/schema has the same as "
        "JSON Schemas.\n\n"
        "null means not measured or not applicable, never zero. Additions keep a schema's number; "
        "a changed meaning raises it.\n",
        out);
    for (const struct result_document *const *document = result_documents; *document; document++) {
        fprintf(out, "\n## %s, schema `%s`\n\n%s\n", (*document)->file, (*document)->schema,
                (*document)->about);
        write_fields(out, "", (*document)->fields);
    }
    fputs("\n## Latency objects\n\nTimes as a histogram, and what is read from it.\n", out);
    write_fields(out, "", run_latency_fields());
}
