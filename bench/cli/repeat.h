/* repeat: `lockbench run --repeat N [--against ...]`: whole runs in turns, and what they come to.
 *
 * The base differs from the new side in what --against, --against-lock and --against-set say, and
 * in nothing else: another workload, another build of lockbench, another lock, other options. */
#ifndef BENCH_CLI_REPEAT_H
#define BENCH_CLI_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/base/err.h"
#include "bench/cli/args.h"

#define REPEAT_WORDS_MAX 300
#define REPEAT_SETS_MAX 150 /* each is two words: --set and its value */
#define REPEAT_USUAL 10 /* runs a side, where nobody says: what a small change needs at the least */

/* What of the command line says that there are several runs. */
struct repeat_wish {
    int times;                  /* --repeat; 0 = not given */
    const char *against, *lock; /* --against, --against-lock; NULL */
    struct arg_list sets;       /* --against-set */
};

/* Anything of it was given. */
bool repeat_is_asked(const struct repeat_wish *wish);

/* What both sides have in common. */
struct repeat_ask {
    const struct repeat_wish *wish;
    const char *workload, *locks; /* locks: NULL = as the workload says */
    const char *const *sets;
    int set_count;
    const char *const *promises; /* --slo, of the new side: another build may not know it */
    int promise_count;
    const char *const *urls; /* "redis=redis://..." */
    int url_count;
    const char *out;                     /* --out, or NULL */
    const char *results;                 /* where a folder is made else */
    int64_t planned_ns, base_planned_ns; /* of one run of each side */
    bool json;                           /* the comparison; refused without a base */
};

/* The workload of the base: --against's unless that is a program. *ret_program: that program, or
 * NULL. 0, or -1 with err: it is neither. */
int repeat_base(const struct repeat_wish *wish, const char *workload, const char **ret_workload,
                const char **ret_program, struct lb_err *err);

/* Runs all, compares, prints. The exit code; or -1 with err. */
int repeat_run(const struct repeat_ask *ask, struct lb_err *err);

#endif
