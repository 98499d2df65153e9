/* account: turns the stamps of an attempt into its counts and figures, when it is over. Each attempt in the window has
 * one outcome: attempts = ok + busy + timeout + lost + unknown + refused + broken. Call these functions only on the
 * client's fiber. */
#ifndef BENCH_LOAD_ACCOUNT_H
#define BENCH_LOAD_ACCOUNT_H

#include "bench/load/client.h"

/* Counts and records the attempt of client->stamps. */
void account_attempt(struct client *client, enum lb_outcome outcome);

/* Adds the time since client->state_since_ns to the time of one state in client_stats, as far as it lies in the window:
 * the client was in this state for the whole time. until_ns: the present time, by a stamp of the caller. Only for what
 * lies between two attempts; account_attempt adds the times of an attempt. */
void client_spent(struct client *client, int64_t *state_ns, int64_t until_ns);

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
