/* guest: lockbench as a guest on a server that it did not start: what it left there is found and
 * removed, through a session that makes nothing. */
#ifndef BENCH_RUN_GUEST_H
#define BENCH_RUN_GUEST_H

#include "bench/run/place.h"
#include "drivers/clean.h"

/* Reaches the server of a backend at a URL and cleans up there. Returns 0, or -1 with err. To be called
 * on the main thread, while there is no other thread. */
int guest_clean(const struct place_url *at, struct lb_cleaning *cleaning, struct lb_err *err);

#endif
