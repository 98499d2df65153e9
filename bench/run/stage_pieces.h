/* stage_pieces: what a load host measured in a stage, sent to the judge and added up there: the parts of the common
 * memory (bench/load/parts.h), raw histogram buckets, the seconds, the log and the history. Percentiles are taken
 * after that, never before. */
#ifndef BENCH_RUN_STAGE_PIECES_H
#define BENCH_RUN_STAGE_PIECES_H

#include "bench/hosts/hosts.h"
#include "bench/load/shared.h"
#include "bench/run/harvest.h"
#include "bench/run/stage.h"

/* A load host sends all it has, when its threads have ended. 0, or -1 with err. */
int stage_pieces_deliver(struct hosts *hosts, const struct stage *stage,
                         const struct shared *shared, const char *hlog_path, struct lb_err *err);

/* The judge takes it all: fills shared, and the histograms, seconds, .hosts and steal of stage; writes the hosts'
 * logs beside the stage's own, and adds them up in that. What a lost host measured is missing, and then the stage is
 * partial. 0, or -1 with err: which host's figures are missing. */
int stage_pieces_gather(struct hosts *hosts, struct stage *stage, struct shared *shared,
                        struct harvest *harvest, struct lb_err *err);

#endif
