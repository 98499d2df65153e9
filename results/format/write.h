/* write: writes results as JSON, from the structs that the tables of fields describe, and files
 * that are never half written.
 *
 * This code computes nothing and refuses nothing: an absent value of a struct (NAN, NULL) becomes
 * null. */
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

/* A stage as an element of run.json's .stages. New reference; NULL when out of memory. */
json_t *run_stage_json(const struct run_stage *stage);

/* Make a stage own a value that it names: the value lives as long as stage->kept, which the owner
 * of the stage frees with json_decref. keep_text makes a text like printf; keep takes over one
 * reference. Both return the value, or NULL when out of memory. */
__attribute__((format(printf, 2, 3))) const char *run_stage_keep_text(struct run_stage *stage,
                                                                      const char *format, ...);
json_t *run_stage_keep(struct run_stage *stage, json_t *value);

/* Writes a moment in the format of results, "2026-11-21T20:12:23Z". Returns text. */
const char *result_date(time_t moment, char text[RESULT_DATE_MAX]);
/* The present time in this format. New reference; NULL when out of memory. */
json_t *result_now_json(void);

/* Writes JSON to a file in one step: into a file beside it, to the disk, then renamed. 0, or -1 with err
 * (LB_EXIT_MACHINE); and then the old file is unchanged. */
int result_write_file(const json_t *json, const char *path, struct lb_err *err);
/* The same without the renaming: if writing is interrupted, the file stays cut off. */
int result_write_plain(const json_t *json, const char *path, struct lb_err *err);

#endif
