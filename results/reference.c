/* reference: the tables of fields as text for people and as JSON Schemas for programs, as `make fields` wants them.
 * usage: reference FIELDS.md SCHEMA-FOLDER */
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

/* The table of the elements of a list, or of an object's members; NULL = none. */
static const struct result_field *items_of(const struct result_field *field) {
    return field->kind == RESULT_ROWS && !field->items ? run_stage_fields() : field->items;
}

/* ---- the page ---- */

static const char *const kinds[] = {[RESULT_TEXT] = "text",
                                    [RESULT_TEXT_OR_COUNT] = "text or count",
                                    [RESULT_FLAG] = "true or false",
                                    [RESULT_COUNT] = "count",
                                    [RESULT_NS] = "ns",
                                    [RESULT_REAL] = "number",
                                    [RESULT_REAL_NS] = "ns",
                                    [RESULT_NS_OR_NEVER] = "ns or \"never\"",
                                    [RESULT_SIGNED] = "number",
                                    [RESULT_YES_NO] = "true or false",
                                    [RESULT_OBJECT] = "object",
                                    [RESULT_OPTIONAL] = "object",
                                    [RESULT_LATENCY] = "latency",
                                    [RESULT_HDR] = "text",
                                    [RESULT_TEXTS] = "list of texts",
                                    [RESULT_NUMBERS] = "list of numbers",
                                    [RESULT_OBJECTS] = "list",
                                    [RESULT_ANY] = "object",
                                    [RESULT_ROWS] = "list",
                                    [RESULT_FREE] = "object"};

static void write_fields(FILE *out, const char *prefix, const struct result_field *fields) {
    for (const struct result_field *row = fields; row->path; row = next_row(row)) {
        fprintf(out, "| `%s.%s` | %s | ", prefix, row->path,
                row->unit ? row->unit : kinds[row->kind]);
        if (row->words) fprintf(out, "(%s) ", row->words);
        fprintf(out, "%s%s%s |\n", row->help ? row->help : "", row->more ? ". " : "",
                row->more ? row->more : "");
        if (!items_of(row)) continue;
        bool list = row->kind == RESULT_ROWS || row->kind == RESULT_OBJECTS;
        char inner[PATH_BYTES];
        snprintf(inner, sizeof inner, "%s.%s%s", prefix, row->path, list ? "[]" : "");
        write_fields(out, inner, items_of(row));
    }
}

static void write_page(FILE *out) {
    static const char head[] = "\n| field | unit | what |\n|---|---|---|\n";
    fputs(
        "# Fields of result files\n\n"
        "Made by `make fields` from the tables in results/format, with JSON Schemas of the files in .build/schema.\n"
        "null means not measured or not applicable, never zero.\n",
        out);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        fprintf(out, "\n## %s, schema `%s`\n\n%s\n%s", documents[i]->file, documents[i]->schema,
                documents[i]->about, head);
        write_fields(out, "", documents[i]->fields);
    }
    fprintf(out, "\n## Latency\n\nTimes as a histogram, and what is read from it.\n%s", head);
    write_fields(out, "", run_latency_fields());
}

/* ---- the schemas (JSON Schema, draft 2020-12): every path is there, and no other ---- */

static json_t *object_schema(const struct result_field *fields);

static json_t *type_or_null(const char *type) {
    return json_pack("{s:[s, s]}", "type", type, "null");
}

static json_t *words_json(const char *words, bool or_null) {
    json_t *array = json_array();
    const char *between = strstr(words, ", ") ? "," : " ";
    for (const char *at = words; *at; at += strspn(at, ", ")) {
        size_t length = strcspn(at, between);
        json_array_append_new(array, json_stringn(at, length));
        at += length;
    }
    if (or_null) json_array_append_new(array, json_null());
    return array;
}

static json_t *list_of(json_t *items) {
    return json_pack("{s:[s, s], s:o}", "type", "array", "null", "items", items);
}

static json_t *items_schema(const struct result_field *field) {
    return items_of(field) ? object_schema(items_of(field)) : json_pack("{s:s}", "type", "object");
}

static json_t *at_least_0(json_t *schema) {
    json_object_set_new(schema, "minimum", json_integer(0));
    return schema;
}

/* Makes an object without its members; FREE objects may have any members. */
static json_t *empty_object(enum result_kind kind) {
    json_t *schema =
        kind == RESULT_OPTIONAL ? type_or_null("object") : json_pack("{s:s}", "type", "object");
    json_object_set_new(schema, "properties", json_object());
    json_object_set_new(schema, "required", json_array());
    if (kind != RESULT_FREE) json_object_set_new(schema, "additionalProperties", json_false());
    return schema;
}

