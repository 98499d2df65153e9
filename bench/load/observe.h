/* observe: functions that some stages call at each attempt beside the attempt itself. An observer records operations
 * (trace.h), keeps a guarded store (store.h), watches the order of grants (order.h) or counts the runs of a tick's job
 * (tick.h).
 *
 * A stage chooses its observers once (layout.c); most have none, and then an attempt pays for one
 * look at their number. An observer's functions run on the fiber of the client; `mine` is memory of
 * the observer's own for that client, zeroed at the begin. They must not fail. */
#ifndef BENCH_LOAD_OBSERVE_H
#define BENCH_LOAD_OBSERVE_H

#include "bench/load/client.h"

/* The end of a grant. */
struct parting {
    int64_t releasing_ns, released_ns;
    enum lb_outcome outcome;
    bool called;  /* release was called; false: the grant could not be released any more */
    bool learned; /* the client knew that its grant was lost, and left without writing */
};

/* Calls to the server at the two ends of the hold. Any outcome but LB_OK ends the hold. */
typedef enum lb_outcome observer_hold_fn(struct client *client, void *mine);

/* Each may be NULL. */
struct observer {
    size_t client_bytes;
    /* The client was granted, and has entered. */
    void (*entered)(struct client *client, void *mine, int64_t started_ns, int64_t acquired_ns);
    /* The attempt ended without a grant. */
    void (*refused)(struct client *client, void *mine, int64_t started_ns, int64_t returned_ns,
                    enum lb_outcome outcome);
    observer_hold_fn *begin_hold, *end_hold;
    /* An inner acquire or release returned; request.held is still as before. */
    void (*reentered)(struct client *client, void *mine, bool release, int64_t begin_ns,
                      enum lb_outcome outcome);
    /* A renewal moved grant.lease_end_ns. */
    void (*renewed)(struct client *client, void *mine);
    /* The client was told about its grant (hold.told, hold.told_ns). */
    void (*told)(struct client *client, void *mine);
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

#endif
