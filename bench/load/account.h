/* account: turns the stamps of an attempt into its counts and figures, when it is over. Each attempt in the window has
 * one outcome: attempts = ok + busy + timeout + lost + unknown + refused + broken. Call these functions only on the
 * client's fiber. */
#ifndef BENCH_LOAD_ACCOUNT_H
#define BENCH_LOAD_ACCOUNT_H

#include "bench/load/client.h"

/* Counts and records the attempt of client->stamps. */
void account_attempt(struct client *client, enum lb_outcome outcome);

/* How much of a time lies in the window. */
static inline int64_t in_window_ns(int64_t from_ns, int64_t until_ns, int64_t begin_ns,
                                   int64_t end_ns) {
    if (from_ns < begin_ns) from_ns = begin_ns;
    if (until_ns > end_ns) until_ns = end_ns;
    return until_ns > from_ns ? until_ns - from_ns : 0;
}

/* Adds the time since the last such call to the time of one state in client_stats, as far as it lies in the
 * window. The client was in this state for the whole time. until_ns: the present time, by a stamp of the caller. */
static inline void client_spent(struct client *client, int64_t *state_ns, int64_t until_ns) {
    const struct shared *shared = client->worker->shared;
    *state_ns += in_window_ns(client->state_since_ns, until_ns, stage_begin_ns(shared),
                              stage_end_ns(shared));
    client->state_since_ns = until_ns;
}

/* The wait of client->stamps is over, until acquired_ns. One that began in the warm-up and ends in the window counts among
 * the longest with its whole length, because the longest waits are the likeliest to begin before the window. Noted at once:
 * the client may be killed while it holds. */
static inline void client_waited(struct client *client) {
    int64_t ended_ns = client->stamps.acquired_ns, waited_ns = ended_ns - client->stamps.started_ns;
    if (ended_ns >= stage_begin_ns(client->worker->shared) &&
        waited_ns > client->stats->max_wait_ns)
        client->stats->max_wait_ns = waited_ns;
}

#endif
