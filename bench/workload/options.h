/* options: the drivers' own options (drivers/option.h): structs filled from tables, then from what
 * people wrote.
 *
 * All functions take a table that ends with a NULL name; a NULL table is an empty one. */
#ifndef BENCH_WORKLOAD_OPTIONS_H
#define BENCH_WORKLOAD_OPTIONS_H

#include <jansson.h>

#include "bench/base/err.h"
#include "bench/base/nearest.h"
#include "bench/workload/arena.h"
#include "drivers/option.h"

/* A zeroed struct of `bytes` filled with the defaults; the arena's. NULL with err: no memory, or a
 * default that its own table refuses, which is an error in the driver. */
void *options_new(const struct lb_option *table, size_t bytes, struct arena *arena,
                  struct lb_err *err);

/* The entry of a name; NULL if there is none. */
const struct lb_option *options_find(const struct lb_option *table, const char *name);

/* Shows all names. */
void options_offer(const struct lb_option *table, struct nearest *nearest);

/* Reads text into the entry's place. 0, or -1 with err: what is wrong with the value. Texts become
 * the arena's. */
int option_read(const struct lb_option *option, void *options, const char *text,
                struct arena *arena, struct lb_err *err);

/* What may be written: "a whole number, 1 to 100". Returns text. */
char *option_allowed(const struct lb_option *option, char *text, size_t size);

/* The type in a word: "int", "duration", "real", "bool", "choice", "text". */
const char *option_type(const struct lb_option *option);

/* The value as text that option_read takes. Returns text. */
char *option_text(const struct lb_option *option, const void *options, char *text, size_t size);

/* Puts each value into object: numbers, durations in ns under "<name>_ns", texts. -1 when out of
 * memory. */
int options_json(const struct lb_option *table, const void *options, json_t *object);

/* The table as an array of {name, type, default, allowed, help}: new reference, NULL when out of
 * memory. */
json_t *options_table_json(const struct lb_option *table);

#endif
