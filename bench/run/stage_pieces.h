/* stage_pieces: sends the measurements of a load host to the coordinator, which adds up those of all hosts: the parts
 * of the common memory (bench/load/parts.h), raw histogram buckets, the seconds, the log and the history. Percentiles
 * are taken from the sums only. */
#ifndef BENCH_RUN_STAGE_PIECES_H
#define BENCH_RUN_STAGE_PIECES_H

#include "bench/hosts/hosts.h"
#include "bench/load/shared.h"
#include "bench/run/harvest.h"
#include "bench/run/stage.h"

/* A load host sends all it has, when its threads have ended. 0, or -1 with err. */
int stage_pieces_deliver(struct hosts *hosts, const struct stage *stage,
                         const struct shared *shared, const char *hlog_path, struct lb_err *err);

/* The coordinator receives the measurements: fills shared, and the histograms, seconds, .hosts and steal of stage;
 * writes the hosts' logs beside the stage's own log, which gets their sums. The measurements of a lost host are
 * missing, and then the stage is partial. 0, or -1 with err, which names the host whose figures are missing. */
int stage_pieces_gather(struct hosts *hosts, struct stage *stage, struct shared *shared,
                        struct harvest *harvest, struct lb_err *err);

#endif
