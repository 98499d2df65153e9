/* observe: functions that some stages call at each attempt beside the attempt itself. An observer records operations, keeps a
 * guarded store or counts the runs of a tick's job.
 *
 * A stage chooses its observers once (layout.c); most have none, and then an attempt pays for one
 * look at their number. An observer's functions run on the fiber of the client; `mine` is memory of
 * the observer's own for that client, zeroed at the begin. They must not fail. */
#ifndef BENCH_LOAD_OBSERVE_H
#define BENCH_LOAD_OBSERVE_H

#include "bench/load/client.h"
#include "bench/oplog/oplog.h"
#include "results/format/run_read.h"

/* The end of a grant. */
struct parting {
    int64_t releasing_ns; /* release was called, or the client left, then or later */
    int64_t released_ns;
    enum lb_outcome outcome;
    bool learned; /* the client knew that its grant was lost, and left without writing */
    bool over;    /* the session that the grant lived by is over */
};

/* Each may be NULL. */
struct observer {
    size_t client_bytes;
    /* The client was granted, and has entered. */
    void (*entered)(struct client *client, void *mine, int64_t started_ns, int64_t acquired_ns);
    /* The attempt ended without a grant. */
    void (*refused)(struct client *client, void *mine, int64_t started_ns, int64_t returned_ns,
                    enum lb_outcome outcome);
    /* An inner acquire or release returned; request.held is still as before. */
    void (*reentered)(struct client *client, void *mine, bool release, int64_t begin_ns,
                      enum lb_outcome outcome);
    /* A renewal moved grant.lease_end_ns. */
    void (*renewed)(struct client *client, void *mine);
    /* The client is about to leave, and believes that it still holds. */
    void (*leaving)(struct client *client, void *mine);
    /* The grant is over. */
    void (*released)(struct client *client, void *mine, const struct parting *parting);
};

static inline bool is_observed(const struct client *client) {
    return __builtin_expect(client->worker->shared->observer_count > 0, 0);
}

/* Calls the named function of each observer that has this function. */
#define OBSERVERS_CALL(client, function, ...)                                                      \
    do {                                                                                           \
        const struct shared *stage_shared = (client)->worker->shared;                              \
        for (int nth = 0; nth < stage_shared->observer_count; nth++) {                             \
            if (!stage_shared->observers[nth]->function) continue;                                 \
            stage_shared->observers[nth]->function((client), (client)->observing[nth],             \
                                                   ##__VA_ARGS__);                                 \
        }                                                                                          \
    } while (0)

/* tick: a job that should run once at each tick (load.tick). Every client tries at each tick of one clock; each client
 * that is granted runs the job. The figure is the number of runs for each tick. A job can run twice although the lock
 * excludes correctly: a late client asks for the lock after the first holder has released it. */

/* The number of ticks that a stage of this plan has, from the begin of the load; 0 = the plan has no ticks. */
uint32_t tick_count(const struct plan *plan);

/* Set when the client's next attempt is due: tick_first at the first tick, tick_next at the first tick after the
 * client's last attempt. A client that is busy at a tick leaves the tick out. */
void tick_first(struct client *client);
void tick_next(struct client *client);

/* Counts grants as runs of the job of the client's tick. */
extern const struct observer tick_observer;

/* After the load: the number of ticks that lie wholly in the window, and how many of them had no run of the job, one run,
 * or several. */
void tick_sum(struct run_stage *result, const struct shared *shared);

/* trace: writes the clients' operations into the stage's oplog (bench/oplog): all of them where the stage is recorded, else
 * the grants that are evidence: those that are marked (enum mark), and those that were lost. */

/* Whether the operations of this lock can be judged: its clients hold it for a time. */
bool trace_applies(const struct lb_lock *lock);

/* The rules by which the history is judged, with the ends of the window as they are now. */
struct oplog_rules trace_rules(const struct shared *shared);

/* Records the operations of a client, of stages that are recorded. */
extern const struct observer trace_observer;

/* The end of a grant with marks, or of one that was lost: records it as evidence, if its stage is not recorded. Else
 * corrects the parting, which trace_observer records. */
void trace_marked(struct client *client, int64_t started_ns, int64_t acquired_ns,
                  struct parting *parting);

/* To be called at each heartbeat of a thread, before the beat is stored: records a stall that may end sessions. Where the
 * stage is recorded and no session depends on it, also one of more than half a lease and 50 ms, which explains why a
 * waiter got a free key late. */
void trace_beat(struct shared *shared, int thread, int64_t now_ns);

/* store: the guarded store of a stage (bench/measure/store.h), which a client enters and leaves together with its
 * cells. */

/* Enters and leaves the store with the client's grant. Only exclusive grants write, so stages of semaphores and optimistic
 * locks have no store. */
extern const struct observer store_observer;

#endif
