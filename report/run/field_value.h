/* field_value: the value of a scalar of the result files, as a text, as CSV and as JSON. */
#ifndef REPORT_RUN_FIELD_VALUE_H
#define REPORT_RUN_FIELD_VALUE_H

#include "report/doc/doc.h"
#include "results/format/field.h"

/* Writes a figure for a sentence: a time in its own best unit, a share as per cent. text holds NUMBER_TEXT_MAX. Returns
 * text. */
char *field_figure_text(const struct result_field *field, double figure, char *text);

/* The value of a figure: NAN becomes null, INFINITY RESULT_NEVER. */
json_t *field_figure_json(double figure);

/* Writes a field of this table as CSV; of: the struct that has it. Empty within an object that is null. */
void field_csv(FILE *out, const struct result_field *fields, const struct result_field *field,
               const void *of);
/* The same, then null. NULL only when out of memory. */
json_t *field_json(const struct result_field *fields, const struct result_field *field,
                   const void *of);

#endif
