/* planner: which locks carry a load, by what `lockbench capacity` measured; and what would settle
 * it where nothing that was measured answers.
 *
 * An answer stands on one measurement, and says which. Where that had another hold or number of
 * keys, the model of one hot key (M/D/1 with a service of hold + handoff, results/stats/queue) may
 * answer instead, if it foretold that measurement's own waits, mean and far end, within a factor of
 * PLANNER_MODEL, and never beyond PLANNER_RANGE times what was measured, nor with a key busier than
 * it was there; with clients within that range the measurement stands. A lock that let two in is
 * refused, whatever it carries. All else is refused, too, with the command that would settle it. It
 * knows no lock's code and no server, and prints nothing. */
#ifndef REPORT_PLANNER_PLANNER_H
#define REPORT_PLANNER_PLANNER_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "report/doc/doc.h"
#include "results/format/capacity_read.h"

#define PLANNER_RANGE 2.0
#define PLANNER_MODEL 2.0

/* From good to bad: the order of the answers. */
enum planner_verdict {
    PLANNER_CARRIES,
    PLANNER_CLOSE,   /* within the measurement's own uncertainty, or the model's */
    PLANNER_UNKNOWN, /* nothing that was measured answers */
    PLANNER_TOO_MUCH,
    PLANNER_VERDICTS
};

/* What is asked. NAN and NULL: not said. */
struct planner_ask {
    /* requests a second, all clients together; NAN: each client as fast as it can */
    double rate;
    double clients;     /* NAN only with a rate */
    double hold_ns;     /* NAN: as it was measured */
    double keys;        /* requests are spread evenly over them; 1 */
    const char *metric; /* "acquire_due", or "acquire" without a rate */
    double quantile, limit_ns;
    const char *slo;      /* the three as text */
    const char *lock;     /* only this one */
    const char *topology; /* what was measured on another answers nothing */
};

struct planner_answer {
    const struct capacity *from; /* borrowed, as all texts of lock */
    const struct capacity_lock *lock;
    enum planner_verdict verdict;
    bool model;      /* by the model, not by a measurement of this very load */
    bool of_another; /* read from the probes of a search for another limit */
    double carries;  /* the greatest load that keeps the promise for certain; NAN: not known */
    double breaks;   /* the least that breaks it for certain; NAN: not known */
    /* carries over what is asked; for PLANNER_TOO_MUCH breaks over it; NAN: not known */
    double margin;
    char *why, *settle; /* in words; the command that would tell, or NULL; owned */
};

struct planner {
    struct planner_ask ask;
    struct planner_answer *answers; /* the best for each lock and place, in order of fitness */
    int count;
    int unsafe;      /* locks broken on purpose, left out */
    bool impossible; /* all are mutexes, and the hold alone fills the keys: none can */
};

/* Asks all files. Fitness: carried by measurement, by model; then unknown, too much; among these
 * the stronger guarantee, then the more durable, then the greater margin. Of one lock and place the
 * newest measurement of this promise that answers, before one of another limit, before the model;
 * but one that let two in stands before all. What was measured on another topology than was asked
 * for is unknown, and says so. NULL with err: nothing of that lock in them, a senseless ask, or out
 * of memory. The files must outlive it. */
struct planner *planner_make(struct capacity *const *files, int file_count,
                             const struct planner_ask *ask, struct lb_err *err);
void planner_free(struct planner *planner);

/* One measurement. 0, or -1 when out of memory. Part of planner_make. */
int planner_judge(const struct planner_ask *ask, const struct capacity *from,
                  const struct capacity_lock *lock, struct planner_answer *ret);

/* 0: some lock carries it; 4: what was measured says that none does; 5: nothing that was measured
 * answers. */
int planner_exit(const struct planner *planner);

/* "carries", "close", "unknown", "too much". */
const char *planner_word(enum planner_verdict verdict);

/* "500 clients, 40/s together, hold 12.0 ms, 1 key, acquire_due.p99<=20ms". Returns text. */
char *planner_ask_text(const struct planner_ask *ask, char *text, size_t size);

/* Adds the answers to a document. */
void planner_doc(const struct planner *planner, struct doc *doc);
/* 0, or -1 when out of memory. */
int planner_write_json(const struct planner *planner, FILE *out, struct lb_err *err);

#endif
