/* layout: makes a stage's common memory (shared.h): its shape by plan and lock, and one mapping. */
#ifndef BENCH_LOAD_LAYOUT_H
#define BENCH_LOAD_LAYOUT_H

#include "bench/load/shared.h"

/* Maps the memory and lays it out; the caller frees it with shared_free. host: NULL = one machine
 * does everything. NULL with err (LB_EXIT_MACHINE: too little memory, and which setting to
 * lower). */
struct shared *shared_new(const struct plan *plan, const struct plan_lock *lock,
                          struct lb_server *server, int clients, const struct load_host *host,
                          struct lb_err *err);

#endif
