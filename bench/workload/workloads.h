/* workloads: the shipped workload files: their names, and which file a wish means. */
#ifndef BENCH_WORKLOAD_WORKLOADS_H
#define BENCH_WORKLOAD_WORKLOADS_H

#include <stddef.h>

#include "bench/base/err.h"
#include "bench/option/arena.h"

struct workload_file {
    const char
        *name; /* the file's, without ".ini"; with "check/" before it where it is in that folder */
    const char *path;
    const char *summary; /* "" when it has none */
    const char *wrong;   /* why it can't be read; NULL = it can */
};

struct workload_list {
    struct workload_file *item; /* by name */
    int count;
    struct arena arena;
};

/* All *.ini files of a folder, then those of its folder check, if it has one. 0, or -1 with err;
 * workloads_done in any case. */
int workloads_find(const char *folder, struct workload_list *ret_list, struct lb_err *err);
void workloads_done(struct workload_list *list);

/* The file that is meant: `wish` itself when it ends in ".ini" or has a '/' (but for
 * "check/NAME"), else folder/wish.ini. 0, or -1 with err (LB_EXIT_USAGE): no such workload, and
 * the nearest name. */
int workload_path(const char *folder, const char *wish, char *ret_path, size_t size,
                  struct lb_err *err);

#endif