static json_t *field_schema(const struct result_field *field) {
    switch (field->kind) {
    case RESULT_TEXT:
    case RESULT_HDR:
        return field->words ? json_pack("{s:o}", "enum", words_json(field->words, true))
                            : type_or_null("string");
    case RESULT_TEXT_OR_COUNT:
        return json_pack("{s:[s, s, s]}", "type", "string", "integer", "null");
    case RESULT_FLAG:
        return json_pack("{s:s}", "type", "boolean");
    case RESULT_YES_NO:
        return type_or_null("boolean");
    case RESULT_COUNT:
    case RESULT_NS:
        return at_least_0(type_or_null("integer"));
    case RESULT_REAL:
    case RESULT_REAL_NS:
        return at_least_0(type_or_null("number"));
    case RESULT_SIGNED:
        return type_or_null("number");
    case RESULT_NS_OR_NEVER: /* or the word for a time that never came */
        return json_pack("{s:[{s:s, s:i}, {s:[s, n]}]}", "anyOf", "type", "integer", "minimum", 0,
                         "enum", RESULT_NEVER);
    case RESULT_LATENCY:
        return json_pack("{s:s}", "$ref", "#/$defs/latency");
    case RESULT_OBJECT:
    case RESULT_OPTIONAL:
    case RESULT_FREE:
        return empty_object(field->kind);
    case RESULT_TEXTS:
        return list_of(field->words ? json_pack("{s:o}", "enum", words_json(field->words, false))
                                    : json_pack("{s:s}", "type", "string"));
    case RESULT_NUMBERS:
        return list_of(json_pack("{s:s}", "type", "number"));
    case RESULT_ROWS:
    case RESULT_OBJECTS:
        return list_of(items_schema(field));
    case RESULT_ANY:
        return json_pack("{s:[o, {s:s}]}", "anyOf", items_schema(field), "type", "null");
    }
    return NULL;
}

/* Adds a member to the object that its path leads to, whose own row has come before. */
static void add_member(json_t *root, const char *path, json_t *schema) {
    char part[64];
    json_t *object = root;
    for (const char *dot; object && (dot = strchr(path, '.')); path = dot + 1) {
        json_t *properties = json_object_get(object, "properties");
        snprintf(part, sizeof part, "%.*s", (int)(dot - path), path);
        json_t *inner = json_object_get(properties, part);
        if (!inner) { /* an object without a row */
            inner = empty_object(RESULT_FREE);
            json_object_set_new(properties, part, inner);
        }
        object = inner;
    }
    json_object_set_new(json_object_get(object, "properties"), path, schema);
    json_array_append_new(json_object_get(object, "required"), json_string(path));
}

static json_t *object_schema(const struct result_field *fields) {
    json_t *root = empty_object(RESULT_OBJECT);
    for (const struct result_field *field = fields; field->path; field = next_row(field)) {
        json_t *schema = field_schema(field);
        if (field->help) json_object_set_new(schema, "description", json_string(field->help));
        add_member(root, field->path, schema);
    }
    return root;
}

static json_t *document_schema(const struct result_document *document) {
    json_t *schema =
        json_pack("{s:s, s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema",
                  "title", document->file, "description", document->about);
    json_t *root = object_schema(document->fields), *latency = object_schema(run_latency_fields());
    add_member(root, "schema", json_pack("{s:s}", "const", document->schema));
    json_object_update(schema, root);
    json_object_set_new(latency, "type", json_pack("[s, s]", "object", "null"));
    json_object_set_new(schema, "$defs", json_pack("{s:o}", "latency", latency));
    json_decref(root);
    return schema;
}

int main(int argc, char **argv) {
    if (argc != 3) return fputs("usage: reference FIELDS.md SCHEMA-FOLDER\n", stderr), 1;
    FILE *out = fopen(argv[1], "we");
    if (!out) return perror(argv[1]), 1;
    write_page(out);
    if (fclose(out) != 0) return perror(argv[1]), 1;
    for (size_t i = 0; i < DOCUMENTS; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s.schema.json", argv[2], documents[i]->name);
        json_t *schema = document_schema(documents[i]);
        if (json_dump_file(schema, path, JSON_INDENT(1)) != 0) return perror(path), 1;
        json_decref(schema);
    }
    return 0;
}
