/* trace: a client's operations, as the stage's history has them (bench/history). Every call but the
 * first two is for a client whose grant is recorded, or a stage with a history; without one they
 * cost a look at a flag. */
#ifndef BENCH_LOAD_TRACE_H
#define BENCH_LOAD_TRACE_H

#include "bench/load/client.h"
#include "bench/oplog/file.h"

/* Whether a stage of this plan has a history: it asks for one, and the lock holds something for a
 * time. */
bool trace_applies(const struct plan *plan, const struct lb_lock *lock);

/* What the history is to be judged by; the window's ends as they are now. */
struct oplog_rules trace_rules(const struct shared *shared);

/* The attempt was granted, or was not. */
void trace_granted(struct client *client, int64_t started_ns, int64_t acquired_ns);
void trace_refused(struct client *client, int64_t started_ns, int64_t returned_ns,
                   enum lb_outcome outcome);
/* An inner acquire or release of a grant with re-entry; before request.held has followed. */
void trace_inner(struct client *client, bool release, int64_t begin_ns, enum lb_outcome outcome);
/* A renewal moved grant.lease_end_ns. */
void trace_renewed(struct client *client);
/* The client was told about its grant (client->told, told_ns). */
void trace_told(struct client *client);
/* The grant is over. client->went: how it left, if not by a release that was called. */
void trace_released(struct client *client, int64_t releasing_ns, int64_t released_ns,
                    enum lb_outcome outcome);
/* A thread's beat, before its pulse has it: a stall is recorded where sessions end for want of
 * beats. */
void trace_beat(struct shared *shared, int thread, int64_t now_ns);

#endif
