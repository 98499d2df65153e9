/* stage: what is asked of a stage (one lock, one number of clients, one window), and what it
 * measured. supervise.h runs it. */
#ifndef BENCH_STAGE_STAGE_H
#define BENCH_STAGE_STAGE_H

#include <jansson.h>
#include <signal.h>

#include "bench/faults/faults.h"
#include "bench/measure/cell.h"
#include "bench/measure/recorder.h"
#include "bench/place/place.h"
#include "bench/slo/slo.h"
#include "bench/workload/plan.h"
#include "bench/workload/stages.h"
#include "results/format/run_read.h"

enum stage_status { STAGE_COMPLETE, STAGE_PARTIAL, STAGE_FAILED };

struct stage;
struct peers;

struct stage_ask {
    struct plan_stage of;
    struct place *place; /* where it runs */
    struct peers *peers; /* peers.h; NULL = this process does everything */
    /* the stage may end early because of it (slo.stop): its intervals are half seconds then, and arrivals may start until
     * the limit has passed after the window */
    struct stage_promise promise;
    char id[96];
    /* of the log, which a part of a stage has not; and, with another ending, of the history */
    const char *hlog_path;
    const char *version;
    const volatile sig_atomic_t *interrupts; /* Ctrl-C so far */
    /* called at least every 50 ms of the window; true ends the window, as if its planned time were over; may be
     * NULL */
    bool (*enough)(void *arg, const struct stage *stage);
    void *enough_arg;
};

struct stage_second {
    double t_s;
    int64_t ok;       /* grants in it */
    int64_t recorded; /* waits recorded in it: their grants were released in it */
    /* -1 = not known, of clients on several machines */
    int64_t acquire_p50_ns, acquire_p99_ns;
    bool draining; /* not a second of the window, but the drain after it; only ok is known */
};

/* Keys that no client held or was granted for a time, although clients waited for them all that time. */
struct stage_idle_keys {
    uint64_t count;
    /* the key that was idle for longest, for how long, and how many clients waited for it */
    uint32_t key;
    int64_t idle_ns;
    int clients;
};

struct stage {
    const struct stage_ask *ask; /* borrowed; what no longer runs may outlive it */
    struct shared *shared;       /* what its workers left; NULL when it is summed up */
    enum stage_status status;
    /* why the stage is not complete; in a complete stage the first operation that failed */
    struct lb_err err;
    /* why its .hlog is missing or incomplete; the figures are not affected */
    struct lb_err log_err;
    /* Its figures as results have them (results/format/stage.def), filled by stage_conclude. */
    struct run_stage result;

    /* The sources of the figures, and values that are not figures. */
    int64_t warmup_ns, window_ns, drain_ns;
    bool enough;          /* it ended early, because the asker had enough */
    bool cut;             /* the drain limit came before everybody had drained */
    int64_t harvested_ns; /* until when the histograms have its values, by lb_now() */
    struct hist *hist[METRICS];
    struct stage_history *history; /* NULL = none was kept */
    uint64_t commands; /* in the window; also of a lock in memory, where results leave it out */
    /* NAN = not known: processor time in the window; of servers that lockbench started: written to disk, and fsyncs,
     * from before the load until all had drained; the growth of their memory while all sessions were opened */
    double client_cpu_ns, server_cpu_ns, written_bytes, fsyncs, sessions_memory_bytes;
    /* taken by the machine's host in window and drain, over all processors; -1 = not known */
    int64_t stolen_ns;
    int64_t wall_largest_ns; /* the greatest step of the machine's wall clock, without its sign */
    uint64_t stalled_missed; /* open loop: slots missed because lockbench itself stood still */
    struct fault_log faults;
    int64_t window_begin_ns; /* by lb_now() */
    /* why it could not be counted or removed what was left on the server when all clients had ended */
    struct lb_err tidy_err;
    bool keeps_named; /* keys that the user named are left on a server at --url */
    struct exclusion exclusion;
    struct stage_idle_keys stuck_keys; /* idle until the end */
    struct stage_idle_keys idle_keys;  /* idle for a time, and granted again */
    /* a fault, a killed client or a grant that was left behind may explain waits that did not end */
    bool disturbed;
    /* from when to when the supervisor last stood still, and so the whole machine; by lb_now(), 0 = never */
    int64_t stood_from_ns, stood_until_ns;
    /* of the waits that the drain limit ended: the longest time for which lockbench itself stood still in one */
    int64_t starved_stood_ns;
    struct stage_second *seconds;
    int second_count;
    bool hung; /* worker threads did not return: they and their memory are left alone */
};

/* What came out of a stage that stage_run has run: removes what is left on its server, judges its record, and fills
 * stage->result. */
void stage_conclude(struct stage *stage);

/* ---- its parts ---- */

/* Removes from the server what was created for the stage's keys, and asks the lock what is left, where that is known to be
 * nothing: that figure. At --url all keys of the stage are removed, also keys that would end by themselves, but keys that
 * the user named stay as they are. */
void stage_tidy(struct stage *stage);

/* Fills all members of stage that are sums of what clients and workers counted. The supervisor fills the others:
 * histograms, series, status and times. */
void stage_sum(struct stage *stage, const struct shared *shared);

/* run.json's .stages[].causes, a text a figure: "Jain: known cause: ...; the option poll_max changes it". A figure that was
 * not measured, or that is within its bound, has no cause; nor has any figure of a stage with faults, or of a stage where no
 * client waited for another. New reference, NULL when out of memory. The stage's figures are filled in. */
json_t *stage_causes(const struct run_stage *result, const struct lb_lock *lock);
/* The workload that shows a control's mistake, if this stage can't; NULL = it can, or the lock is no control. result:
 * says whether the clients were on several machines. */
const char *stage_exposed_by(const struct run_stage *result, const struct plan_stage *of);
/* Fills *result with the lock and the load of a stage that has not run; every other member is absent. The
 * caller frees result->kept. */
void stage_describe_planned(struct run_stage *result, const struct plan_stage *of);

/* Whether a limit of the load generator affects the figures; the warnings tell which. */
bool stage_is_limited(const struct stage *stage);

/* All warnings to be read together with the figures, including those limits: an array of texts, the
 * most important first. New reference; NULL when out of memory. */
json_t *stage_warnings(const struct stage *stage);

#endif
