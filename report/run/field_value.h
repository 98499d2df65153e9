/* field_value: the value of a scalar of the result files, as a cell of a document and as JSON. */
#ifndef REPORT_RUN_FIELD_VALUE_H
#define REPORT_RUN_FIELD_VALUE_H

#include "report/doc/doc.h"
#include "results/format/field.h"

/* of: the struct that has the field. A figure that was not measured is an empty cell and a null. */
void field_cell(struct doc *doc, const struct result_field *field, const void *of);
/* NULL only for want of memory. */
json_t *field_json(const struct result_field *field, const void *of);

#endif
