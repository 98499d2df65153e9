/* stage_hosts: a run whose clients are on several hosts (hosts.h), as the hook of the kernel (peers.h). Each load host runs
 * its part of a stage as a separate stage; no host waits for others between the load's begin and its end. */
#ifndef BENCH_TOOLS_HOSTS_STAGE_HOSTS_H
#define BENCH_TOOLS_HOSTS_STAGE_HOSTS_H

#include "bench/stage/peers.h"
#include "bench/tools/hosts/hosts.h"

/* coordinate: the coordinator has no clients. It hands out the plan, asks for the stages, says when the load begins,
 * looks after the hosts meanwhile, and sums up. */

/* The hosts must outlive the result. */
struct peers coordinate(struct hosts *hosts);

/* What a load host needs of a stage besides the plan. */
struct asked {
    struct plan_stage of;       /* its pointers are the coordinator's */
    int32_t lock;               /* the index in the plan */
    int32_t threads, processes; /* of all load hosts */
    uint64_t key_salt;
    char id[96], key_prefix[PLAN_KEY_PREFIX_MAX + 32];
    char url[4096]; /* "" = none */
};

/* serve: a load host takes the plan from the coordinator, and runs its part of each stage that the coordinator asks for.
 * It starts no server and writes no result. */

/* Serves until the coordinator says that the run is over. A host that lacks something, such as a folder for temporary
 * files, tells the coordinator when the plan comes. Returns 0, or -1 with err if the coordinator is lost. */
int serve_run(struct hosts *hosts, struct lb_err *err);

/* stage_pieces: sends the measurements of a load host to the coordinator, which adds up those of all hosts: the figures
 * that threads and clients left in the common memory, raw histogram buckets, the seconds and the history. Percentiles
 * are taken from the sums only. The memory has the same layout everywhere, so the same code sums up one host or several;
 * its bytes are those of the same build, which hosts.c checks. The state of crowds and versions is not sent:
 * locks that use it do not run on several hosts. */

/* A load host sends all it has, when its threads have ended. 0, or -1 with err. */
int stage_pieces_deliver(struct peers *peers, struct stage *stage, struct shared *shared,
                         struct lb_err *err);

/* The coordinator receives the measurements: fills shared, and the histograms, seconds, .hosts and steal of stage. The
 * measurements of a lost host are missing, and then the stage is partial. 0, or -1 with err, which names the host whose
 * figures are missing. */
int stage_pieces_gather(struct peers *peers, struct stage *stage, struct shared *shared,
                        struct lb_err *err);

#endif
