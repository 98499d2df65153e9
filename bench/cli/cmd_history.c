/* cmd_history: `lockbench history`: appends the medians of runs to a file, and shows from it how
 * the figures went, with their change points. It reads results only and asks no server. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/base/nearest.h"
#include "bench/cli/args.h"
#include "bench/cli/cli.h"
#include "bench/option/text.h"
#include "report/trend/trend.h"

#define LAST_DEFAULT 10
#define RUNS_MAX 100000

enum {
    OPT_APPEND,
    OPT_FILE,
    OPT_COMMIT,
    OPT_LOCK,
    OPT_METRIC,
    OPT_LAST,
    OPT_GATE,
    OPT_MIN_EFFECT,
    OPT_TABLE,
    OPT_MD,
    OPT_JSON,
    OPT_OTAVA,
    OPT_HELP
};

static const struct args_option options[] = {
    [OPT_APPEND] =
        {"append", NULL,
         "add a line for each lock and load of these runs; what is there stays as it is"},
    [OPT_FILE] = {"file", "FILE", "with --append: where to; default: results/history.csv"},
    [OPT_COMMIT] = {"commit", "ID",
                    "with --append: what was measured; default: LOCKBENCH_COMMIT, else GITHUB_SHA"},
    [OPT_LOCK] = {"lock", "LOCK", "show this one only"},
    [OPT_METRIC] = {"metric", "METRIC", "show this one only: throughput, acquire_p50, ..."},
    [OPT_LAST] = {"last", "RUNS", "the median is that of so many newest runs; default 10"},
    [OPT_GATE] =
        {"gate", "RUNS",
         "exit code 4 when a figure has become worse within so many newest runs, at least 3"},
    [OPT_MIN_EFFECT] = {"min-effect", "PERCENT", "smaller changes are none; default 3"},
    [OPT_TABLE] = {"table", NULL, "for a terminal; the default"},
    [OPT_MD] = {"md", NULL, "Markdown"},
    [OPT_JSON] = {"json", NULL, "every series with its values and changes"},
    [OPT_OTAVA] = {"otava", "DIR",
                   "write a CSV file a series and otava.yaml there, for Apache Otava"},
    [OPT_HELP] = {"help", NULL, "this text"},
    {0},
};

struct wish {
    const char **names; /* room for argc */
    int name_count;
    bool append, help;
    const char *file, *commit, *otava;
    int format;
    struct trend_ask ask;
};

static int metric_of(const char *name, struct lb_err *err) {
    struct nearest nearest;
    char hint[64];
    nearest_init(&nearest, name);
    for (int m = 0; m < compare_metric_count(); m++) {
        if (strcmp(name, compare_metric(m)->compared) == 0) return m;
        nearest_offer(&nearest, compare_metric(m)->compared);
    }
    return err_set(err, LB_EXIT_USAGE, "history: no metric '%.40s'%s; %s is one", name,
                   nearest_hint(&nearest, hint, sizeof hint), compare_metric(0)->compared);
}

static int read_count(const char *option, const char *text, int least, int *ret,
                      struct lb_err *err) {
    int64_t count;
    if (text_int(text, least, RUNS_MAX, &count, err) != 0) {
        err_prefix(err, "history: --%s", option);
        return -1;
    }
    *ret = (int)count;
    return 0;
}

static int read_option(int option, const char *value, struct wish *wish, struct lb_err *err) {
    double percent;
    switch (option) {
    case OPT_APPEND:
        wish->append = true;
        return 0;
    case OPT_FILE:
        wish->file = value;
        return 0;
    case OPT_COMMIT:
        wish->commit = value;
        return 0;
    case OPT_LOCK:
        wish->ask.lock = value;
        return 0;
    case OPT_METRIC:
        wish->ask.metric = metric_of(value, err);
        return wish->ask.metric < 0 ? -1 : 0;
    case OPT_LAST:
        return read_count("last", value, 1, &wish->ask.last, err);
    case OPT_GATE:
        return read_count("gate", value, TREND_LEVEL, &wish->ask.gate, err);
    case OPT_MIN_EFFECT:
        if (text_real(value, 0, 1000, &percent, err) != 0) {
            err_prefix(err, "history: --min-effect");
            return -1;
        }
        wish->ask.min_effect = percent / 100;
        return 0;
    case OPT_OTAVA:
        wish->otava = value;
        return 0;
    case OPT_HELP:
        wish->help = true;
        return 0;
    default:
        wish->format = option;
        return 0;
    }
}

