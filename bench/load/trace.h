/* trace: the observer that writes the clients' operations into the stage's record of operations (bench/oplog). */
#ifndef BENCH_LOAD_TRACE_H
#define BENCH_LOAD_TRACE_H

#include "bench/load/observe.h"
#include "bench/oplog/file.h"

/* Whether a stage of this plan has a history: the plan asks for one, or clients of several hosts share
 * keys (split); and clients of this lock hold it for a time. */
bool trace_applies(const struct plan *plan, const struct lb_lock *lock, bool split);

/* The rules by which the history is judged, with the ends of the window as they are now. */
struct oplog_rules trace_rules(const struct shared *shared);

/* Records the operations of a client, of stages with a record. */
extern const struct observer trace_observer;

/* To be called at each heartbeat of a thread, before the beat is stored: records a stall of more than half a lease (and of
 * more than 50 ms where no session depends on it). It may end sessions, and explains why a waiter got a free key late. */
void trace_beat(struct shared *shared, int thread, int64_t now_ns);

#endif
