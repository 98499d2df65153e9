/* excuse: which grants an injection ends without the lock's fault, for the checks (measure/cell.h)
 * and for the record of operations (oplog). */
#ifndef BENCH_FAULTS_EXCUSE_H
#define BENCH_FAULTS_EXCUSE_H

#include "bench/faults/faults.h"

void fault_excuse_begin(struct faults *faults);

/* Connections of these clients ended between from_ns and to_ns, and so did the grants that live as long as a
 * connection or a session. to_ns: LB_NEVER = connections may end until fault_excuse_over is called. */
void fault_excuse_ended(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns,
                        int64_t to_ns);
/* The clients hear nothing from their servers from from_ns until fault_excuse_over, so their sessions
 * may end. Returns false if this lock's grants do not end with such a session. */
bool fault_excuse_silent(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns);
/* The excuse that began at from_ns ends. */
void fault_excuse_over(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns,
                       int64_t to_ns);

/* The same for the record of operations: oplog_mishap, or nothing where no record is kept. */
void fault_oplog(struct faults *faults, enum oplog_kind kind, uint32_t first, uint32_t count,
                 int64_t from_ns, int64_t to_ns);

#endif
