/* environment: describes the machine of a run for run.json, without names or paths of the
 * machine. */
#ifndef BENCH_RUN_ENVIRONMENT_H
#define BENCH_RUN_ENVIRONMENT_H

#include <jansson.h>

/* New reference; values that can't be read are null. NULL when out of memory. */
json_t *environment_json(void);

#endif
