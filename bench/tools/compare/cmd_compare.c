/* cmd_compare: `lockbench compare BASE... -- NEW...`: two sets of saved runs, figure by figure,
 * with an exit code for continuous integration. It reads results only and asks no server. */
#include "bench/cli/cli.h"
#include "bench/cli/terminal.h"
#include "report/compare/compare.h"

struct typed {
    struct arg_list base, new;
    double min_effect_percent;
    uint32_t metrics;
    bool full;
    enum compare_format format;
};

#define FORMAT offsetof(struct typed, format)

/* Reads the two sides, which "--" separates; options may follow it. */
static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct typed, base), .help = NULL}, "BASE"},
    {{"--", ARG_LIST, offsetof(struct typed, new), .help = NULL}, "NEW"},
    {{"full", ARG_FLAG, offsetof(struct typed, full), .help = "every figure"}, NULL},
    {{"md", ARG_PICK, FORMAT, .min = COMPARE_MD, .help = "Markdown, for a pull request"}, NULL},
    {{"json", ARG_PICK, FORMAT, .min = COMPARE_JSON, .help = "every figure with its samples"},
     NULL},
    {{"metric", ARG_METRICS, offsetof(struct typed, metrics),
      .help = "judge these only, and show the others: throughput,acquire_p50, ..."},
     "METRIC,..."},
    {{"min-effect", LB_OPT_PERCENT, offsetof(struct typed, min_effect_percent),
      COMPARE_TEXT(COMPARE_MIN_EFFECT_PERCENT), .min = 0.001, .max = 1000,
      .help = "smaller changes don't count"},
     "PERCENT"},
    {{0}, NULL},
};

static int run_compare(void *values, const struct args *unused, struct lb_err *err) {
    struct typed *typed = values;
    struct arg_list base = typed->base, new = typed->new;
    /* Two runs need no "--" between them. */
    if (new.count == 0 && base.count == 2) {
        new = (struct arg_list){base.item + 1, 1};
        base.count = 1;
    }
    if (base.count == 0 || new.count == 0)
        return err_set(err, LB_EXIT_USAGE,
                       "compare: expected BASE... -- NEW..., runs or folders of runs on both "
                       "sides");
    struct compare_ask ask = {.base = base.item,
                              .new = new.item,
                              .base_count = base.count,
                              .new_count = new.count,
                              .min_effect = typed->min_effect_percent / 100,
                              .metrics = typed->metrics};
    (void)unused;
    struct compare *compare = compare_make(&ask, err);
    if (!compare) return -1;
    int code = compare_exit(compare);
    if (compare_write(compare, typed->format, !typed->full, terminal_has_color(stdout), stdout,
                      err) != 0)
        code = -1;
    compare_free(compare);
    return code;
}

static const struct example examples[] = {
    {"lockbench compare results/monday -- results/tuesday", "what changed between two runs"},
    {"lockbench compare base/* -- new/* --md", "several runs of each side, for a pull request"},
    {"lockbench compare base/* -- new/* --metric throughput,acquire_p50",
     "a gate on two figures; the noise of the others does not count"},
    {NULL, NULL},
};

const struct command command_compare = {
    .name = "compare",
    .summary = "compare saved runs, figure by figure, for people and for CI",
    .usage = "compare BASE... -- NEW... [OPTIONS]",
    .about =
        "Compares saved runs, or folders of runs, with others: each stage's throughput, latencies and\n"
        "costs. One run is one sample, so make ten of each side, in turns. Of one run a side, its stages\n"
        "(run.repeat) are the samples, and a change of the machine looks like a change of the lock.\n"
        "Exit codes: 0 no figure was shown to get worse; 4 a figure got worse, or clients of the new runs\n"
        "were left without a grant (stuck, starved); 5 the runs (without generator-limited ones) are too\n"
        "few or too noisy to decide on every figure that is judged (--metric), or the new runs lack a lock\n"
        "or a load of the base: the first line of the output says which; 3 in the new runs two clients\n"
        "were let in at once, or fencing tokens did not grow.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_compare,
};
