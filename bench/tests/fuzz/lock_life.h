/* lock_life: takes one lock through all calls of its driver, whatever the server answers: a session is opened, the server is
 * described and pinged, the lock is acquired, renewed, released and settled, what is left is
 * looked for and removed. It aborts where a call breaks its contract: an outcome that is none, a failure without a
 * reason. */
#ifndef BENCH_FUZZ_LOCK_LIFE_H
#define BENCH_FUZZ_LOCK_LIFE_H

#include "bench/tests/fuzz/fuzz.h"
#include "bench/tests/fuzz/fuzzed_server.h"
#include "drivers/driver.h"

void lock_life(const struct lb_lock *lock, const char *url);

#endif
