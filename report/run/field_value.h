/* field_value: a figure of the result files, as a text and as JSON. */
#ifndef REPORT_RUN_FIELD_VALUE_H
#define REPORT_RUN_FIELD_VALUE_H

#include "report/doc/doc.h"
#include "results/format/field.h"

/* Writes a figure for a sentence: a time in its own best unit, a share as per cent. text holds NUMBER_TEXT_MAX. Returns
 * text. */
char *field_figure_text(const struct result_field *field, double figure, char *text);

/* The value of a figure: NAN becomes null, INFINITY RESULT_NEVER. */
json_t *field_figure_json(double figure);

#endif
