/* life: the course of a client from its first connection to its last. */
#ifndef BENCH_LOAD_LIFE_H
#define BENCH_LOAD_LIFE_H

#include "bench/load/client.h"

/* Prepares client `index` of a session; fiber comes later. 0, or -1 when out of memory. */
int client_init(struct client *client, struct worker *worker, struct session *session,
                uint32_t index);
void client_done(struct client *client);

/* The fiber's body; client: a struct client. */
void client_run(void *client);

#endif
