/* stage_history: the oplog of a stage from its first operation to the verdict on it: written to a file while
 * the stage runs, if the stage is recorded, judged when all clients have left, and combined with the log of injections
 * into the figures of recovery. Of other stages the oplog has the evidence alone, which is judged in the same way. */
#ifndef BENCH_EVIDENCE_STAGE_HISTORY_H
#define BENCH_EVIDENCE_STAGE_HISTORY_H

#include "bench/evidence/recovery.h"
#include "results/format/run_read.h"

struct stage_history {
    struct oplog_writer *writer; /* while the oplog is written */
    char file[128];              /* the file's name in the run's folder; "" = it has none */
    bool recorded;               /* the oplog has all operations, and not only evidence */
    bool judged;
    struct lb_err err; /* why the oplog is incomplete, or was not judged */
    struct oplog_rules rules;
    int64_t begin_ns; /* when the oplog began */
    /* operations may be missing: clients hang, or another machine was lost, or could not record them all */
    bool cut_off;
    /* of clients on several machines, below: the error of one's times. unclear: who held when is not known, as err says */
    uint32_t error_ns;
    bool unclear;
    uint64_t ops, dropped;
    /* grants that another client waited for, see struct client_stats */
    uint64_t trials;
    struct judgement judgement;
    struct hold witness[OPLOG_WITNESSES]; /* of the judgement */
    /* what each has found among its own clients, by one clock; the judgement of all knows the time of a hold less
     * well */
    struct exclusion of_parts;
    struct recovery recovery;
};

/* Begins, after the workers have started; writes beside the stage's log. NULL where no oplog is kept, or when out of
 * memory. */
struct stage_history *stage_history_begin(const struct shared *shared, const char *hlog_path);
/* To be called when all clients have left, before the stage is summed up: completes the file, and judges. hung: clients
 * may still write. Counts the trials of the faults. Accepts NULL. */
void stage_history_end(struct stage_history *history, struct shared *shared,
                       struct fault_log *faults, bool hung);
/* Sets the counts that the judge has found; no effect if it has not judged. faulted: planned faults explain what
 * holders were told. */
void stage_history_sum(struct exclusion *exclusion, const struct stage_history *history,
                       bool faulted);
/* Adds the counts of one machine of several. */
void stage_history_add(struct stage_history *history, const struct exclusion *found);
void stage_history_free(struct stage_history *history);

/* Writes the judgement and the recovery into the stage's result; no effect without an oplog. */
void stage_history_fill(struct run_stage *result, const struct stage_history *history);

#endif
