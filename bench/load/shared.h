/* shared: the memory that the clients, the worker threads or processes and the supervisor of one
 * stage share.
 *
 * It is one mapping, made before the workers start, so that it works in the same way for threads
 * and for forked processes, and so that the measurements of a killed worker survive. Each part has
 * one writer, or is atomic. */
#ifndef BENCH_LOAD_SHARED_H
#define BENCH_LOAD_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/err.h"
#include "bench/measure/cell.h"
#include "bench/measure/recorder.h"
#include "bench/measure/stall.h"
#include "bench/measure/store.h"
#include "bench/oplog/oplog.h"
#include "bench/workload/plan.h"
#include "bench/workload/schedule.h"
#include "bench/workload/stages.h"
#include "drivers/driver.h"
#include "drivers/injected.h"

#define KEY_TEXT_MAX (PLAN_KEY_NAME_MAX + 1)

/* The clients of a run may be shared out over several machines (bench/stage/peers.h). The process of each part has a
 * mapping of the same layout for all clients, and fills in its own threads; one more process has no clients, and sums
 * up. */
struct part {
    int count; /* of parts; 0 = this process has all clients */
    int self;  /* 0 .. count - 1; PART_NONE = this process sums up */
    /* threads and processes of all parts together, multiples of count; 0 = shared_new chooses */
    int threads, processes;
};
#define PART_NONE (-1)

/* The kind of memory that a client with a grant enters (attempt.c), by how many clients may be in it. */
enum entry_kind {
    ENTRY_CELL,    /* one at a time */
    ENTRY_READERS, /* readers together, or a writer */
    ENTRY_PERMITS  /* up to a bound */
};

/* The phases of a stage. The supervisor moves from one to the next; clients wait at PING and at
 * CLOSE. */
enum phase {
    PHASE_CONNECT, /* every client opens its session */
    PHASE_PING,    /* the first client pings, alone */
    PHASE_GO,      /* load: warm-up, window, drain: by the clock */
    PHASE_PING2,   /* all have drained: the first client pings again */
    PHASE_CLOSE    /* sessions end */
};

/* One client's own figures; the client writes, others read at the end. */
struct client_stats {
    /* When the client began to wait for waiting_key, by lb_now(); 0 = it does not wait. A client whose try was busy
     * still waits. stage/stuck.c finds stuck keys by this time. Each attempt writes this member, and most of the next. */
    _Alignas(64) _Atomic int64_t waiting_ns;
#define COUNT_MEMBERS
#define CLIENT_COUNT(type, member, combine) type member;
#include "bench/load/counts.def"
#undef COUNT_MEMBERS
    /* The client is in the release call of waiting_key. The key may become free only when that call returns. */
    _Atomic bool releasing;
    /* It was killed, or will be now. The supervisor writes this one, and the next. */
    _Atomic bool doomed;
    bool dead;            /* its process was killed */
    bool met;             /* another client was inside with it, and that is not recorded yet */
    bool drained, closed; /* its progress, for the case that it is killed */
    /* It is in its cell, is about to enter it, or has just left it: if its process is killed now, the effects on the cell
     * are excused. */
    bool inside;
    int64_t cut_off_ns;       /* length of the wait that the drain limit ended; 0 = none */
    int64_t cut_off_at_ns;    /* when that wait ended */
    int64_t cut_off_stood_ns; /* for how much of that wait the client's thread stood still */

    bool joined; /* another client counts the figures of the session that both use */
    bool bytes_known;
    /* counted for its session, over the attempts in the window */
    uint64_t commands, wakeups, bytes;
    int64_t connect_ns; /* opening the first session; -1 = never opened */
    uint64_t retries; /* optimistic locks: tries in the window in which another client was faster */
    _Atomic uint32_t waiting_key;
    struct lb_injected injected; /* what faults change in the client; the supervisor writes */
    _Atomic uint64_t renewals;   /* by the watchdog */
    /* the last unsuccessful try; before waiting_ns = none in this wait yet */
    _Atomic int64_t refused_ns;
};

/* A thread's processor time between two planned times. The thread takes each reading a little later than planned. */
struct cpu_span {
    int64_t begin_ns, end_ns; /* when it took the two readings, by lb_now(); 0 = not yet */
    int64_t begin_cpu_ns, end_cpu_ns;
};

/* The figures of one worker thread. The thread writes; the supervisor reads the atomic ones while
 * it runs. */
struct worker_stats {
    _Alignas(64) struct recorder recorder;
    _Atomic int64_t beat_ns; /* its last heartbeat; 0 = there was none yet */
    struct stalls stalls;
    _Atomic uint64_t outcomes[LB_OUTCOMES]; /* of attempts in the window */
    /* Of attempts in the window, counted at the grant: those that are still held are among them. */
    _Atomic uint64_t granted;
    /* By the time of the grant: in the window, also to clients that asked in the warm-up; and after the window, to
     * clients that asked in it. */
    _Atomic uint64_t window_grants, drain_grants;
    /* Open loop: arrivals in the window. Of them, queued: those that fell due while all clients of
     * the thread were busy; stalled: arrivals that fell due while the thread itself stood still, or that
     * waited behind such arrivals; stalled_missed: the stalled arrivals that were missed. */
    uint64_t due, started, missed, queued, stalled, stalled_missed;
    struct cpu_span cpu, idle_cpu; /* in the window; while all clients idled before it */
    int64_t blocked_max_ns;
    bool dead; /* killed on purpose; the supervisor writes this one */
    /* the outcome of an attempt was unknown, so the attempt may have left a grant on the server */
    bool unsure;
    struct lb_err err;       /* why the thread could not start */
    struct lb_err first_err; /* the first operation that failed */
};

