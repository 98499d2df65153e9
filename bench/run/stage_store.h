/* stage_store: what a stage's guarded store has seen, for run.json and for people. */
#ifndef BENCH_RUN_STAGE_STORE_H
#define BENCH_RUN_STAGE_STORE_H

#include <jansson.h>

#include "bench/load/shared.h"
#include "bench/run/stage.h"

/* When all clients have left, and the backend's values, if any, were collected. */
void stage_store_sum(struct stage *stage, const struct shared *shared);

/* .stages[].store: null without one. */
json_t *store_json(const struct stage *stage);

/* What is to be read beside the figures: false if there is nothing. */
bool store_warning(const struct stage *stage, char *text, size_t size);

#endif
