/* fault_trial: which grants a fault put to the test. A fault that met a holder is a trial of exclusion only if somebody
 * could have met that holder:
 *   - A killed client: another client asked for its key afterwards (it must get it).
 *   - Any other fault of one process, or of its connections: another client asked while the holder was still inside.
 *   - A fault of servers, or of all connections: the servers answered while the holder was still inside and another
 *     client asked (if the fault took them away, or promoted a replica: they granted something since, or had been back
 *     for 100 ms); or they said later, by a release that succeeded, that they still knew the grant.
 *   - Servers that lose their majority, or the others of their cluster: the servers that are left must refuse, so it is
 *     enough that another client asked for a while when the holder was inside.
 * A holder that was told of its loss counts as inside for as long as the plan's mean hold. bench/CHECK.md says the same
 * to users. */
#ifndef BENCH_RUN_FAULT_TRIAL_H
#define BENCH_RUN_FAULT_TRIAL_H

#include "bench/run/recovery.h"

/* Fills in held, outlasted and tested of each fault. order: the book's holds by key and begin. 0, or -1 with err when
 * out of memory. */
int fault_trials_count(struct fault_log *log, const struct book *book, const uint32_t *order,
                       const struct shared *shared, struct lb_err *err);

#endif
