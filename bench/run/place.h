/* place: a backend made ready for a run: its servers started or reached, opened, and asked what
 * they are. */
#ifndef BENCH_RUN_PLACE_H
#define BENCH_RUN_PLACE_H

#include <jansson.h>
#include <signal.h>

#include "bench/run/place_wire.h"
#include "bench/servers/topo.h"
#include "bench/workload/plan.h"
#include "drivers/facts.h"

/* "--url backend=URL". */
struct place_url {
    const struct lb_backend *backend;
    const char *url;
};

struct place_ask {
    const struct plan_lock
        *lock; /* any of the backend's: it lends its options for the first words with the server */
    const char *url;        /* --url's, or NULL: start our own, or embedded */
    const char *topology;   /* which of the lock's to start; NULL = its first */
    const char *topologies; /* the folder compose/local */
    const char *durability; /* "default", "none", "sync" */
    bool
        wired; /* lead clients, and servers among themselves, through a wire (wire.h), as far as the
                   topology's script allows; only to servers of our own */
    /* start servers of our own so that their wall clocks can be stepped, where they can */
    bool clock;
    const volatile sig_atomic_t *interrupts;
};

struct place {
    struct lb_server server;
    struct topo *topo; /* NULL: embedded, or not ours */
    const char *urls[TOPO_NODES_MAX];
    char dir[512]; /* embedded backends' own folder; "" = none */
    char topology[64], durability[256];
    const char *durability_class; /* the server's: a word of bench/base/durability.h, or NULL */
    struct lb_facts facts;
    const char *started_by;    /* "lockbench", "url" or "embedded" */
    struct place_wire *wiring; /* NULL: not asked for */
    bool in_use; /* by threads that did not come back: place_close leaves its memory to them */
};

/* Starts, opens, waits until it answers. NULL with err. Call on the main thread, while there is no
 * other. */
struct place *place_open(const struct place_ask *ask, struct lb_err *err);
/* Closes and, if ours, stops. NULL is fine. */
void place_close(struct place *place);

/* What a lock's own state survives there, a word of bench/base/durability.h: its own class if it has
 * one, else its server's. NULL = nobody states it (--url). */
const char *place_durability_class(const struct place *place, const struct lb_lock *lock);

/* Its element of run.json's .servers: new reference, NULL when out of memory. No password in it. */
json_t *place_json(const struct place *place);

#endif
