/* cmd_compare: `lockbench compare BASE... -- NEW...`: two sets of saved runs, figure by figure,
 * with an exit code for continuous integration. It reads results only and asks no server. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cli/args.h"
#include "bench/cli/cli.h"
#include "report/compare/compare.h"

enum {
    OPT_TABLE,
    OPT_MD,
    OPT_JSON,
    OPT_JUNIT,
    OPT_BENCHSTAT,
    OPT_CSV,
    OPT_LOCK,
    OPT_MIN_EFFECT,
    OPT_ALPHA,
    OPT_ANYWAY,
    OPT_HELP
};

static const struct args_option options[] = {
    [OPT_TABLE] = {"table", NULL, "for a terminal; the default"},
    [OPT_MD] = {"md", NULL, "Markdown, for a pull request"},
    [OPT_JSON] = {"json", NULL, "every figure with its samples"},
    [OPT_JUNIT] = {"junit", NULL,
                   "JUnit XML: what is worse fails, what is inconclusive is skipped"},
    [OPT_BENCHSTAT] = {"benchstat", NULL,
                       "Go's benchmark text: `benchstat -col side FILE` reads it"},
    [OPT_CSV] = {"csv", NULL, "a row a figure"},
    [OPT_LOCK] = {"lock", "BASE=NEW", "hold one lock of the base against another of the new runs"},
    [OPT_MIN_EFFECT] = {"min-effect", "PERCENT", "smaller changes are none; default 3"},
    [OPT_ALPHA] = {"alpha", "P", "significance, over all figures together; default 0.05"},
    [OPT_ANYWAY] = {"anyway", NULL, "also across topologies, durabilities and executors"},
    [OPT_HELP] = {"help", NULL, "this text"},
    {0},
};

struct wish {
    struct compare_ask ask;
    const char **base, **new; /* room for argc each */
    char *locks;              /* --lock's, cut in two; owned */
    enum compare_format format;
    bool help;
};

static int read_number(const char *name, const char *text, double low, double high, double *ret,
                       struct lb_err *err) {
    char *end;
    double value = strtod(text, &end);
    if (*text && !*end && value > low && value < high) {
        *ret = value;
        return 0;
    }
    return err_set(err, LB_EXIT_USAGE, "compare: --%s '%.40s': expected a number between %g and %g",
                   name, text, low, high);
}

static int read_lock(struct wish *wish, const char *value, struct lb_err *err) {
    const char *middle = strchr(value, '=');
    if (!middle || middle == value || !middle[1])
        return err_set(err, LB_EXIT_USAGE,
                       "compare: --lock '%.80s': expected BASE=NEW, two locks' names", value);
    free(wish->locks);
    wish->locks = strdup(value);
    if (!wish->locks) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    wish->locks[middle - value] = '\0';
    wish->ask.base_lock = wish->locks;
    wish->ask.new_lock = wish->locks + (middle - value) + 1;
    return 0;
}

static int read_args(int argc, char **argv, struct wish *wish, struct lb_err *err) {
    struct args args;
    const char *value;
    bool parted = false; /* by "--" */
    args_init(&args, argc, argv, options);
    for (int option; (option = args_next(&args, &value, err)) != ARGS_END;) {
        double percent;
        switch (option) {
        case ARGS_WRONG:
            return -1;
        case ARGS_OPERAND:
            parted |= args.operands_only;
            args.operands_only = false; /* "--" parts the sides here, and options may follow */
            if (parted) {
                wish->new[wish->ask.new_count++] = value;
            } else {
                wish->base[wish->ask.base_count++] = value;
            }
            break;
        case OPT_LOCK:
            if (read_lock(wish, value, err) != 0) return -1;
            break;
        case OPT_MIN_EFFECT:
            if (read_number("min-effect", value, 0, 1000, &percent, err) != 0) return -1;
            wish->ask.min_effect = percent / 100;
            break;
        case OPT_ALPHA:
            if (read_number("alpha", value, 0, 1, &wish->ask.alpha, err) != 0) return -1;
            break;
        case OPT_ANYWAY:
            wish->ask.anyway = true;
            break;
        case OPT_HELP:
            wish->help = true;
            return 0;
        default:
            wish->format = (enum compare_format)(option - OPT_TABLE);
        }
    }
    /* Two runs need no "--" between them. */
    if (!parted && wish->ask.base_count == 2) {
        wish->new[wish->ask.new_count++] = wish->base[1];
        wish->ask.base_count = 1;
    }
    if (wish->ask.base_count > 0 && wish->ask.new_count > 0) return 0;
    return err_set(err, LB_EXIT_USAGE,
                   "compare: expected BASE... -- NEW..., runs or folders of runs on both "
                   "sides");
}

static int compare_runs(const struct wish *wish, struct lb_err *err) {
    struct compare *compare = compare_make(&wish->ask, err);
    if (!compare) return -1;
    bool color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    int code = compare_exit(compare);
    if (compare_write(compare, wish->format, color, stdout, err) != 0) code = -1;
    compare_free(compare);
    return code;
}

int cmd_compare(int argc, char **argv) {
    struct lb_err err = {0};
    struct wish wish = {.ask = {.min_effect = COMPARE_MIN_EFFECT, .alpha = COMPARE_ALPHA},
                        .base = calloc((size_t)argc + 1, sizeof *wish.base),
                        .new = calloc((size_t)argc + 1, sizeof *wish.new)};
    int code = 0;
    wish.ask.base = wish.base;
    wish.ask.new = wish.new;
    if (!wish.base || !wish.new) {
        err_set(&err, LB_EXIT_MACHINE, "out of memory");
    } else if (read_args(argc, argv, &wish, &err) == 0 && !wish.help) {
        code = compare_runs(&wish, &err);
    }
    if (wish.help) {
        args_help(
            "compare BASE... -- NEW... [OPTIONS]",
            "Compares saved runs, or folders of runs, with others: each stage's throughput, latencies and "
            "costs.\n"
            "One run is one sample: make ten of each side, in turns. Exit codes: 0 nothing worse was shown,\n"
            "4 something got worse, 5 too few or too noisy runs to say, 3 exclusion was violated.",
            options, stdout);
    }
    free(wish.base);
    free(wish.new);
    free(wish.locks);
    return err.code ? args_fail(&err) : code;
}
