/* observe: what some stages do at each attempt beside the attempt itself: they record its operations, keep a guarded store
 * or count the runs of a tick's job. */
#ifndef BENCH_LOAD_OBSERVE_H
#define BENCH_LOAD_OBSERVE_H

#include "bench/load/client.h"
#include "bench/oplog/oplog.h"
#include "results/format/run_read.h"

/* To be called on the client's fiber, if shared->observed. */

/* The client was granted, and has entered. */
void observe_entered(struct client *client);
/* The attempt ended without a grant. */
void observe_refused(struct client *client, enum lb_outcome outcome);
/* An inner acquire or release returned; request.held is still as before. */
void observe_reentered(struct client *client, bool release, int64_t begin_ns,
                       enum lb_outcome outcome);
/* A renewal moved grant.lease_end_ns. */
void observe_renewed(struct client *client);
/* The client is about to leave, and believes that it still holds. */
void observe_leaving(struct client *client);

/* The grant is over; to be called also if it is evidence: it is marked, or was lost. learned: the client knew of the
 * loss, and left without writing. over: the session that the grant lived by is over. */
void observe_ended(struct client *client, enum lb_outcome outcome, bool learned, bool over);

/* tick: a job that should run once at each tick (load.tick). Every client tries at each tick of one clock; each client
 * that is granted runs the job. The figure is the number of runs for each tick. A job can run twice although the lock
 * excludes correctly: a late client asks for the lock after the first holder has released it. */

/* After the load: the number of ticks that lie wholly in the window, and how many of them had no run of the job, one run,
 * or several. */
void tick_sum(struct run_stage *result, const struct shared *shared);

/* trace: writes the clients' operations into the stage's oplog (bench/oplog): all of them where the stage is recorded, else
 * the grants that are evidence: those that are marked (enum mark), and those that were lost. */

/* The rules by which the history is judged, with the ends of the window as they are now. */
struct oplog_rules trace_rules(const struct shared *shared);

/* To be called at each heartbeat of a thread, before the beat is stored: records a stall that may end sessions. Where the
 * stage is recorded and no session depends on it, also one of more than half a lease and 50 ms, which explains why a
 * waiter got a free key late. */
void trace_beat(struct shared *shared, int thread, int64_t now_ns);

#endif
