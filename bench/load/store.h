/* store: the guarded store of a stage, as its clients use it. The fenced value is in shared memory or in the lock's
 * own backend; the unfenced value is always in memory.
 *
 * In memory the store needs no call: the client enters and leaves it together with its cells. In the backend each
 * step is a round trip and belongs to the hold, which begins with the installation of the token and ends with the
 * write.
 *
 * A sale (check.stock): the backend's value is a stock of goods. Each holder reads it and, if it is above 0, writes
 * it one less; so it is never below 0. Two holders at once sell the same piece; then more pieces were sold than are
 * missing in the end. A lock without tokens can sell too. Where the store is part of the lock's transaction, each
 * sale leaves an order there too, so in the end there are as many orders as goods are missing, whatever happened. */
#ifndef BENCH_LOAD_STORE_H
#define BENCH_LOAD_STORE_H

#include "bench/load/observe.h"
#include "drivers/store.h"

/* Fills shape->store: which guarded store a stage of this plan and lock has. To be called once the entry kind and
 * cell_count are known. Only exclusive grants write, so stages of semaphores, latches and optimistic locks have no
 * store. */
void store_shape(struct shared *shape);

/* Enter and leave the store with the client's grant, in stages with a store in memory, and in stages with a store in
 * the backend. */
extern const struct observer store_in_memory, store_in_backend;

/* Before the load, by the first client: makes the backend's store ready and fills it with the
 * stock, if the plan has one. 0, or -1 with err. */
int store_prepare(const struct shared *shared, struct lb_session *session, struct lb_err *err);

/* When all sessions have ended, by a fresh one: reads the values into shared->store.values, as the
 * number of writes that they show, and the numbers of orders, and deletes both from the server. 0, or -1 with err. */
int store_collect(struct shared *shared, struct lb_session *session, struct lb_err *err);

/* Whether the sales of a stage leave orders. shape: as store_shape has completed it. */
bool store_keeps_orders(const struct shared *shape);

/* A cell's share of its key's stock: equal shares, and the first cell gets the remainder. */
uint64_t store_stock_of_cell(const struct shared *shared, uint32_t cell);

#endif
