/* repeat: `lockbench run --against ... [--repeat N]`: whole runs in turns, and their comparison.
 *
 * The base differs from the new side in what --against and --against-set say, and in nothing else: another workload,
 * another build of lockbench, other options. */
#ifndef BENCH_CLI_REPEAT_H
#define BENCH_CLI_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/base/err.h"
#include "bench/cli/args.h"
#include "bench/place/place.h"
#include "bench/workload/plan.h"

#define REPEAT_MAX 1000 /* runs a side */
#define REPEAT_WORDS_MAX 300
#define REPEAT_SETS_MAX 150 /* each is two words: --set and its value */

/* The arguments that ask for several runs. */
struct repeat_options {
    int times;            /* --repeat; 0 = not given */
    const char *against;  /* NULL */
    struct arg_list sets; /* --against-set */
    uint32_t metrics;     /* --metric: what the comparison judges, as in struct compare_ask */
};

/* True if there is a base to compare with. */
bool repeat_has_base(const struct repeat_options *options);

struct repeat_ask {
    const struct repeat_options *options;
    const struct plan_ask
        *plan; /* of both sides; the promises of the new one: another build may not know --slo */
    const struct place_url *urls;
    int url_count;
    const char *out;                     /* --out, or NULL */
    const char *results;                 /* otherwise a folder is made below this one */
    int64_t planned_ns, base_planned_ns; /* the planned time of one run of each side */
    bool json;                           /* the format of the comparison */
};

/* Finds the workload of the base: the value of --against, unless that is a program. *ret_program:
 * the program, or NULL. 0, or -1 with err if --against names neither. */
int repeat_base(const struct repeat_options *options, const char *workload,
                const char **ret_workload, const char **ret_program, struct lb_err *err);

/* Runs all, compares and prints. Returns the exit code, or -1 with err. */
int repeat_run(const struct repeat_ask *ask, struct lb_err *err);

#endif
