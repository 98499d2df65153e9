/* cmd_history: `lockbench history`: appends the medians of runs to a file, and holds the newest runs of that file against
 * those before them. It reads results only and asks no server. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/cli/cli.h"
#include "bench/cli/terminal.h"
#include "bench/tools/history/append.h"
#include "report/trend/trend.h"

#define RUNS_MAX 1000

struct typed {
    struct arg_list runs;
    bool append, full;
    const char *file, *commit;
    double min_effect_percent;
    enum compare_format format;
    struct trend_ask ask;
};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct typed, runs), .help = NULL}, "RUN"},
    {{"append", ARG_FLAG, offsetof(struct typed, append),
      .help = "add a line for each lock and load of these runs that the file does not have"},
     NULL},
    {{"file", ARG_PATH, offsetof(struct typed, file),
      .help = "the history; default: results/history.csv"},
     "FILE"},
    {{"commit", LB_OPT_TEXT, offsetof(struct typed, commit),
      .help = "with --append: the tested version"},
     "ID"},
    {{"metric", ARG_METRICS, offsetof(struct typed, ask.metrics),
      .help = "judge these only, and show the others: throughput,acquire_p50, ..."},
     "METRIC,..."},
    {{"gate", LB_OPT_INT32, offsetof(struct typed, ask.gate), .min = TREND_GATE_LEAST,
      .max = RUNS_MAX,
      .help =
          "compare the newest N runs with the N before them, as `lockbench compare` does; at least 4"},
     "N"},
    {{"min-effect", LB_OPT_PERCENT, offsetof(struct typed, min_effect_percent),
      COMPARE_TEXT(COMPARE_MIN_EFFECT_PERCENT), .min = 0.001, .max = 1000,
      .help = "smaller changes don't count"},
     "PERCENT"},
    {{"full", ARG_FLAG, offsetof(struct typed, full), .help = "every figure"}, NULL},
    {{"md", ARG_PICK, offsetof(struct typed, format), .min = COMPARE_MD, .help = "Markdown"}, NULL},
    {{"json", ARG_PICK, offsetof(struct typed, format), .min = COMPARE_JSON,
      .help = "every figure with its samples"},
     NULL},
    {{0}, NULL},
};

/* Refuses options without an effect: otherwise a job could believe that its --gate had judged something. */
static int check_args(const struct typed *typed, struct lb_err *err) {
    const struct trend_ask *ask = &typed->ask;
    if (typed->append != (typed->runs.count > 0))
        return err_set(err, LB_EXIT_USAGE,
                       "history: runs are added with history RUN... --append; another history is "
                       "named by --file FILE");
    if (!typed->append && !ask->gate)
        return err_set(err, LB_EXIT_USAGE,
                       "history: say --gate N, which judges the newest runs, or RUN... --append");
    if (typed->append && (ask->gate || ask->metrics || typed->format))
        return err_set(
            err, LB_EXIT_USAGE,
            "history: --append adds lines and judges nothing: first history RUN... --append, then "
            "history --gate N, --md, ...");
    if (typed->commit && !typed->append)
        return err_set(err, LB_EXIT_USAGE,
                       "history: --commit names the commit of appended runs: add --append");
    return 0;
}

static int append_runs(const struct typed *typed, struct lb_err *err) {
    int lines =
        history_append(typed->file, typed->runs.item, typed->runs.count, typed->commit, err);
    if (lines < 0) return -1;
    printf("%s: %d line%s added\n", typed->file, lines, lines == 1 ? "" : "s");
    return LB_EXIT_OK;
}

static int judge(const struct typed *typed, struct lb_err *err) {
    struct trend *trend = trend_read(typed->file, &typed->ask, err);
    if (!trend) return -1;
    int code = compare_exit(trend->gate);
    if (compare_write(trend->gate, typed->format, !typed->full, terminal_has_color(stdout), stdout,
                      err) != 0)
        code = -1;
    trend_free(trend);
    return code;
}

static int run_history(void *values, const struct args *unused, struct lb_err *err) {
    struct typed *typed = values;
    char file[PATH_MAX];
    (void)unused;
    typed->ask.min_effect = typed->min_effect_percent / 100;
    if (check_args(typed, err) != 0) return -1;
    if (!typed->file) {
        if (home_results(file, sizeof file - sizeof "/history.csv", err) != 0) return -1;
        strcat(file, "/history.csv");
        typed->file = file;
    }
    return (typed->append ? append_runs : judge)(typed, err);
}

static const struct example examples[] = {
    {"lockbench history results/latest --append", "add the newest run to results/history.csv"},
    {"lockbench history --gate 10", "did the newest ten runs get worse than the ten before them?"},
    {NULL, NULL},
};

const struct command command_history = {
    .name = "history",
    .summary = "append saved runs to a history, and gate on its newest runs",
    .usage =
        "history --gate N [OPTIONS]\n       lockbench history RUN... --append [--file FILE] [--commit ID]",
    .about =
        "Keeps the medians of runs in a file, by default results/history.csv, and compares the newest N runs\n"
        "of each series with the N before them, by the test of `lockbench compare` and with its exit codes:\n"
        "0 no figure was shown to get worse; 4 a figure got worse, or clients were left without a grant;\n"
        "5 the runs are too few or too noisy to decide; 3 two clients were let in at once, or fencing\n"
        "tokens did not grow. Runs on another machine, or with other options of the lock, are another\n"
        "series; only the one with the newest run is judged.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_history,
};
