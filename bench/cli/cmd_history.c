/* cmd_history: `lockbench history`: appends the medians of runs to a file, and shows how the
 * figures of that file changed over time. It reads results only and asks no server. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/base/shell_quote.h"
#include "bench/cli/cli.h"
#include "bench/cli/metrics.h"
#include "bench/cli/page.h"
#include "bench/cli/terminal.h"
#include "report/trend/trend.h"

#define RUNS_MAX 100000

enum format { FORMAT_TABLE, FORMAT_MD, FORMAT_JSON, FORMAT_HTML };

struct wish {
    struct arg_list names;
    bool append, no_page;
    const char *file, *commit, *otava, *acks;
    const char *out; /* the page */
    double min_effect_percent;
    enum format format;
    struct trend_ask ask;
};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct wish, names), .help = NULL}, "RUN"},
    {{"append", ARG_FLAG, offsetof(struct wish, append),
      .help = "add a line for each lock and load of these runs; lines that are there stay as "
              "they are"},
     NULL},
    {{"file", ARG_PATH, offsetof(struct wish, file),
      .help = "with --append: the file; default: results/history.csv"},
     "FILE"},
    {{"commit", LB_OPT_TEXT, offsetof(struct wish, commit),
      .help = "with --append: the tested version; default: LOCKBENCH_COMMIT, else GITHUB_SHA"},
     "ID"},
    {{"lock", ARG_LOCK, offsetof(struct wish, ask.lock), .help = "show this one only"}, "LOCK"},
    {{"metric", ARG_METRICS, offsetof(struct wish, ask.metrics),
      .help = "show and judge these only: throughput,acquire_p50, ..."},
     "METRIC,..."},
    {{"last", LB_OPT_INT32, offsetof(struct wish, ask.last), "10", .min = 1, .max = RUNS_MAX,
      .help = "the median is over so many of the newest runs"},
     "RUNS"},
    {{"gate", LB_OPT_INT32, offsetof(struct wish, ask.gate), .min = TREND_LEVEL, .max = RUNS_MAX,
      .help = "exit code 4 if a figure became worse within so many of the newest runs, at least 3, "
              "or if a lock got stuck or starved its clients in the newest run; corrected over all "
              "figures of all series"},
     "RUNS"},
    {{"acks", ARG_PATH, offsetof(struct wish, acks),
      .help = "known changes that don't fail the gate, a line for each: COMMIT-OR-RUN LOCK FIGURE "
              "WHY; default: FILE.acks, if there is one"},
     "FILE"},
    {{"min-effect", LB_OPT_PERCENT, offsetof(struct wish, min_effect_percent),
      COMPARE_TEXT(COMPARE_MIN_EFFECT_PERCENT), .max = 1000, .help = "smaller changes don't count"},
     "PERCENT"},
    {{"table", ARG_PICK, offsetof(struct wish, format), .min = FORMAT_TABLE,
      .help = "for a terminal; the default"},
     NULL},
    {{"md", ARG_PICK, offsetof(struct wish, format), .min = FORMAT_MD, .help = "Markdown"}, NULL},
    {{"json", ARG_PICK, offsetof(struct wish, format), .min = FORMAT_JSON,
      .help = "every series with its values and changes"},
     NULL},
    {{"html", ARG_PICK, offsetof(struct wish, format), .min = FORMAT_HTML,
      .help = "like the table, but a page that can't be written is a failure"},
     NULL},
    {{"out", ARG_PATH, offsetof(struct wish, out),
      .help =
          "the file of the page with charts; default: beside the history, history.csv gets history.html"},
     "FILE"},
    {{"no-page", ARG_FLAG, offsetof(struct wish, no_page), .help = "leave out the page"}, NULL},
    {{"otava", ARG_PATH, offsetof(struct wish, otava),
      .help = "write a CSV file for each series and an otava.yaml into DIR, for Apache Otava"},
     "DIR"},
    {{0}, NULL},
};

/* The first option for the text or the page of a history; NULL = none was given. */
static const char *printing_option(const struct wish *wish) {
    return wish->out                     ? "--out"
           : wish->format == FORMAT_HTML ? "--html"
           : wish->format == FORMAT_JSON ? "--json"
           : wish->format == FORMAT_MD   ? "--md"
                                         : NULL;
}

/* The first option that has an effect only where a history is shown, or is written for Otava; NULL = none was
 * given. */
