/* environment: the machine that a run was measured on, as run.json has it. No name or path of the
 * machine. */
#ifndef BENCH_RUN_ENVIRONMENT_H
#define BENCH_RUN_ENVIRONMENT_H

#include <jansson.h>

/* New reference; what can't be read is null in it. NULL when out of memory. */
json_t *environment_json(void);

#endif
