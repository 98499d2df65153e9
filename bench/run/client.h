/* client: one simulated user of a lock: a fiber that connects, loads, drains and goes. */
#ifndef BENCH_RUN_CLIENT_H
#define BENCH_RUN_CLIENT_H

#include "bench/plan/schedule.h"
#include "bench/run/shared.h"
#include "drivers/wait.h"

/* What the clients of one thread have in common. */
struct worker {
    struct shared *shared;
    struct worker_stats *stats;
    int thread;
    struct schedule *schedule; /* open loop: the next due slot, for whoever is free; NULL in closed loop */
};

struct client {
    struct worker *worker;
    struct client_stats *stats;
    struct lb_session session;
    struct lb_request request;
    struct lb_grant grant;
    struct lb_fiber *fiber; /* to be woken when the phase moves on */
    bool connected;
    bool unreachable;           /* the last try to connect anew failed */
    bool in_window;             /* counting commands and bytes */
    bool unsettled;             /* an attempt's outcome is unknown: something of it may still be held ... */
    int64_t unsettled_until_ns; /* ... until its lease ends at the latest */
    uint64_t commands_begin, bytes_begin;
    int64_t next_ns;   /* closed loop: when the next attempt is due; 0 = at once */
    int64_t ended_ns;  /* the last stamp taken */
    struct lb_rng rng; /* keys, hold, think */
    uint32_t key_index;
    size_t prefix_len;
    char key[96];
    void *memory; /* session state, lock state, grant data: one block */
    size_t memory_bytes;
};

/* Prepares client `index`; fiber comes later. 0, or -1 when out of memory. */
int client_init(struct client *client, struct worker *worker, uint32_t index);
void client_done(struct client *client);

/* The fiber's body. */
void client_run(void *client);

/* Takes the thread's processor time at the window's two ends; now_ns: a fresh stamp. Costs two comparisons.
 */
void worker_mark(struct worker *worker, int64_t now_ns);

#endif
