/* model: the contents of all outputs, made once from a run: locks with their verdicts, and one
 * table for each load.
 *
 * A row is one lock under one load, all repeats together: its figures are the medians over the repeats, its percentiles
 * those of all repeats' values together, its counts of checks and of outcomes are sums. This code prints nothing. */
#ifndef REPORT_RUN_MODEL_H
#define REPORT_RUN_MODEL_H

#include <stdbool.h>

#include "bench/base/err.h"
#include "results/format/run_read.h"

/* The state of a lock: does it exclude? Among real locks the worst is last, so that the worst of
 * several stages is their maximum. */
enum lock_state {
    LOCK_BASELINE,  /* no lock: its figures are the tool's own cost */
    LOCK_ALONE,     /* there was only ever one client, so there was nobody to exclude */
    LOCK_UNCHECKED, /* no grant in the window, so nothing was checked */
    LOCK_HIDDEN,    /* a control whose mistake this workload does not show */
    LOCK_CLEAN,     /* two clients or more, and no overlap was seen */
    LOCK_CAUGHT,    /* a control, broken on purpose, whose mistake the checks saw */
    LOCK_HELD,      /* somebody else held keys that the user named, so clients waited to the end */
    LOCK_STARVED, /* clients waited for the whole window, or until the drain limit ended their waits */
    LOCK_EXPIRED, /* overlaps only with holders past their lease's end */
    LOCK_ENDED,   /* the server ended sessions of its holders, and no other overlap was seen */
    LOCK_STUCK,   /* keys became free that no client got any more */
    LOCK_MISSED,  /* a control whose mistake was not seen: the checks can't be trusted */
    LOCK_TOKENS,  /* no two clients held at once, but the fencing tokens did not grow */
    LOCK_REVOKED, /* grants were gone while their lease and session lasted */
    LOCK_VIOLATED /* two clients held at once */
};

/* One lock on one topology, all its stages. Texts borrowed from the run. */
struct report_lock {
    const char *name;
    /* the name; with the topology after it, if there are several; owned */
    char *label;
    /* any of its stages, for the facts that all share: backend, claims, durability */
    const struct run_stage *stage;
    enum lock_state state;
    /* One of its stages was checked; otherwise it is not known how many findings there were. */
    bool checked;
    struct run_stage sums; /* of its counts of checks; nothing else is filled */
    /* the checked grants during which another client waited, on which the bound is based. In older results,
     * which lack this count: those of stages with two clients or more on common keys */
    double competing;
    /* the longest mean time that holders were inside, over the stages with competing clients, and the
     * round trip there; NAN = not measured */
    double inside_ns, round_trip_ns;
    /* the stage that left the most keys on the server, or NULL */
    const struct run_stage *residue;
    const struct run_stage *ending;  /* the first stage whose sessions the server ended, or NULL */
    const struct run_stage *overlap; /* the first stage that reports its first overlap, or NULL */
    bool partial;                    /* one of its stages is partial or failed */
    /* Grants were lost or doubled: in another stage; in stages alone in which this machine's wall clock jumped by more than
     * half a lease, which ends leases of servers that count by it */
    bool unstepped, stepped;
};

/* A count of findings or of grants of the lock; NAN if no stage of it was checked. */
double report_known(const struct report_lock *lock, double count);
/* Whether the lock's holders were inside for less than a round trip; see bound.h. */
bool report_hardly_tested(const struct report_lock *lock);
/* Its bound 3/n; NAN where it is not clean, was hardly tested, or has too few grants. */
double report_bound(const struct report_lock *lock);

struct report_class;

struct report_row {
    const struct report_lock *lock;
    /* medians and sums; the texts are those of the typical repeat */
    struct run_stage figures;
    const struct run_stage *typical; /* the repeat of median throughput, whose curves are shown */
    const struct run_stage **stages; /* the repeats that give figures, then those aside */
    /* the number of the repeats, of those that are partial or failed, and of the stages aside */
    int repeats, incomplete, aside;
    bool limited;    /* more than half of them were generator-limited */
    bool idle_fault; /* in one of them a fault never acted */
    /* the share of the clients' waiting that no percentile of acquire has, in the worst of them; NAN: not known */
    double unrecorded;
    /* may be called best: a real lock that excluded in all its stages, with a stage here that came to its end */
    bool candidate;
    /* the state under this load; tables show lock->state, the worst of all loads */
    enum lock_state state;

    /* The rank (ranking.h). */
    const struct report_class *class; /* NULL: no lock for use */
    double cost_ns;         /* NAN: not ranked; INFINITY: nothing was granted, or less than half */
    double low_ns, high_ns; /* the interval of the cost, from repeats; NAN: none */
    /* with the first: within RANKING_TIE of a round; or the interval of their ratio, round by round, does not show that
     * the dearer one costs more, or where there are no rounds their intervals overlap; all are where the rounds prove
     * nothing */
    bool level;
};

/* The rows of a load that survive the same failures, and are ranked against each other. */
struct report_class {
    char name[400];                /* "in memory, one server" */
    const struct run_stage *first; /* the first row's, for what all of them share */
    struct report_row **rows;      /* the best first */
    int count;
    bool contest;                      /* the first two are ranked, so that somebody was compared */
    const struct report_row *cheapest; /* the first, unless p99 or fairness decides */
};

