/* tidy: when all sessions of a stage have ended, removes from the server what was created for its
 * keys, then asks the lock what it left there. By a fresh session, in the calling thread. */
#ifndef BENCH_RUN_TIDY_H
#define BENCH_RUN_TIDY_H

#include "bench/load/shared.h"
#include "bench/run/stage.h"

/* ask: whether anything that is left would be an error. Fills stage->residue. */
void tidy(const struct shared *shared, struct stage *stage, bool ask);

#endif
