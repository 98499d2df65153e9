/* planner: which locks carry a load, judged by the results of `lockbench capacity`; and which
 * measurement would answer the question if no result does.
 *
 * An answer is based on one measurement, and names it. If that measurement had another hold or
 * number of keys, the model of one hot key (M/D/1 with a service of hold + handoff,
 * results/stats/queue) may answer instead, if it predicted the measured waits, the mean and the
 * tail, within a factor of PLANNER_MODEL. The model is not used beyond PLANNER_RANGE times the
 * measured values, nor for a key that is busier than it was in the measurement. A number of clients
 * within that range needs no model. A lock that let two clients hold at once is refused, whatever
 * load it carries. A rate whose holds alone fill all the time of the keys is too much for every
 * mutex. If nothing answers, the answer is the command that would.
 *
 * This code knows no driver and no server, and prints nothing. */
#ifndef REPORT_PLANNER_PLANNER_H
#define REPORT_PLANNER_PLANNER_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "report/doc/doc.h"
#include "results/format/capacity_read.h"

#define PLANNER_RANGE 2.0
#define PLANNER_MODEL 2.0

/* The fitness of a lock, from good to bad, which is the order of the answers. */
enum planner_verdict {
    PLANNER_CARRIES,
    PLANNER_CLOSE,   /* within the measurement's own uncertainty, or the model's */
    PLANNER_UNKNOWN, /* no measurement answers the question */
    PLANNER_TOO_MUCH,
    PLANNER_VERDICTS
};

/* The question. NAN and NULL: not given. */
struct planner_ask {
    /* requests a second of all clients together; NAN: each client as fast as it can */
    double rate;
    double clients;     /* NAN only if there is a rate */
    double hold_ns;     /* NAN: as in the measurement */
    double keys;        /* requests are spread evenly over the keys; 1 */
    const char *metric; /* "acquire_due", or "acquire" without a rate */
    double quantile, limit_ns;
    const char *slo;      /* metric, quantile and limit as text */
    const char *lock;     /* only this lock */
    const char *topology; /* only this topology: measurements on another one are no answer */
    /* Whether a lock can run on a topology; NULL: not known, as if each could. */
    bool (*runs_on)(const char *lock, const char *topology);
};

struct planner_answer {
    const struct capacity *from; /* borrowed, like all texts of lock */
    const struct capacity_lock *lock;
    enum planner_verdict verdict;
    bool model;      /* the model answers, not a measurement of this load */
    bool of_another; /* the answer is from the probes of a search for another limit */
    double carries;  /* the greatest load that certainly keeps the promise; NAN: not known */
    double breaks;   /* the least load that certainly breaks it; NAN: not known */
    /* `carries` divided by the load of the question; for PLANNER_TOO_MUCH `breaks` divided by it;
     * NAN: not known */
    double margin;
    /* A mutex for a rate: the part of the time for which each key would be held, which is at most 1;
     * NAN: not known. Permits of a semaphore and readers may hold a key together. */
    double held;
    char *why, *settle; /* the reason in words; the command that would answer, or NULL; owned */
};

struct planner {
    struct planner_ask ask;
    /* the best answer for each lock and place, in order of fitness */
    struct planner_answer *answers;
    int count;
    char *settle; /* without any answer: the command that would measure one; else NULL; owned */
    int unsafe;   /* number of locks left out because they guarantee nothing: controls, baselines */
    /* all locks are mutexes, and the hold alone keeps the keys busy: no lock can carry the load */
    bool impossible;
    double held; /* the least of the answers' */
};

/* Asks all files. The order of the answers: carried by a measurement, carried by the model,
 * unknown, too much; among equals the stronger guarantee, then the more durable, then the greater
 * margin. For one lock and place the newest measurement of this promise that answers is used,
 * before one of another limit, before the model; among these a search that was cut off or found no
 * answer comes last; but a measurement in which two clients held at
 * once comes before all others. A measurement on another topology than the question names gives
 * "unknown", and the answer says why. NULL with err: a question without sense, or out of memory.
 * The files must outlive the result. */
struct planner *planner_make(struct capacity *const *files, int file_count,
                             const struct planner_ask *ask, struct lb_err *err);
void planner_free(struct planner *planner);

/* Judges one measurement; a part of planner_make. 0, or -1 when out of memory. */
int planner_answer(const struct planner_ask *ask, const struct capacity *from,
                   const struct capacity_lock *lock, struct planner_answer *ret);

/* The command that would measure a lock of which no file has a measurement; a part of planner_make.
 * 0, or -1 when out of memory. */
int planner_settle(const struct planner_ask *ask, char **ret_command);

/* The exit code: 0: a lock carries the load; 4: the measurements say that no lock does; 5: no
 * measurement answers. */
int planner_exit(const struct planner *planner);

/* "carries", "close", "unknown", "too much". */
const char *planner_word(enum planner_verdict verdict);

/* Writes the question: "500 clients, 40/s together, hold 12.0 ms, 1 key, acquire_due.p99<=20ms".
 * Returns text. */
char *planner_ask_text(const struct planner_ask *ask, char *text, size_t size);

/* Adds the answers to a document. */
void planner_doc(const struct planner *planner, struct doc *doc);
/* Writes the answers as JSON. 0, or -1 when out of memory. */
int planner_write_json(const struct planner *planner, FILE *out, struct lb_err *err);

#endif