static const char *showing_option(const struct wish *wish) {
    return wish->ask.gate > 0  ? "--gate"
           : wish->otava       ? "--otava"
           : wish->acks        ? "--acks"
           : wish->ask.lock    ? "--lock"
           : wish->ask.metrics ? "--metric"
                               : printing_option(wish);
}

/* Refuses options without an effect: otherwise a job could believe that its --gate had judged something. */
static int check_append(const struct wish *wish, struct lb_err *err) {
    const char *option = showing_option(wish);
    if (option)
        return err_set(
            err, LB_EXIT_USAGE,
            "history: --append adds lines and shows nothing, so %s would have no effect: first history "
            "RUN... --append, then history %s",
            option, option);
    if (wish->names.count > 0) return 0;
    return err_set(err, LB_EXIT_USAGE, "history: --append wants runs: history RUN... --append");
}

static int check_args(struct wish *wish, struct lb_err *err) {
    if (wish->append) return check_append(wish, err);
    if (page_check_options("history", wish->no_page, wish->out, err) != 0) return -1;
    if (wish->otava && printing_option(wish))
        return err_set(err, LB_EXIT_USAGE,
                       "history: --otava writes its files and shows no history: leave out %s",
                       printing_option(wish));
    if (wish->commit)
        return err_set(err, LB_EXIT_USAGE,
                       "history: --commit names the commit of appended runs: add --append");
    if (wish->file && wish->names.count > 0)
        return err_set(err, LB_EXIT_USAGE,
                       "history: two files: %s and %s; runs are appended with --append", wish->file,
                       wish->names.item[0]);
    if (wish->names.count > 1)
        return err_set(err, LB_EXIT_USAGE,
                       "history: shows one file; runs are appended with --append");
    if (wish->names.count == 1) wish->file = wish->names.item[0];
    return 0;
}

static const char *commit_of(const struct wish *wish) {
    const char *commit = wish->commit;
    if (!commit) commit = getenv("LOCKBENCH_COMMIT");
    if (!commit || !*commit) commit = wish->commit ? wish->commit : getenv("GITHUB_SHA");
    return commit;
}

static int append_runs(const struct wish *wish, const char *file, struct lb_err *err) {
    struct trend_added added = {0};
    if (trend_append(file, wish->names.item, wish->names.count, commit_of(wish), &added, err) != 0)
        return -1;
    printf("%s: %d line%s added", file, added.lines, added.lines == 1 ? "" : "s");
    if (added.there > 0)
        printf(", %d %s there already", added.there, added.there == 1 ? "was" : "were");
    if (added.limited > 0)
        printf("; %d stage%s left out of the medians: the load generator was the limit",
               added.limited, added.limited == 1 ? "" : "s");
    if (added.partial > 0)
        printf("; %d of the runs %s PARTIAL: only stages that came to their end are in the lines",
               added.partial, added.partial == 1 ? "is" : "are");
    printf("\n");
    return LB_EXIT_OK;
}

/* Reads the acknowledged changes, from --acks or beside the history; *ret is NULL if there is no
 * such file. 0, or -1 with err. */
static int read_acks(const struct wish *wish, const char *file, struct trend_acks **ret,
                     struct lb_err *err) {
    char beside[PATH_MAX];
    const char *path = wish->acks;
    snprintf(beside, sizeof beside, "%s.acks", file);
    if (!path && access(beside, F_OK) == 0) path = beside;
    *ret = path ? trend_acks_read(path, err) : NULL;
    return path && !*ret ? -1 : 0;
}

static int render_history_page(const void *view, FILE *out, struct lb_err *err) {
    return trend_page(view, out, err);
}

/* Writes "results/history.html" beside "results/history.csv". The exit code, or -1 with err if the
 * user asked for the page. */
static int write_history_page(const struct wish *wish, const char *file,
                              const struct trend_view *view, struct lb_err *err) {
    char beside[PATH_MAX + sizeof ".html"];
    int code = trend_exit(view);
    size_t length = strlen(file);
    if (length > 4 && strcmp(file + length - 4, ".csv") == 0) length -= 4;
    snprintf(beside, sizeof beside, "%.*s.html", (int)length, file);
    if (wish->out || wish->format == FORMAT_HTML)
        return page_conclude(code, wish->out ? wish->out : beside, render_history_page, view, err);
    if (wish->format == FORMAT_TABLE && !wish->no_page)
        page_offer(beside, render_history_page, view);
    return code;
}