static int check_args(struct wish *wish, struct lb_err *err) {
    if (wish->append) {
        if (wish->name_count > 0) return 0;
        return err_set(err, LB_EXIT_USAGE, "history: --append wants runs: history RUN... --append");
    }
    if (wish->commit)
        return err_set(err, LB_EXIT_USAGE, "history: --commit says what is appended: add --append");
    if (wish->file && wish->name_count > 0)
        return err_set(err, LB_EXIT_USAGE,
                       "history: two files: %s and %s; runs are appended with --append", wish->file,
                       wish->names[0]);
    if (wish->name_count > 1)
        return err_set(err, LB_EXIT_USAGE,
                       "history: shows one file; runs are appended with --append");
    if (wish->name_count == 1) wish->file = wish->names[0];
    return 0;
}

static int read_args(int argc, char **argv, struct wish *wish, struct lb_err *err) {
    struct args args;
    const char *value;
    args_init(&args, argc, argv, options);
    for (int option; (option = args_next(&args, &value, err)) != ARGS_END;) {
        if (option == ARGS_WRONG) return -1;
        if (option == ARGS_OPERAND) {
            wish->names[wish->name_count++] = value;
        } else if (read_option(option, value, wish, err) != 0) {
            return -1;
        }
        if (wish->help) return 0;
    }
    return check_args(wish, err);
}

static const char *commit_of(const struct wish *wish) {
    const char *commit = wish->commit;
    if (!commit) commit = getenv("LOCKBENCH_COMMIT");
    if (!commit || !*commit) commit = wish->commit ? wish->commit : getenv("GITHUB_SHA");
    return commit;
}

static int append(const struct wish *wish, const char *file, struct lb_err *err) {
    int added = 0, there = 0;
    if (trend_append(file, wish->names, wish->name_count, commit_of(wish), &added, &there, err) !=
        0)
        return -1;
    printf("%s: %d line%s added", file, added, added == 1 ? "" : "s");
    if (there > 0) printf(", %d %s there already", there, there == 1 ? "was" : "were");
    printf("\n");
    return LB_EXIT_OK;
}

/* Blocks only where they can be shown. */
static bool draws_lines(void) {
    const char *locale = getenv("LC_ALL");
    if (!locale || !*locale) locale = getenv("LC_CTYPE");
    if (!locale || !*locale) locale = getenv("LANG");
    bool utf8 = locale && (strstr(locale, "UTF-8") || strstr(locale, "utf8"));
    return utf8 && isatty(STDOUT_FILENO);
}

static int show(const struct wish *wish, const char *file, struct lb_err *err) {
    struct trend *trend = trend_read(file, err);
    struct trend_view *view = trend ? trend_look(trend, &wish->ask, err) : NULL;
    int code = view ? trend_exit(view) : -1, failed = 0;
    bool color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    if (view && wish->otava) {
        failed = trend_write_otava(view, wish->otava, err);
        if (!failed)
            printf("%s: %d series; OTAVA_CONFIG=%s/otava.yaml otava analyze\n", wish->otava,
                   view->count, wish->otava);
    } else if (view) {
        struct doc doc = {0};
        bool md = wish->format == OPT_MD;
        if (wish->format != OPT_JSON) trend_doc(view, md || draws_lines(), &doc);
        failed =
            wish->format == OPT_JSON
                ? trend_write_json(view, stdout)
                : doc_write_and_free(&doc, md ? DOC_MARKDOWN : DOC_TERMINAL, color, stdout, err);
        if (failed) err_set(err, LB_EXIT_MACHINE, "history: cannot write: is the disk full?");
    }
    trend_view_free(view);
    trend_free(trend);
    return failed ? -1 : code;
}

int cmd_history(int argc, char **argv) {
    struct lb_err err = {0};
    char file[PATH_MAX];
    struct wish wish = {
        .names = calloc((size_t)argc + 1, sizeof *wish.names),
        .format = OPT_TABLE,
        .ask = {.metric = -1, .last = LAST_DEFAULT, .min_effect = COMPARE_MIN_EFFECT},
    };
    int code = 0;
    if (!wish.names) {
        err_set(&err, LB_EXIT_MACHINE, "out of memory");
    } else if (read_args(argc, argv, &wish, &err) == 0 && !wish.help) {
        if (!wish.file && home_results(file, sizeof file - sizeof "/history.csv", &err) == 0) {
            strcat(file, "/history.csv");
            wish.file = file;
        }
        if (wish.file) code = (wish.append ? append : show)(&wish, wish.file, &err);
    }
    if (wish.help) {
        args_help(
            "history [FILE] [OPTIONS]\n       lockbench history RUN... --append [--file FILE] [--commit ID]",
            "Shows how the figures went from run to run, and where they changed; default:\n"
            "results/history.csv. Exit codes: 0, 3 when the newest run of a lock let two in,\n"
            "with --gate 4 when figures became worse.",
            options, stdout);
    }
    free(wish.names);
    return err.code ? args_fail(&err) : code;
}