/* The guarded store: see bench/measure/store.h. */
struct shared_store {
    bool kept;            /* the stage has a store */
    bool fenced;          /* the lock has tokens */
    struct guarded *keys; /* one for each cell; NULL = no store */
    struct store_counts counts;
};

struct shared {
    size_t bytes; /* of the mapping */

    /* The shape of the stage; constant once workers run. */
    const struct plan *plan;
    const struct plan_lock *lock;
    int64_t lease_ns;
    struct lb_server *server;
    struct arrival arrival; /* the plan's, with the stage's own rate */
    struct keypicker keys;
    int clients, threads, processes;
    struct part part;
    /* Clients of several parts share keys, so that the cells of one do not see all grants of a key. */
    bool split;
    int readers; /* per cent of attempts */
    /* Open loop: an arrival that was due in the window may still start so long after the window's end.
     * Otherwise a request that has waited for less than the promise's limit would count as over the
     * limit. 0 without a promise. */
    int64_t patience_ns;
    enum entry_kind entry;
    bool own_cells; /* one cell for each client: for the tool's own cost */
    uint32_t key_count;
    uint32_t depth;      /* of re-entry */
    bool churn;          /* a session for each attempt */
    bool due_apart;      /* an attempt may begin later than it is due */
    bool faulted;        /* faults are planned, which may end grants and sessions */
    bool one_key;        /* every attempt of a client takes the same key in the same way */
    bool no_hold;        /* nothing passes between the grant and the release */
    uint32_t cell_count; /* a cell for each key, or for each client */
    char key_prefix[PLAN_KEY_PREFIX_MAX + 32];
    uint64_t key_salt;
    uint64_t seed; /* the stage's own */
    int64_t connect_deadline_ns;
    /* the time that the first client gets in addition, because it makes the keys ready on the server */
    int64_t arm_ns;
    bool observed; /* observe.h */

    /* Its phases. */
    _Alignas(64) _Atomic int phase;
    int64_t go_ns; /* when the load begins; set before PHASE_GO */
    _Atomic int64_t window_begin_ns, window_end_ns;
    _Atomic int64_t idle_begin_ns, idle_end_ns; /* no client loads; LB_NEVER = not measured */
    _Atomic int64_t cutoff_ns; /* no wait lasts longer than this; the engine reads it */
    _Atomic int connected, failed, pinged, drained, closed;
    /* clients that could not reach the server any more at the end of the load */
    _Atomic int adrift;

    _Atomic int lost; /* clients that were killed on purpose */
    /* when the last attempt ended, before the cut-off, that may have left a grant on the server; 0 = there
     * was no such attempt */
    _Atomic int64_t unsure_ns;

    /* Of all operations, if the stage is recorded; else of the evidence. NULL = clients of this lock hold nothing. */
    struct oplog *oplog;
    bool recorded;
    struct findings findings;
    struct cell *cells;
    struct crowds crowds;
    struct versions *versions; /* a key each; NULL = not an optimistic lock */
    struct shared_store store;
    uint32_t ticks;              /* of load.tick, from the begin of the load; 0 = there are none */
    _Atomic uint32_t *tick_runs; /* for each tick: grants of clients that started at that tick */
    struct client_stats *client; /* clients */
    struct worker_stats *worker; /* threads */
};

/* A key's stable number. A key that the user named has the number of its name (lb_key_number). Any other key has a
 * number that is computed from the stage's salt and the index, and that no other key of the stage has. */
uint64_t shared_key_number(const struct shared *shared, uint32_t index);

/* Makes a request for this key of one for another. name: KEY_TEXT_MAX bytes that live as long as the request. */
void shared_choose_key(const struct shared *shared, uint32_t index, struct lb_request *request,
                       char *name);
/* A request for a key according to the plan of the stage, for calls outside of attempts. */
struct lb_request shared_request(const struct shared *shared, uint32_t index, char *name);

/* Maps the memory and lays it out; the caller frees it. part: NULL = this process has all clients. NULL
 * with err (LB_EXIT_MACHINE: too little memory, and which setting to lower). */
struct shared *shared_new(const struct plan_stage *of, struct lb_server *server,
                          const struct part *part, struct lb_err *err);
void shared_free(struct shared *shared);

/* Raises the limit on open files of this process, and so of the servers that it starts from now on, to what they should
 * have for so many clients, or as near to it as the system lets it: many keep a file or two besides each connection. */
void descriptors_for_servers(int clients);

/* Whether this process sums up the stage: it has all clients, or none, and gets what the others measured. */
bool shared_sums_up(const struct shared *shared);

/* The threads, clients and worker processes of this process's part. The first number is returned; *ret_end is one above
 * the last. */
int shared_own_threads(const struct shared *shared, int *ret_end);
int shared_own_clients(const struct shared *shared, int *ret_end);
int shared_own_processes(const struct shared *shared, int *ret_end);

/* The first thread of a worker process. For the process number `processes` the result is the number of threads. */
int shared_first_thread(const struct shared *shared, int process);

/* The clients of a worker process: the first is returned; *ret_end is one above the last. */
uint32_t workers_clients(const struct shared *shared, int process, uint32_t *ret_end);

/* The clients that a thread serves: first .. first+count-1. Threads differ by at most one
 * client. */
void shared_slice(const struct shared *shared, int thread, uint32_t *ret_first,
                  uint32_t *ret_count);

/* The clients of the session that serves this client: the first is returned; *ret_end is one above the last. */
uint32_t shared_session_clients(const struct shared *shared, uint32_t client, uint32_t *ret_end);

#endif
