/* fields: every key of a workload file, in one table. It drives reading, defaults, --set, printing,
 * run.json and help, so a key is one entry here, one member of struct plan, and nothing else.
 *
 * A workload has several fault sections; the table has the keys of the first, and field_of_fault
 * the others'. The keys of locks and backends are not here: they are in the drivers' option
 * tables. */
#ifndef BENCH_WORKLOAD_FIELDS_H
#define BENCH_WORKLOAD_FIELDS_H

#include <jansson.h>

#include "bench/base/err.h"
#include "bench/workload/arena.h"
#include "bench/workload/plan.h"

enum field_type {
    FIELD_NAME,        /* const char *: part of a folder's name */
    FIELD_TEXT,        /* const char * */
    FIELD_INT,         /* int, min to max */
    FIELD_THREADS,     /* int, 0 = auto */
    FIELD_COUNT,       /* uint64_t, min to max */
    FIELD_DURATION,    /* int64_t ns, min to max */
    FIELD_TIMEOUT,     /* int64_t ns, min to max, 0 = none */
    FIELD_BOOL,        /* bool */
    FIELD_CHOICE,      /* an enum in the order of choices */
    FIELD_CHOICE_TEXT, /* const char *: one of choices */
    FIELD_EITHER,      /* bool, false for the first of two choices */
    FIELD_LADDER,      /* int[PLAN_LADDER_MAX], min to max, and their count */
    FIELD_RATES,       /* the same, or "none": count 0 */
    FIELD_PERCENT,     /* double, min to max, "1%"; 0 = "no" */
    FIELD_TOPOLOGY,    /* plan->topologies and topology_count */
    FIELD_KEYS,        /* struct keyspace */
    FIELD_ARRIVAL,     /* struct arrival */
    FIELD_DIST,        /* struct dist */
    FIELD_GAP,         /* plan->gap and gap_ns */
    FIELD_SPAN,        /* struct span, min to max; 0 = none where min is above 0 */
    FIELD_TARGET       /* plan_fault's target and node */
};

struct field {
    const char *section, *key;
    enum field_type type;
    size_t offset;       /* in struct plan */
    size_t count_offset; /* ladders: of their int count */
    const char *def;     /* as people would write it; NULL = none, or see help */
    double min, max;     /* whole numbers; durations in ns; texts: max bytes */
    const char *choices; /* "a,b" */
    const char *allowed; /* in words; NULL = from type and range */
    const char *help;    /* one line */
};

/* The table; ends with a NULL section. Sections stand together, in the order to print them. */
const struct field *fields(void);

/* The entry; NULL if there is none. */
const struct field *field_find(const char *section, const char *key);

/* The same key in the number-th fault section, from 0. */
struct field field_of_fault(const struct field *field, int number);

/* Reads text into the plan. 0, or -1 with err: what is wrong with the value, not where it
 * stands. */
int field_read(const struct field *field, const char *text, struct plan *plan, struct arena *arena,
               struct lb_err *err);

/* The value as text that field_read takes; "" when there is none. Returns text. */
char *field_text(const struct field *field, const struct plan *plan, char *text, size_t size);

/* What may be written, in words. Returns text. */
char *field_allowed(const struct field *field, char *text, size_t size);

/* Puts the value into its section's object: durations as "<key>_ns". -1 when out of memory. */
int field_json(const struct field *field, const struct plan *plan, json_t *section);

#endif
