/* urls: the --url options of a command: "backend=scheme://...", one a backend. */
#ifndef BENCH_CLI_URLS_H
#define BENCH_CLI_URLS_H

#include "bench/cli/available.h"
#include "bench/run/place.h"

#define URLS_MAX 16

struct urls {
    struct place_url item[URLS_MAX];
    int count;
};

/* Takes one option's text (borrowed). 0, or -1 with err: unknown backend (and the nearest), wrong
 * scheme, twice. */
int urls_add(struct urls *urls, const char *text, struct lb_err *err);

/* Tells `available` which backends' servers run already. */
void urls_tell(const struct urls *urls, struct available *available);

#endif
