/* write: see write.h. */
#include "results/format/write.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/output.h"

#define WHOLE_BELOW                                                                                \
    0x1p63 /* an integer of JSON has 64 bits here; a greater figure is written with an exponent */

/* ---- values ---- */

static json_t *branch_json(const json_t *branch) {
    return branch ? json_incref((json_t *)(uintptr_t)branch) : json_null();
}

static json_t *text_or_count_json(const char *text) {
    if (!text) return json_null();
    bool is_count = *text && strspn(text, "0123456789") == strlen(text);
    return is_count ? json_integer(strtoll(text, NULL, 10)) : json_string(text);
}

static json_t *figure_json(enum result_kind kind, double figure) {
    if (isnan(figure)) return json_null();
    if (kind == RESULT_YES_NO) return json_boolean(figure != 0);
    if (kind == RESULT_NS_OR_NEVER && isinf(figure)) return json_string(RESULT_NEVER);
    bool whole = kind == RESULT_COUNT || kind == RESULT_NS || kind == RESULT_NS_OR_NEVER;
    return whole && fabs(figure) < WHOLE_BELOW ? json_integer((json_int_t)figure)
                                               : json_real(figure);
}

static json_t *list_json(const struct result_field *field, const void *of) {
    int count;
    const char *list = result_field_list(field, of, &count);
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        const char *item = list + (size_t)i * field->item_bytes;
        if (json_array_append_new(array, result_fields_json(result_field_items(field), item)) == 0)
            continue;
        json_decref(array);
        return NULL;
    }
    return array;
}

static json_t *field_json(const struct result_field *field, const void *of) {
    if (result_field_is_figure(field))
        return figure_json(field->kind, result_field_figure(field, of));
    switch (field->kind) {
    case RESULT_TEXT:
    case RESULT_HDR:
        return result_field_text(field, of) ? json_string(result_field_text(field, of))
                                            : json_null();
    case RESULT_TEXT_OR_COUNT:
        return text_or_count_json(result_field_text(field, of));
    case RESULT_FLAG:
        return json_boolean(result_field_flag(field, of));
    case RESULT_OBJECT:
    case RESULT_OPTIONAL:
    case RESULT_LATENCY:
        return json_object();
    case RESULT_ROWS:
        return list_json(field, of);
    default:
        return branch_json(result_field_branch(field, of));
    }
}

/* ---- objects ---- */

/* Sets a member, and takes over the value, which may be NULL (out of memory). */
static int put_at(json_t *root, const char *path, json_t *value) {
    char part[64];
    json_t *object = root;
    for (const char *dot; object && (dot = strchr(path, '.')); path = dot + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(dot - path), path);
        object = json_object_get(object, part);
    }
    return json_object_set_new(object, path, value); /* fails on NULL, and drops value */
}

json_t *result_fields_json(const struct result_field *fields, const void *of) {
    json_t *root = json_object();
    int failed = 0;
    for (const struct result_field *field = fields; field->path && !failed;) {
        const struct result_field *object = field++;
        if (!result_field_is_null_object(object, of)) {
            failed = put_at(root, object->path, field_json(object, of));
            continue;
        }
        failed = put_at(root, object->path, json_null());
        while (result_field_is_inside(field, object)) field++;
    }
    if (!failed) return root;
    json_decref(root);
    return NULL;
}

json_t *run_stage_json(const struct run_stage *stage) {
    return result_fields_json(run_stage_fields(), stage);
}

/* ---- what a stage owns ---- */

json_t *run_stage_keep(struct run_stage *stage, json_t *value) {
    if (!stage->kept) stage->kept = json_array();
    return json_array_append_new(stage->kept, value) == 0 ? value : NULL;
}

const char *run_stage_keep_text(struct run_stage *stage, const char *format, ...) {
    va_list args;
    va_start(args, format);
    json_t *text = json_vsprintf(format, args);
    va_end(args);
    return json_string_value(run_stage_keep(stage, text));
}

/* ---- dates and files ---- */

const char *result_date(time_t moment, char text[RESULT_DATE_MAX]) {
    struct tm utc;
    strftime(text, RESULT_DATE_MAX, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&moment, &utc));
    return text;
}

json_t *result_now_json(void) {
    char text[RESULT_DATE_MAX];
    return json_string(result_date(time(NULL), text));
}

static int cannot_write_result(struct lb_err *err, const char *path) {
    return err_set(err, LB_EXIT_MACHINE, "cannot write %s: %s", path, strerror(errno));
}

/* Writes the JSON to the disk. 0, or -1 with errno. */
static int dump(const json_t *json, FILE *file) {
    int failed = json_dumpf(json, file, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    failed |= fputc('\n', file) == EOF;
    failed |= fflush(file) != 0;
    return failed ? -1 : fsync(fileno(file));
}

/* fresh: NULL for a file that is written in its place. */
static int write_json(const json_t *json, const char *path, struct output_file *fresh,
                      struct lb_err *err) {
    FILE *file = fresh ? output_begin(fresh, path) : fopen(path, "we");
    if (!file) return cannot_write_result(err, path);
    int failed = dump(json, file);
    if (failed) cannot_write_result(err, path);
    if ((fresh ? output_replace(fresh, file, path, !failed) : fclose(file)) != 0 && !failed)
        failed = cannot_write_result(err, path);
    return failed;
}

int result_write_plain(const json_t *json, const char *path, struct lb_err *err) {
    return write_json(json, path, NULL, err);
}

int result_write_file(const json_t *json, const char *path, struct lb_err *err) {
    struct output_file fresh;
    return write_json(json, path, &fresh, err);
}
