/* choose: draws the key, or the keys, of an attempt, and whether it is a reader. */
#ifndef BENCH_LOAD_CHOOSE_H
#define BENCH_LOAD_CHOOSE_H

#include "bench/load/client.h"

/* Draws the attempt's key, or keys, into its request. */
void client_choose(struct client *client);

#endif
