/* reference: the tables of fields as text for people and as JSON Schemas for programs. */
#ifndef RESULTS_FORMAT_REFERENCE_H
#define RESULTS_FORMAT_REFERENCE_H

#include <jansson.h>
#include <stdio.h>

#include "results/format/field.h"

/* All kinds of result files; ended by NULL. */
extern const struct result_document *const result_documents[];

/* The next row of a table, past the members of a latency object, which are described once for all of them. */
const struct result_field *reference_next(const struct result_field *row);

/* Markdown: one block for each value of each document, in lines of at most 120 columns. */
void reference_write(FILE *out);

/* The JSON Schema (draft 2020-12) of the files of this build: every path is there, and no other.
 * New reference; NULL when out of memory. */
json_t *reference_schema(const struct result_document *document);

#endif
