/* field_value: see field_value.h. */
#include "report/run/field_value.h"

#include <math.h>
#include <stdlib.h>

#include "report/doc/escape.h"

char *field_figure_text(const struct result_field *field, double figure, char *text) {
    if (result_field_is_time(field)) return number_time_text(figure, text);
    if (result_field_is_share(field)) return number_share_text(figure, text);
    return number_text(figure, &number_plain, text);
}

json_t *field_figure_json(double figure) {
    return isinf(figure) ? json_string(RESULT_NEVER) : escape_json_figure(figure);
}

/* A flag has no value of its own for "not known": that is its object's. */
static bool is_unknown_flag(const struct result_field *fields, const struct result_field *field,
                            const void *of) {
    if (field->kind != RESULT_FLAG) return false;
    for (const struct result_field *object = fields; object < field; object++) {
        if (result_field_is_inside(field, object) && result_field_is_null_object(object, of))
            return true;
    }
    return false;
}

void field_csv(FILE *out, const struct result_field *fields, const struct result_field *field,
               const void *of) {
    if (result_field_is_figure(field)) {
        double figure = result_field_figure(field, of);
        if (isinf(figure)) fputs(RESULT_NEVER, out);
        escape_csv_figure(out, figure);
    } else if (is_unknown_flag(fields, field, of)) {
        return;
    } else if (field->kind == RESULT_FLAG) {
        fputs(result_field_flag(field, of) ? "true" : "false", out);
    } else {
        escape_csv(out, doc_or(result_field_text(field, of), ""));
    }
}

json_t *field_json(const struct result_field *fields, const struct result_field *field,
                   const void *of) {
    if (result_field_is_figure(field)) return field_figure_json(result_field_figure(field, of));
    if (is_unknown_flag(fields, field, of)) return json_null();
    if (field->kind == RESULT_FLAG) return json_boolean(result_field_flag(field, of));
    const char *text = result_field_text(field, of);
    bool is_count = field->kind == RESULT_TEXT_OR_COUNT && text && result_text_is_count(text);
    return is_count ? json_integer(strtoll(text, NULL, 10)) : escape_json(text);
}
