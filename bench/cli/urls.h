/* urls: the --url options of a command: "backend=scheme://...", one a backend. */
#ifndef BENCH_CLI_URLS_H
#define BENCH_CLI_URLS_H

#include "bench/cli/available.h"
#include "bench/option/option.h"
#include "bench/run/place.h"

#define URLS_MAX 16

struct urls {
    struct place_url item[URLS_MAX];
    const char *text[URLS_MAX]; /* as they were given */
    int count;
};

/* struct urls: takes one more. Refuses an unknown backend, with the nearest, a wrong scheme, and a
 * backend twice. */
extern const struct lb_option_type type_url;

/* Tells `available` which backends' servers run already. */
void urls_tell(const struct urls *urls, struct available *available);

#endif