/* Prints in the format that is wanted; a terminal also gets the page. The exit code, or -1 with err. */
static int print_history(const struct wish *wish, const char *file, const struct trend_view *view,
                         struct lb_err *err) {
    struct doc doc = {0};
    bool md = wish->format == FORMAT_MD;
    if (wish->format == FORMAT_JSON) {
        if (trend_write_json(view, stdout, err) != 0) return -1;
    } else {
        trend_doc(view, md || terminal_has_blocks(stdout), &doc);
        if (doc_write_and_free(&doc, md ? DOC_MARKDOWN : DOC_TERMINAL, terminal_has_color(stdout),
                               stdout, err) != 0)
            return -1;
    }
    return write_history_page(wish, file, view, err);
}

/* Writes Otava's files, and prints the command that reads them. The exit code, or -1 with err. */
static int write_otava(const struct trend_view *view, const char *folder, struct lb_err *err) {
    struct trend_otava wrote;
    char config[PATH_MAX + sizeof "/otava.yaml"];
    if (trend_write_otava(view, folder, &wrote, err) != 0) return -1;
    snprintf(config, sizeof config, "%s/otava.yaml", folder);
    printf("%s: %d series; OTAVA_CONFIG=", folder, wrote.tests);
    shell_quote(stdout, config);
    printf(" otava analyze\n");
    if (*wrote.left_out)
        printf("%s: left out, since Otava needs a number in each cell: %s\n", folder,
               wrote.left_out);
    free(wrote.left_out);
    return trend_exit(view);
}

static int show_history(const struct wish *wish, const char *file, struct lb_err *err) {
    struct trend_ask ask = wish->ask;
    struct trend_acks *acks = NULL;
    struct trend *trend = trend_read(file, err);
    if (!trend || read_acks(wish, file, &acks, err) != 0 || page_spare(wish->out, file, err) != 0 ||
        (acks && page_spare(wish->out, acks->path, err) != 0)) {
        trend_acks_free(acks);
        trend_free(trend);
        return -1;
    }
    ask.acks = acks;
    struct trend_view *view = trend_look(trend, &ask, err);
    int code = -1;
    if (view && wish->otava) {
        code = write_otava(view, wish->otava, err);
    } else if (view) {
        code = print_history(wish, file, view, err);
    }
    trend_view_free(view);
    trend_acks_free(acks);
    trend_free(trend);
    return code;
}

static int run_history(void *values, const struct args *unused, struct lb_err *err) {
    struct wish *wish = values;
    char file[PATH_MAX];
    (void)unused;
    wish->ask.min_effect = wish->min_effect_percent / 100;
    if (check_args(wish, err) != 0) return -1;
    if (!wish->file) {
        if (home_results(file, sizeof file - sizeof "/history.csv", err) != 0) return -1;
        strcat(file, "/history.csv");
        wish->file = file;
    }
    return (wish->append ? append_runs : show_history)(wish, wish->file, err);
}

static const struct example examples[] = {
    {"lockbench history results/latest --append", "add the newest run to results/history.csv"},
    {"lockbench history --gate 5", "exit code 4 when a figure became worse within the newest five"},
    {"lockbench history --out trend.html", "the trend; the page with charts goes there"},
    {NULL, NULL},
};

const struct command command_history = {
    .name = "history",
    .summary = "append saved runs to a history and show where figures changed",
    .usage =
        "history [FILE] [OPTIONS]\n       lockbench history RUN... --append [--file FILE] [--commit ID]",
    .about =
        "Shows the figures from run to run, and where they changed; default file:\n"
        "results/history.csv. Exit codes: 0; 3 if two clients held at once, or fencing tokens did not\n"
        "grow, in the newest run of a series that has not ended; with --gate 4 if figures became worse,\n"
        "or a lock got stuck or starved its clients in the newest run of a series, 5 if the load generator\n"
        "limited so many of the runs that fewer than 3 are left, if fewer than 3 have a figure of --metric\n"
        "that older runs have, if no series has the 6 runs that can show a change, or if the newest run\n"
        "is in a series that began within the gate's runs: nothing compares it with the older series of\n"
        "its lock and load. A series has ended when another one of the same lock has 10 newer runs.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct wish),
    .run = run_history,
};
