/* capacity_read: capacity.json, the result of `lockbench capacity`, as plain structs: read, for
 * reports, and written, by the same tables.
 *
 * As with run.json nothing in the file is trusted: the schema, types, ranges and words are checked,
 * and the first thing that is wrong is named with its path. Members that the schema does not know
 * are ignored. A file of a search that was cut off (partial) is as readable as a whole one. This
 * code computes nothing. */
#ifndef RESULTS_FORMAT_CAPACITY_READ_H
#define RESULTS_FORMAT_CAPACITY_READ_H

#include <jansson.h>
#include <stdbool.h>

#include "bench/base/err.h"
#include "bench/base/verdict.h"
#include "results/format/run_read.h"

#define CAPACITY_SCHEMA "lockbench.capacity/2"
#define CAPACITY_FILE "capacity.json"

enum capacity_by { CAPACITY_BY_RATE, CAPACITY_BY_CLIENTS };

/* The reason why the answer is not greater. */
enum capacity_limit {
    CAPACITY_LIMIT_NONE, /* there is no answer */
    CAPACITY_LIMIT_SLO,  /* the promise is broken beyond it */
    /* the load generator was too slow beyond it: the lock may carry more */
    CAPACITY_LIMIT_GENERATOR,
    CAPACITY_LIMIT_RANGE /* the greatest load that was allowed still kept the promise */
};

/* Texts are borrowed from the file; NULL = absent. Figures are NAN if they are not known; times are
 * in ns. */
struct capacity_probe {
    const char *run;                       /* the folder of its run, below that of the file */
    const char *verdict_word, *limited_by; /* limited_by: "generator" or NULL */
    enum promise_verdict verdict;
    double value; /* the load: arrivals a second, or clients */
    /* the quantile of the promise, and its interval low_ns .. high_ns: both NAN if it is not known, high_ns alone NAN if
     * it has no upper end */
    double quantile_ns, low_ns, high_ns;
    bool grew;         /* the backlog grew in the window by more than chance explains */
    double samples;    /* operations due in the window */
    double over_share; /* samples over the limit, with all that failed */
};

struct capacity_lock {
    const char *lock, *backend, *topology, *durability, *durability_class, *durability_note,
        *guarantee, *server;
    const char *by_word, *hold, *think, *keys, *limited_by_word, *why;
    const char *slo; /* "acquire_due.p99<=20ms" */
    enum capacity_by by;
    enum capacity_limit limited_by;
    double threads, processes, clients; /* clients: the pool of a search by rate */
    double quantile, limit_ns;
    /* two clients held the lock at the same time in a probe: the load which it carried does not count */
    bool violated;
    /* grants a second of the closed loop before the search; NAN: none */
    double saturated_per_s;
    bool answered;
    /* the answer: arrivals a second, or clients; high NAN: not bounded */
    double value, low, high;
    struct capacity_probe *probes; /* in the order they ran */
    int probe_count;
};

struct capacity {
    RESULT_HEAD
    const json_t *environment; /* NULL when absent */
    struct capacity_lock *locks;
    int lock_count;
};

/* Reads a search: its folder or its capacity.json. NULL with err (LB_EXIT_USAGE), which names the
 * file, the place in it and the error. The caller frees the result with capacity_free. */
struct capacity *capacity_read(const char *path, struct lb_err *err);

/* The same from text; path is only for messages and capacity->path. */
struct capacity *capacity_parse(const char *text, size_t length, const char *path,
                                struct lb_err *err);

/* The same for a parsed document, of which the capacity takes a reference of its own. */
struct capacity *capacity_from_json(json_t *root, const char *path, struct lb_err *err);

/* NULL is allowed. Everything that was borrowed from the capacity becomes invalid. */
void capacity_free(struct capacity *capacity);

/* Sets all figures to absent. */
void capacity_lock_clear(struct capacity_lock *lock);
/* Make JSON: capacity_lock_json an element of .locks with its probes, capacity_json the whole file.
 * capacity_json takes over the array `locks`, and ignores capacity->locks. New references; NULL
 * when out of memory. */
json_t *capacity_lock_json(const struct capacity_lock *lock);
json_t *capacity_json(const struct capacity *capacity, json_t *locks);

const char *capacity_limit_name(enum capacity_limit limit); /* "slo"; NULL for none */

#endif
