/* workloads: the shipped workload files: lists their names, and finds the file for a name on the command
 * line. */
#ifndef BENCH_WORKLOAD_WORKLOADS_H
#define BENCH_WORKLOAD_WORKLOADS_H

#include <stddef.h>

#include "bench/base/err.h"
#include "bench/option/arena.h"

struct workload_file {
    const char
        *name; /* the file name without ".ini"; with "check/" before it if it is in that folder */
    const char *path;
    const char *summary; /* "" when it has none */
    const char *wrong;   /* why it can't be read; NULL = it can */
};

struct workload_list {
    struct workload_file *item; /* by name */
    int count;
    struct arena arena;
};

/* Lists all *.ini files of a folder, then those of its folder check, if it has one. Returns 0, or
 * -1 with err; call workloads_done in either case. */
int workloads_find(const char *folder, struct workload_list *ret_list, struct lb_err *err);
void workloads_done(struct workload_list *list);

/* Writes the path of the file that is meant: `wish` itself if it ends in ".ini" or contains a '/'
 * (apart from "check/NAME"), or else folder/wish.ini. Returns 0, or -1 with err (LB_EXIT_USAGE): no
 * such workload, and the nearest name. */
int workload_path(const char *folder, const char *wish, char *ret_path, size_t size,
                  struct lb_err *err);

#endif
