/* workfile: a workload file as a list of settings, each with its line.
 *
 * The format is INI: [section], key = value or key: value, and comments. A comment starts with ; or
 * # at the line's start or behind a blank. Indentation means nothing, a value ends with its line,
 * and a key that occurs twice in a section is an error. This file does not know which sections and keys
 * exist: sections.h does. */
#ifndef BENCH_WORKLOAD_WORKFILE_H
#define BENCH_WORKLOAD_WORKFILE_H

#include <stddef.h>

#include "bench/base/err.h"
#include "bench/option/text.h"

/* One setting, from a file or from the command line. */
struct setting {
    const char *section, *key, *value;
    const char *file; /* NULL = --set */
    int line;         /* 0 = --set */
    struct setting *next;
};

struct settings { /* all memory belongs to the arena */
    struct setting *first, *last;
    int count;
};

/* Adds the settings of a file. Returns 0, or -1 with err (LB_EXIT_USAGE): file, line and what is
 * wrong. */
int workfile_read(const char *path, struct arena *arena, struct settings *settings,
                  struct lb_err *err);

/* Adds one setting; copies the texts. Returns 0, or -1 with err when out of memory. */
int settings_add(struct settings *settings, struct arena *arena, const struct setting *setting,
                 struct lb_err *err);

/* Returns the last setting of a key, which is the one that is used; NULL if there is none. */
const struct setting *settings_find(const struct settings *settings, const char *section,
                                    const char *key);

/* "workloads/open.ini:12: load.clients" or "--set load.clients". Returns text. */
char *setting_source(const struct setting *setting, char *text, size_t size);

/* workloads: the shipped workload files: lists their names, and finds the file for a name on the command
 * line. */

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

/* Writes the path of the file that is meant: `name` itself if it ends in ".ini" or contains a '/'
 * (apart from "check/NAME"), or else folder/name.ini. Returns 0, or -1 with err (LB_EXIT_USAGE): no
 * such workload, and the nearest name. */
int workload_path(const char *folder, const char *name, char *ret_path, size_t size,
                  struct lb_err *err);

#endif
