/* stage_history: a stage's history from its first operation to the verdict on it: written while
 * the stage runs, judged when everybody has left, and with the log of faults the figures of
 * recovery. */
#ifndef BENCH_RUN_STAGE_HISTORY_H
#define BENCH_RUN_STAGE_HISTORY_H

#include "bench/run/recovery.h"

#define TIMELINE_MAX 300

struct stage_history {
    struct oplog_writer *writer; /* while it is written */
    char file[128];              /* its name in the run's folder; "" = it has none */
    bool judged;
    struct lb_err err; /* why it ends early, or is not judged */
    struct oplog_rules rules;
    uint64_t ops, dropped;
    struct judgement judgement;
    struct hold witness[OPLOG_WITNESSES]; /* of the judgement */
    struct hold *timeline;                /* holds around the faults, by key and begin */
    int timeline_count;
    struct recovery recovery;
};

/* Begins to write, beside the stage's log; the workers have started. Nothing where none is kept. */
void stage_history_begin(struct stage *stage, const struct shared *shared, const char *hlog_path);
/* Everybody has left: ends the file, and judges. Before the stage is summed up. */
void stage_history_end(struct stage *stage, struct shared *shared);
/* The history's verdict takes part in the stage's: it can make it worse. */
void stage_history_weigh(struct stage *stage);
void stage_history_free(struct stage_history *history);

/* Puts the judgement and the recovery into stage->result; nothing without a history. */
void stage_history_fill(struct stage *stage);

#endif
