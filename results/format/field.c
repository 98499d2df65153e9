/* field: see field.h. */
#include "results/format/field.h"

#include <math.h>
#include <string.h>

bool result_field_is_figure(const struct result_field *field) {
    switch (field->kind) {
    case RESULT_COUNT:
    case RESULT_NS:
    case RESULT_REAL:
    case RESULT_REAL_NS:
    case RESULT_NS_OR_NEVER:
    case RESULT_SIGNED:
    case RESULT_YES_NO:
        return true;
    default:
        return false;
    }
}

bool result_field_has_member(const struct result_field *field) {
    return field->kind != RESULT_OBJECT && field->kind != RESULT_OPTIONAL &&
           field->kind != RESULT_LATENCY && field->kind != RESULT_ROWS;
}

bool result_field_is_time(const struct result_field *field) {
    return field->kind == RESULT_NS || field->kind == RESULT_REAL_NS ||
           field->kind == RESULT_NS_OR_NEVER;
}

bool result_field_is_share(const struct result_field *field) {
    return field->unit && strcmp(field->unit, "share") == 0;
}

double result_field_figure(const struct result_field *field, const void *of) {
    double figure;
    memcpy(&figure, (const char *)of + field->offset, sizeof figure);
    return figure;
}

void result_field_set_figure(const struct result_field *field, void *of, double figure) {
    memcpy((char *)of + field->offset, &figure, sizeof figure);
}

const char *result_field_text(const struct result_field *field, const void *of) {
    const char *text;
    memcpy(&text, (const char *)of + field->offset, sizeof text);
    return text;
}

bool result_field_flag(const struct result_field *field, const void *of) {
    bool flag;
    memcpy(&flag, (const char *)of + field->offset, sizeof flag);
    return flag;
}

const json_t *result_field_branch(const struct result_field *field, const void *of) {
    const json_t *branch;
    memcpy(&branch, (const char *)of + field->offset, sizeof branch);
    return branch;
}

double result_number(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

char *result_field_list(const struct result_field *field, const void *of, int *ret_count) {
    char *list = NULL;
    *ret_count = 0;
    if (field->kind != RESULT_ROWS) return NULL;
    memcpy(&list, (const char *)of + field->offset, sizeof list);
    memcpy(ret_count, (const char *)of + field->count_offset, sizeof *ret_count);
    return list;
}

const struct result_field *result_field_items(const struct result_field *field) {
    return field->kind == RESULT_ROWS && !field->items ? run_stage_fields() : field->items;
}

static void result_field_clear(const struct result_field *field, void *of) {
    const void *none = NULL;
    bool no = false;
    if (result_field_is_figure(field)) {
        result_field_set_figure(field, of, NAN);
    } else if (field->kind == RESULT_FLAG) {
        memcpy((char *)of + field->offset, &no, sizeof no);
    } else if (result_field_has_member(field)) {
        memcpy((char *)of + field->offset, &none, sizeof none);
    }
}

void result_field_clear_all(const struct result_field *fields, void *of) {
    for (; fields->path; fields++) result_field_clear(fields, of);
}

static bool is_absent(const struct result_field *field, const void *of) {
    if (!result_field_has_member(field)) return true; /* its own rows write its members */
    if (result_field_is_figure(field)) return isnan(result_field_figure(field, of));
    if (field->kind == RESULT_FLAG) return !result_field_flag(field, of);
    return result_field_branch(field, of) == NULL; /* a text is a pointer, too */
}

bool result_field_is_inside(const struct result_field *field, const struct result_field *object) {
    size_t length = strlen(object->path);
    return field->path && strncmp(field->path, object->path, length) == 0 &&
           field->path[length] == '.';
}

bool result_field_is_null_object(const struct result_field *object, const void *of) {
    if (object->kind != RESULT_OPTIONAL && object->kind != RESULT_LATENCY) return false;
    for (const struct result_field *field = object + 1; result_field_is_inside(field, object);
         field++) {
        if (!is_absent(field, of)) return false;
    }
    return true;
}
