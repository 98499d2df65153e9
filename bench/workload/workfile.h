/* workfile: a workload file as a list of settings, each with its line.
 *
 * The format is INI: [section], key = value or key: value, and comments. A comment starts with ; or
 * # at the line's start or behind a blank. Indentation means nothing, a value ends with its line,
 * and a key that occurs twice in a section is an error. This file does not know which sections and keys
 * exist: sections.h does. */
#ifndef BENCH_WORKLOAD_WORKFILE_H
#define BENCH_WORKLOAD_WORKFILE_H

#include "bench/base/err.h"
#include "bench/option/arena.h"

/* One setting, from a file or from the command line. */
struct setting {
    const char *section, *key, *value;
    const char *file; /* NULL = --set */
    int line;         /* 0 = --set */
};

struct settings {
    struct setting *item; /* all memory belongs to the arena */
    int count, room;
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
char *setting_place(const struct setting *setting, char *text, size_t size);

#endif
