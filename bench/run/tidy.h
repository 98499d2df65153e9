/* tidy: when all sessions of a stage have ended, removes from the server what was created for its
 * keys, then asks the lock what it left there. By a fresh session, in the calling thread. */
#ifndef BENCH_RUN_TIDY_H
#define BENCH_RUN_TIDY_H

#include "bench/load/shared.h"
#include "bench/run/stage.h"

/* ask: anything that is left would be an error, so the lock is asked, and stage->residue filled. guest: on a server
 * at --url; there all keys of the stage are removed, also those that end by themselves, but keys that people named
 * are left as they are. */
void tidy(const struct shared *shared, struct stage *stage, bool ask, bool guest);

#endif
