/* kinds: how each kind of injection begins, is watched and ends. schedule.c has the table. */
#ifndef BENCH_FAULTS_KINDS_H
#define BENCH_FAULTS_KINDS_H

#include "bench/faults/faults.h"

/* The result of an attempt to begin an injection. */
enum fault_tried {
    FAULT_DONE, /* the injection began, or is impossible; the log has an entry in both cases */
    FAULT_LATER /* there is no victim at the moment */
};

typedef enum fault_tried fault_begin_fn(struct faults *faults, struct fault_section *section);
/* Ends an injection that lasts. */
typedef void fault_end_fn(struct faults *faults, struct fault_act *act);
/* Called each millisecond between the begin and the end of an injection. True: the injection has had its whole effect,
 * so it can end now. */
typedef bool fault_look_fn(struct faults *faults, struct fault_act *act, int64_t now_ns);

/* clients.c */
fault_begin_fn fault_pause_begin, fault_kill_begin;
fault_end_fn fault_pause_end;

/* injected.c */
fault_begin_fn fault_starve_begin, fault_client_clock_begin;
fault_end_fn fault_starve_end, fault_client_clock_end;

/* servers.c */
fault_begin_fn fault_server_pause_begin, fault_server_kill_begin, fault_server_evict_begin,
    fault_server_clock_begin, fault_replica_begin, fault_isolate_begin, fault_terminate_begin;
fault_end_fn fault_server_pause_end, fault_server_kill_end, fault_isolate_end;
/* Of a server that was started again: true when it answers, or when it is not awaited any more. */
fault_look_fn fault_server_look;

/* wires.c */
fault_begin_fn fault_wire_begin;
fault_end_fn fault_wire_end;
fault_look_fn fault_wire_look;

#endif
