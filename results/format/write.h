/* write: results as JSON: what the tables of fields say, written from the structs that they name,
 * and files that are never half written.
 *
 * It computes nothing and refuses nothing: what is absent in a struct (NAN, NULL) becomes null. */
#ifndef RESULTS_FORMAT_WRITE_H
#define RESULTS_FORMAT_WRITE_H

#include <jansson.h>
#include <time.h>

#include "bench/base/err.h"
#include "results/format/field.h"
#include "results/format/run_read.h"

#define RESULT_DATE_MAX 32

/* The object that a table describes, from its struct: every row's path is there, in the order of the
 * table. New reference; NULL when out of memory. */
json_t *result_fields_json(const struct result_field *fields, const void *of);

/* A whole document: "schema", then what its table describes. New reference; NULL when out of
 * memory. */
json_t *result_document_json(const struct result_document *document, const void *of);

/* A stage as an element of run.json's .stages. New reference; NULL when out of memory. */
json_t *run_stage_json(const struct run_stage *stage);

/* Gives what a stage names, but does not own, to the stage: it lives as long as stage->kept, which
 * the owner of the stage json_decrefs. keep_text makes a text like printf; keep takes over one
 * reference. Both return what they keep, or NULL when out of memory. */
__attribute__((format(printf, 2, 3))) const char *run_stage_keep_text(struct run_stage *stage,
                                                                      const char *format, ...);
json_t *run_stage_keep(struct run_stage *stage, json_t *value);

/* A moment as results have it, "2026-11-21T20:12:23Z"; returns text. */
const char *result_date(time_t moment, char text[RESULT_DATE_MAX]);
/* Now, the same way. New reference; NULL when out of memory. */
json_t *result_now_json(void);

/* Writes JSON to a file in one step: into PATH.new, to the disk, then renamed. 0, or -1 with err
 * (LB_EXIT_MACHINE); then the file is as it was. */
int result_write_file(const json_t *json, const char *path, struct lb_err *err);
/* The same without the renaming: a file that is cut off stays so. */
int result_write_plain(const json_t *json, const char *path, struct lb_err *err);

#endif
