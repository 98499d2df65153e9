/* option.h: typed options in tables; one table drives workload files, --set, checks and help.
 *
 * A table entry says where in the options struct its value goes. The option parser (bench/plan)
 * fills a zeroed struct from the defaults, then from what people wrote. */
#ifndef DRIVERS_OPTION_H
#define DRIVERS_OPTION_H

#include <stddef.h>
#include <stdint.h>

enum lb_option_type {
    LB_OPT_INT,      /* int64_t, between min and max */
    LB_OPT_DURATION, /* int64_t nanoseconds: "250us", "1.5s"; between min and max, in ns */
    LB_OPT_REAL,     /* double, between min and max */
    LB_OPT_BOOL,     /* int64_t 0 or 1: yes/no, true/false, on/off, 1/0 */
    LB_OPT_CHOICE,   /* int64_t: the index of the value in choices */
    LB_OPT_TEXT      /* const char *, owned by the plan */
};

struct lb_option {
    const char *name; /* NULL ends a table */
    enum lb_option_type type;
    size_t offset;       /* in the options struct */
    const char *def;     /* the default, as people would write it */
    double min, max;     /* INT, DURATION (ns), REAL */
    const char *choices; /* CHOICE: "grpc,json" */
    const char *help;    /* one line, units included */
};

#endif
