/* model: what all outputs show, made once from the runs: locks with their verdicts, and one table a
 * load.
 *
 * A row is one lock under one load, all repeats together: its figures are the medians over the
 * repeats (never percentiles of pooled percentiles), its exclusion counts are sums. It prints
 * nothing. */
#ifndef REPORT_RUN_MODEL_H
#define REPORT_RUN_MODEL_H

#include <stdbool.h>

#include "bench/base/err.h"
#include "results/format/run_read.h"

/* Does it exclude? Worst last within real locks, so that the worst of several stages is their
 * maximum. */
enum lock_state {
    LOCK_BASELINE,  /* no lock at all: the tool's own cost */
    LOCK_UNCHECKED, /* granted nothing in the window, so nothing was checked */
    LOCK_ALONE,     /* only ever one client: nobody to exclude */
    LOCK_HIDDEN,    /* a control whose mistake this workload does not show */
    LOCK_CLEAN,     /* two clients or more, no overlap seen */
    LOCK_CAUGHT,    /* a control, broken on purpose, and the checker saw it */
    LOCK_STARVED,   /* clients waited until the drain limit ended their waits */
    LOCK_EXPIRED,   /* overlaps only with holders past their lease's end */
    LOCK_STUCK,     /* left keys that are free and that nobody gets any more */
    LOCK_MISSED,    /* a control that was not seen: the checker is not to be trusted */
    LOCK_TOKENS,    /* let nobody in beside another, but its fencing tokens did not grow */
    LOCK_VIOLATED   /* let two in */
};

/* One lock of one run on one topology, all its stages. Texts borrowed from the run. */
struct report_lock {
    int run; /* index in report->runs */
    const char *name;
    /* the name; after the run's letter, and with its topology, where there are several; owned */
    char *label;
    /* any stage of it, for what all share: backend, claims, durability */
    const struct run_stage *stage;
    enum lock_state state;
    double grants; /* all that were checked */
    /* those during which another client waited: what the bound stands on. Older results do not tell:
     * those with two clients or more on common keys */
    double competing;
    /* the longest mean time that holders were inside, over the stages with competing clients, and the
     * round trip there; NAN = not measured */
    double inside_ns, round_trip_ns;
    double lost_updates, double_holders, expired_holders, token_errors, stuck, starved, early,
        oversold;
    /* found in the history of operations, after the run */
    double history_violations, history_expired;
    /* the stage that left most on the server, or NULL */
    const struct run_stage *residue;
    const struct run_stage *overlap; /* the first stage with a first overlap, or NULL */
    bool partial;                    /* a stage of it is partial or failed */
};

/* Whether holders were inside for less than a round trip: then a second grant mostly finds nobody. */
bool report_hardly_tested(const struct report_lock *lock);

struct report_row {
    int lock;                        /* index in report->locks */
    struct run_stage figures;        /* medians and sums; texts are the typical repeat's */
    const struct run_stage *typical; /* the repeat of median throughput: its curves are shown */
    const struct run_stage **stages; /* all repeats; the list is owned */
    int repeats, incomplete;         /* stages; those that are partial or failed */
    bool limited;                    /* one of them was generator-limited */
    bool idle_fault;                 /* in one of them a fault never acted */
    /* may be called best: a real lock that excluded wherever it was tried */
    bool candidate;
    /* under this load; tables show locks[lock].state, the worst of all loads */
    enum lock_state state;
};

/* One load: all rows may be compared with each other. */
struct report_group {
    char *
        load; /* "one key, closed loop, hold 0, think 0, ...": all of the load but the clients; owned */
    char *near;     /* the load without the round trip to the servers; owned */
    double rtt_ns;  /* that the wire adds; NAN = no wire */
    int load_index; /* the same for groups that differ only in clients */
    double clients;
    struct report_row *rows;
    int row_count;
};

struct report {
    struct run **runs; /* owned */
    int run_count;
    struct report_lock *locks;
    int lock_count;
    struct report_group *groups;
    int group_count;
    bool partial; /* any run */
};

/* Takes the runs over, also when it fails. NULL with err. */
struct report *report_make(struct run **runs, int run_count, struct lb_err *err);
void report_free(struct report *report);

/* The letter of a run, for people: "A" .. "Z", then "A1" ...; text holds 8 bytes. */
char *report_run_letter(int run, char *text);

/* What the run says of the server of a lock; NULL when it says nothing (embedded backends). */
const struct run_server *report_server(const struct report *report, const struct report_lock *lock);

/* Whether the user started it (--url). */
bool report_is_yours(const struct run_server *server);

/* Its topology's name, or its backend's where only that is known. */
const char *report_server_name(const struct run_server *server);

/* Its version, or NULL. */
const char *report_server_version(const struct run_server *server);

/* Two clients or more that meet on a key: without that nothing can be violated, so nothing is
 * proved. The baseline gives each client a cell of its own. */
bool report_competes(const struct run_stage *stage);

/* Whether a stage is one of this lock's. */
bool report_is_of(const struct report_lock *lock, int run, const struct run_stage *stage);

/* The state of one stage, by itself. */
enum lock_state report_stage_state(const struct run_stage *stage);

/* A real lock: neither a control, nor the baseline, nor the simulator. */
bool report_is_real(const struct run_stage *stage);

/* All its rows are controls that ran in workloads of their own: nothing to compare with. */
bool report_is_aside(const struct report_group *group);

/* The run says that the load generator or its machine, not the lock, limited this stage. */
bool report_limited(const struct run_stage *stage);

/* Of one of its faults no injection acted: its verdict tells nothing of the lock under it. */
bool report_idle_fault(const struct run_stage *stage);

/* The worse of two, for stages of one lock. A control that was caught once is caught. */
enum lock_state report_worse(enum lock_state a, enum lock_state b);

/* Partial or failed. */
bool report_incomplete(const struct run_stage *stage);

/* The load of a stage in words, without the clients: stages whose words agree may be compared.
 * Malloced; NULL when out of memory. */
char *report_load_text(const struct run_stage *stage);

/* ", rtt +5ms"; "" for NAN, where no wire adds one. Writes at most NUMBER_TEXT_MAX bytes; returns text. */
char *report_rtt_text(double rtt_ns, char *text);

/* The load without the round trip that the wire adds: what is asked, wherever the servers are. */
char *report_near_load_text(const struct run_stage *stage);

/* Fills report->groups from runs and locks; part of report_make. 0, or -1 when out of memory. */
int report_make_groups(struct report *report);

#endif
