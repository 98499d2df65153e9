/* environment: describes the machine of a run for run.json, without names or paths of the
 * machine. */
#ifndef BENCH_RUN_ENVIRONMENT_H
#define BENCH_RUN_ENVIRONMENT_H

#include <jansson.h>
#include <stddef.h>

/* New reference; values that can't be read are null. NULL when out of memory. */
json_t *environment_json(void);

/* The names of the checks of an environment that may spoil figures, separated by commas, those that are in text already
 * not again. */
void environment_add_advised(const json_t *environment, char *text, size_t size);

#endif
