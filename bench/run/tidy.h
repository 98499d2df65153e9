/* tidy: when all sessions of a stage have ended, removes from the server the things that were created for the stage's
 * keys, then asks the lock what it left there. It uses a new session, in the calling thread. */
#ifndef BENCH_RUN_TIDY_H
#define BENCH_RUN_TIDY_H

#include "bench/load/shared.h"
#include "bench/run/stage.h"

/* ask: asks the lock what is left, since nothing should be left, and fills stage->residue. guest: the server is at
 * --url; all keys of the stage are removed there, also keys that would end by themselves, but keys that the user named
 * stay as they are. */
void tidy(const struct shared *shared, struct stage *stage, bool ask, bool guest);

#endif
