/* tidy: when all sessions of a stage have ended: takes away what was put on the server for its
 * keys, then asks the lock what of it is left there. By a fresh session, in the calling thread. */
#ifndef BENCH_RUN_TIDY_H
#define BENCH_RUN_TIDY_H

#include "bench/load/shared.h"
#include "bench/run/stage.h"

/* ask: whether anything left would be a fault. Fills stage->residue. */
void tidy(const struct shared *shared, struct stage *stage, bool ask);

#endif
