/* stage_hosts: one stage whose clients are on several hosts (hosts.h). Each host runs its part as a separate stage.
 * At the moments below all hosts wait for each other; no host waits between the load's begin and its end.
 *
 * The coordinator has no clients. It asks for the stage, says when the load begins, looks after the hosts meanwhile,
 * and collects what they measured (stage_pieces.c). */
#ifndef BENCH_TOOLS_HOSTS_STAGE_HOSTS_H
#define BENCH_TOOLS_HOSTS_STAGE_HOSTS_H

#include "bench/stage/peers.h"
#include "bench/tools/hosts/hosts.h"

/* The hosts as the hook of a run (peers.h), and the state of the present stage. */
struct stage_hosts {
    struct peers peers;
    struct hosts *hosts;
    int64_t news_ns; /* when news was last sent, or clocks were last measured */
    bool told;       /* the loss of a host was told */
    bool loads;      /* of a load host: its load goes on, and it has reported no trouble */
    bool asked;      /* of the coordinator: the hosts were asked for the stage */
    const volatile sig_atomic_t
        *interrupts; /* of the coordinator: Ctrl-C ends its waits before the load */
};

/* Fills in the table: of the coordinator for a run, of a load host for a stage. */
void stage_hosts_join(struct stage_hosts *with, struct hosts *hosts);

/* coordinate: a run on several hosts before its first stage. */

/* The coordinator sends the plan to all hosts, and waits until they have read it. 0, or -1 with err: which host can't. */
int coordinate_plan(struct hosts *hosts, const struct plan *plan, struct lb_err *err);

/* Fills in the functions of the table before the first stage. */
void coordinate_join(struct stage_hosts *with);

/* stage_pieces: sends the measurements of a load host to the coordinator, which adds up those of all hosts: the parts
 * of the common memory (bench/tools/hosts/parts.h), raw histogram buckets, the seconds and the history. Percentiles are taken
 * from the sums only. */

/* A load host sends all it has, when its threads have ended. 0, or -1 with err. */
int stage_pieces_deliver(struct peers *peers, struct stage *stage, struct shared *shared,
                         struct lb_err *err);

/* The coordinator receives the measurements: fills shared, and the histograms, seconds, .hosts and steal of stage. The
 * measurements of a lost host are missing, and then the stage is partial. 0, or -1 with err, which names the host whose figures are missing. */
int stage_pieces_gather(struct peers *peers, struct stage *stage, struct shared *shared,
                        struct lb_err *err);

#endif
