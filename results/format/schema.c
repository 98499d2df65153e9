/* schema: a document's JSON Schema, from its table; see reference.h. */
#include <string.h>

#include "results/format/reference.h"
#include "results/format/run_read.h"

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

static json_t *text_schema(const struct result_field *field) {
    if (field->words) return json_pack("{s:o}", "enum", words_json(field->words, true));
    if (field->kind != RESULT_TEXT_OR_COUNT) return type_or_null("string");
    return json_pack("{s:[s, s, s]}", "type", "string", "integer", "null");
}

static json_t *figure_schema(const struct result_field *field) {
    if (field->kind == RESULT_YES_NO) return type_or_null("boolean");
    if (field->kind == RESULT_NS_OR_NEVER || field->kind == RESULT_REAL_OR_NEVER) {
        const char *type = field->kind == RESULT_NS_OR_NEVER ? "integer" : "number";
        return json_pack("{s:[{s:s, s:i}, {s:[s, n]}]}", "anyOf", "type", type, "minimum", 0,
                         "enum", RESULT_NEVER);
    }
    bool whole = field->kind == RESULT_COUNT || field->kind == RESULT_NS;
    json_t *schema = type_or_null(whole ? "integer" : "number");
    if (field->kind != RESULT_SIGNED) json_object_set_new(schema, "minimum", json_integer(0));
    return schema;
}

static json_t *array_schema(json_t *items) {
    json_t *schema = type_or_null("array");
    json_object_set_new(schema, "items", items);
    return schema;
}

static json_t *items_schema(const struct result_field *field) {
    if (field->kind == RESULT_ROWS)
        return object_schema(field->items ? field->items : run_stage_fields());
    return field->items ? object_schema(field->items) : json_pack("{s:s}", "type", "object");
}

/* The names that figures of a stage have in `compare`. */
static json_t *compared_names(void) {
    json_t *names = json_array();
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (field->compared) json_array_append_new(names, json_string(field->compared));
    }
    return names;
}

static json_t *branch_schema(const struct result_field *field) {
    json_t *text;
    switch (field->kind) {
    case RESULT_TEXTS:
        text = json_pack("{s:s}", "type", "string");
        if (field->words) json_object_set_new(text, "enum", words_json(field->words, false));
        return array_schema(text);
    case RESULT_NUMBERS:
        return array_schema(json_pack("{s:s}", "type", "number"));
    case RESULT_NUMBERS_OR_NEVER:
        return array_schema(
            json_pack("{s:[{s:s}, {s:s}]}", "anyOf", "type", "number", "const", RESULT_NEVER));
    case RESULT_COMPARED:
        return json_pack("{s:s, s:{s:o}, s:o}", "type", "object", "propertyNames", "enum",
                         compared_names(), "additionalProperties", items_schema(field));
    case RESULT_ROWS:
    case RESULT_OBJECTS:
        return array_schema(items_schema(field));
    case RESULT_ANY:
        return json_pack("{s:[o, {s:s}]}", "anyOf", items_schema(field), "type", "null");
    default:
        return type_or_null("object");
    }
}

/* Makes an object without its members; FREE objects may have any members. */
static json_t *empty_object(const struct result_field *field) {
    bool optional = field->kind == RESULT_OPTIONAL;
    json_t *schema = optional ? type_or_null("object") : json_pack("{s:s}", "type", "object");
    json_object_set_new(schema, "properties", json_object());
    json_object_set_new(schema, "required", json_array());
    if (field->kind != RESULT_FREE)
        json_object_set_new(schema, "additionalProperties", json_false());
    return schema;
}

static json_t *field_schema(const struct result_field *field) {
    json_t *schema;
    if (result_field_is_figure(field)) {
        schema = figure_schema(field);
    } else if (field->kind == RESULT_TEXT || field->kind == RESULT_TEXT_OR_COUNT ||
               field->kind == RESULT_HDR) {
        schema = text_schema(field);
    } else if (field->kind == RESULT_FLAG) {
        schema = json_pack("{s:s}", "type", "boolean");
    } else if (field->kind == RESULT_LATENCY) {
        schema = json_pack("{s:s}", "$ref", "#/$defs/latency");
    } else if (field->kind == RESULT_OBJECT || field->kind == RESULT_OPTIONAL ||
               field->kind == RESULT_FREE) {
        schema = empty_object(field);
    } else {
        schema = branch_schema(field);
    }
    if (field->help) json_object_set_new(schema, "description", json_string(field->help));
    return schema;
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
            inner = empty_object(&(struct result_field){.kind = RESULT_FREE});
            json_object_set_new(properties, part, inner);
        }
        object = inner;
    }
    json_object_set_new(json_object_get(object, "properties"), path, schema);
    json_array_append_new(json_object_get(object, "required"), json_string(path));
}

static json_t *object_schema(const struct result_field *fields) {
    json_t *root = empty_object(&(struct result_field){.kind = RESULT_OBJECT});
    for (const struct result_field *field = fields; field->path; field = reference_next(field)) {
        add_member(root, field->path, field_schema(field));
    }
    return root;
}

/* What the references to a latency object lead to. */
static json_t *latency_defs(void) {
    json_t *latency = object_schema(run_latency_fields());
    json_object_set_new(latency, "type", json_pack("[s, s]", "object", "null"));
    return json_pack("{s:o}", "latency", latency);
}

json_t *reference_schema(const struct result_document *document) {
    json_t *schema =
        json_pack("{s:s, s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema",
                  "title", document->file, "description", document->about);
    json_t *root = object_schema(document->fields);
    add_member(root, "schema", json_pack("{s:s}", "const", document->schema));
    json_object_update(schema, root);
    if (document == &run_document) json_object_set_new(schema, "$defs", latency_defs());
    json_decref(root);
    return schema;
}
