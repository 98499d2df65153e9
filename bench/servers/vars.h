/* vars: the environment variables that a process is started with. */
#ifndef BENCH_SERVERS_VARS_H
#define BENCH_SERVERS_VARS_H

#include <stddef.h>

#define VARS_MAX 32

struct vars { /* zeroed = none */
    char text[8192];
    size_t used;
    const char *list[VARS_MAX + 1]; /* into text; ends with NULL */
    int count;
};

/* Adds one, "NAME=VALUE" by a format. It is left out if there is no room for all of it. The struct
 * must not be copied. */
void vars_add(struct vars *vars, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
