/* layout: makes a stage's common memory (shared.h): its shape by plan and lock, and one mapping. */
#ifndef BENCH_LOAD_LAYOUT_H
#define BENCH_LOAD_LAYOUT_H

#include "bench/load/shared.h"

/* Maps the memory and lays it out; the caller frees it with shared_free. part: NULL = this
 * process has all clients. NULL with err (LB_EXIT_MACHINE: too little memory, and which setting to
 * lower). */
struct shared *shared_new(const struct plan *plan, const struct plan_lock *lock,
                          struct lb_server *server, int clients, const struct part *part,
                          struct lb_err *err);

/* descriptors: the system limits the files that one process may open. This module raises the limit as far as the system
 * lets it, and never lowers it. */

/* Raises the limit on open files of this process, and so of the servers and workers that it starts from now on, to
 * `wanted` or as near to it as the system lets it. Returns the limit in force. */
uint64_t descriptors_raise(uint64_t wanted);

/* The limit that servers should have for so many clients: many keep a file or two besides each connection. */
uint64_t descriptors_of_servers(int clients);

#endif
