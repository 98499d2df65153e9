/* cmd_report: `lockbench report RUN`: shows a saved run, a saved check or a saved search for capacity as a table,
 * Markdown, JSON or HTML. It reads results only and asks no server. A file is written whole or not at all. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/cli/cli.h"
#include "bench/cli/page.h"
#include "bench/cli/terminal.h"
#include "report/capacity/capacity_doc.h"
#include "report/check/check_doc.h"
#include "report/page/html_parts.h"
#include "results/format/tree.h"

struct typed {
    const char *of; /* NULL = the newest result */
    enum report_format format;
    const char *out; /* NULL = not given */
};

#define FORMAT offsetof(struct typed, format)

static const struct arg args[] = {
    {{"", LB_OPT_TEXT, offsetof(struct typed, of), .help = NULL}, "RUN"},
    {{"out", ARG_PATH, offsetof(struct typed, out),
      .help = "the file, - for standard output; default: -, for html RUN/report.html"},
     "FILE"},
    {{"full", ARG_PICK, FORMAT, .min = REPORT_FULL,
      .help = "for a terminal, with all loads and warnings"},
     NULL},
    {{"quiet", ARG_PICK, FORMAT, .min = REPORT_QUIET, .help = "the verdict only"}, NULL},
    {{"md", ARG_PICK, FORMAT, .min = REPORT_MD, .help = "for a pull request"}, NULL},
    {{"json", ARG_PICK, FORMAT, .min = REPORT_JSON,
      .help = "the same for machines, with the verdict"},
     NULL},
    {{"html", ARG_PICK, FORMAT, .min = REPORT_HTML,
      .help = "one page with charts that opens without a network"},
     NULL},
    {{0}, NULL},
};

/* One of the three documents; the others are NULL. */
struct saved {
    struct report *report;
    struct check *check;
    struct capacity *capacity;
    const char *path, *dir; /* the file that was read, and its folder */
    enum report_format format;
};

static int render(const struct saved *saved, bool color, FILE *out, struct lb_err *err) {
    enum report_format format = saved->format;
    if (format == REPORT_HTML && !saved->report)
        return err_set(err, LB_EXIT_USAGE,
                       "%s: --html is for runs: name one of those in folders of %s, or say --md",
                       saved->path, saved->dir);
    if (saved->capacity) return capacity_write(saved->capacity, format, color, out, err);
    if (saved->check) return report_check_write(saved->check, format, color, out, err);
    return report_write(saved->report, format, color, out, err);
}

static int render_file(const void *saved, FILE *out, struct lb_err *err) {
    return render(saved, false, out, err);
}

/* path: --out, or NULL. */
static int write_to(const struct saved *saved, const char *path, struct lb_err *err) {
    char beside[PATH_MAX];
    if (!path && saved->format == REPORT_HTML) {
        snprintf(beside, sizeof beside, "%s/report.html", saved->dir);
        path = beside;
    }
    if (!path || strcmp(path, "-") == 0)
        return render(saved, terminal_has_color(stdout), stdout, err);
    if (page_write(path, render_file, saved, err) != 0)
        return err->code == LB_EXIT_MACHINE ? err_prefix(err, "report") : -1;
    if (isatty(STDERR_FILENO)) fprintf(stderr, "%s\n", path);
    return 0;
}

/* Refuses to write over the result that is shown, or one beside it. */
static int spare_results(const struct saved *saved, const char *out, struct lb_err *err) {
    static const char *const names[] = {"run.json", "check.json", "capacity.json"};
    char beside[PATH_MAX];
    int rc = page_spare(out, saved->path, err);
    for (size_t i = 0; i < sizeof names / sizeof *names && rc == 0; i++) {
        snprintf(beside, sizeof beside, "%s/%s", saved->dir, names[i]);
        rc = page_spare(out, beside, err);
    }
    return rc;
}

/* Reads a check, a search for capacity, or else a run. */
static int load_report(const char *of, struct saved *saved, struct lb_err *err) {
    if (tree_is(of, CHECK_FILE)) {
        saved->check = check_read(of, err);
        if (!saved->check) return -1;
        saved->path = saved->check->path;
        saved->dir = saved->check->dir;
    } else if (tree_is(of, CAPACITY_FILE)) {
        saved->capacity = capacity_read(of, err);
        if (!saved->capacity) return -1;
        saved->path = saved->capacity->path;
        saved->dir = saved->capacity->dir;
    } else {
        saved->report = report_load(of, err);
        if (!saved->report) return -1;
        saved->path = saved->report->run->path;
        saved->dir = saved->report->run->dir;
    }
    return 0;
}

static int run_report(void *values, const struct args *unused, struct lb_err *err) {
    struct typed *typed = values;
    char results[PATH_MAX], latest[PATH_MAX + 8];
    (void)unused;
    if (!typed->of) {
        if (home_results(results, sizeof results, err)) return -1;
        snprintf(latest, sizeof latest, "%s/latest", results);
        if (access(latest, F_OK) != 0) {
            return err_set(
                err, LB_EXIT_USAGE,
                "report: no run yet in %s: `lockbench run` makes one, or name a run's folder",
                latest);
        }
        typed->of = latest;
    }
    struct saved saved = {.format = typed->format};
    int rc = load_report(typed->of, &saved, err);
    if (rc == 0) rc = spare_results(&saved, typed->out, err);
    if (rc == 0) rc = write_to(&saved, typed->out, err);
    report_free(saved.report);
    check_free(saved.check);
    capacity_free(saved.capacity);
    return rc;
}

static const struct example examples[] = {
    {"lockbench report", "the newest run as a table"},
    {"lockbench report results/latest --html", "as a page with charts"},
    {NULL, NULL},
};

const struct command command_report = {
    .name = "report",
    .summary = "show a saved run as table, Markdown, JSON or HTML",
    .usage = "report [RUN] [--full|--quiet|--md|--json|--html] [--out FILE]",
    .about =
        "Shows a saved run: the folder that `lockbench run` made, or its run.json; without one, the\n"
        "newest. Or a saved check: the folder that `lockbench check` made, or its check.json. Or a\n"
        "saved search: the folder that `lockbench capacity` made; its probes/ are runs.\n"
        "It reads results only, and asks no server. `lockbench compare` is for several runs.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_report,
};