/* One load. All its rows may be compared with each other. */
struct report_group {
    /* "one key, closed loop, hold 0, think 0, ...": the load without the number of clients; the same pointer for groups
     * that differ only in it */
    const char *load;
    double rtt_ns; /* the round trip that the wire adds; NAN = there is no wire */
    double clients;
    struct report_row *rows;
    int row_count;
    int rounds; /* the most repeats of a row */
    bool
        paired; /* its stages of one repeat ran in one round, so their figures can be compared one by one */
    bool competes;                /* clients meet */
    bool by_cost;                 /* the cost of a grant ranks, and not the median wait */
    struct report_class *classes; /* in the order of durabilities */
    int class_count;
    /* The greatest difference that the run shows between a lock and the same lock once more, as a share: smaller ones
     * can't be told from it. INFINITY: it was not level with itself. NAN: no lock ran twice in a round, or there are
     * fewer than six rounds. */
    double resolution;
};

struct report {
    struct run *run; /* owned */
    struct report_lock *locks;
    int lock_count;
    struct report_group *groups;
    int group_count;
    /* what groups, rows and classes point into: the loads in words, ended by NULL; stages; rows; classes; rows by rank */
    char **loads;
    const struct run_stage **stages;
    struct report_row *rows;
    struct report_class *classes;
    struct report_row **by_rank;
    bool partial; /* the run or one of its stages is */
    /* the load that decides: the one with the most clients that meet, or with the fewest if none meet; NULL: nothing ran */
    const struct report_group *decides;
    const struct report_group *ranked; /* the same; NULL where no lock for use ran */
    const struct report_group
        *alone; /* with the fewest clients, of those in which no two meet, or NULL */
};

/* Reads a run: its folder or its run.json. NULL with err; the caller frees the report with report_free. */
struct report *report_load(const char *path, struct lb_err *err);
/* The same of a run that is in no file; path is only for messages and for the name of its place. The report takes a
 * reference of its own. */
struct report *report_from_json(json_t *run, const char *path, struct lb_err *err);
/* Takes over the run, even if it fails. NULL with err. */
struct report *report_make(struct run *run, struct lb_err *err);
void report_free(struct report *report);

/* True if the user started the server (--url). */
bool report_is_yours(const struct run_server *server);

/* The name of the server's topology, or of its backend if the topology is not known. */
const char *report_server_name(const struct run_server *server);

/* The version of the server, or NULL. */
const char *report_server_version(const struct run_server *server);

/* True if two clients or more meet on a key. Otherwise nothing can be violated, and nothing is
 * proved. In a baseline each client has a guarded counter of its own. */
bool report_competes(const struct run_stage *stage);

/* A count of a stage; 0 for one that is not in the result. */
double report_count(double count);
/* The requests of a stage that were refused, could not be sent, or whose answers were lost. */
double run_failed_requests(const struct run_stage *stage);

/* The next lock of the run's plan that has no stage, and no reason among what was left out: the run
 * ended before its turn, or no server of its own could be reached. *at begins with 0. NULL: there
 * are no more. */
const char *report_not_reached(const struct run *run, size_t *at);
int report_count_not_reached(const struct run *run);

/* The number of clients that can hold at once; NAN if that is not known. */
double report_most_holders(const struct run_stage *stage);

/* True if some clients always wait: a closed loop without pauses has more of them than can hold at
 * once. Then the number of clients and the throughput fix the mean wait (Little's law: clients =
 * throughput x mean time of a round), and a low median only says that most waits are short because a
 * few are very long. */
bool report_wait_is_fixed(const struct run_stage *stage);

/* True if a stage belongs to this lock. */
bool report_is_of(const struct report_lock *lock, const struct run_stage *stage);

/* The state that one stage shows by itself. */
enum lock_state report_stage_state(const struct run_stage *stage);

/* True for a real lock: neither a control, nor the baseline, nor the simulator. */
bool report_is_real(const struct run_stage *stage);

/* True if no median and no percentile has the stage: it warmed the servers, was disturbed, or is in its round for the
 * second time. */
bool report_is_aside_stage(const struct run_stage *stage);

/* True if the run says that the load generator or its machine, not the lock, limited this stage. */
bool report_limited(const struct run_stage *stage);

/* The worse of two states, of stages of one lock. A control that was caught once is caught. */
enum lock_state report_worse(enum lock_state a, enum lock_state b);

/* True if the stage is partial or failed. */
bool report_incomplete(const struct run_stage *stage);

/* The load of a stage in words, without the number of clients. Stages with the same words may be
 * compared. Malloced; NULL when out of memory. */
char *report_load_text(const struct run_stage *stage);

/* Writes ", rtt +5ms"; "" for NAN, if no wire adds a round trip. At most NUMBER_TEXT_MAX bytes.
 * Returns text. */
char *report_rtt_text(double rtt_ns, char *text);

/* Fills report->groups from the run and its locks; a part of report_make. 0, or -1 when out of memory. */
int report_make_groups(struct report *report);
/* ranking.c: ranks the rows of all loads by class, and finds the load that decides; the same. */
int report_rank(struct report *report);
/* The lock of a stage; NULL if it was not added yet. */
struct report_lock *report_lock_of(const struct report *report, const struct run_stage *stage);
/* Adds a stage's counts of checks and outcomes; one that is NAN becomes the stage's. */
void report_add_counts(struct run_stage *sums, const struct run_stage *stage);

#endif
