/* field_value: see field_value.h. */
#include "report/run/field_value.h"

#include <math.h>

#include "report/doc/escape.h"

char *field_figure_text(const struct result_field *field, double figure, char *text) {
    if (result_field_is_time(field)) return number_time_text(figure, text);
    if (result_field_is_share(field)) return number_share_text(figure, text);
    if (field->kind == RESULT_COUNT) return number_count_text(figure, text);
    return number_text(figure, &number_plain, text);
}

json_t *field_figure_json(double figure) {
    return isinf(figure) ? json_string(RESULT_NEVER) : escape_json_figure(figure);
}
