/* metrics_file: see metrics_file.h. */
#include "bench/cli/metrics_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/output.h"
#include "bench/measure/cell.h"
#include "results/stats/quantile.h"

#define BODY_MAX 16384 /* about 3 KB are usual */

struct metrics_file {
    char path[PATH_MAX];
    char body[BODY_MAX]; /* the figures of the last second, without lockbench_up */
};

static void write_head(FILE *out, const char *name, const char *type, const char *help) {
    fprintf(out, "# HELP lockbench_%s %s\n# TYPE lockbench_%s %s\n", name, help, name, type);
}

/* Counts since the window began; quantiles of the last second alone, where it has enough values. */
static void write_times(FILE *out, const char *stage, const struct stage_news *news) {
    static const struct {
        enum metric metric;
        const char *name, *help;
    } times[] = {
        {METRIC_ACQUIRE, "acquire_seconds", "from the call to the grant"},
        {METRIC_RELEASE, "release_seconds", "from the call of release to its end"},
        {METRIC_HANDOFF, "handoff_seconds", "from the end of a hold to the next client's grant"},
        {METRIC_HICCUP, "hiccup_seconds",
         "how late the load generator's own timer of 1 ms was: a p99 above a millisecond shows in "
         "all other times"},
    };
    static const double quantiles[] = {0.5, 0.99};
    for (size_t t = 0; t < sizeof times / sizeof *times; t++) {
        const char *name = times[t].name;
        const struct hist *second = news->interval ? news->interval[times[t].metric] : NULL;
        const struct hist *total = news->total ? news->total[times[t].metric] : NULL;
        write_head(out, name, "summary", times[t].help);
        for (size_t q = 0; q < sizeof quantiles / sizeof *quantiles; q++) {
            bool known = second && quantile_supported((double)second->count, quantiles[q]);
            fprintf(out, "lockbench_%s{%s,quantile=\"%g\"} ", name, stage, quantiles[q]);
            if (known)
                fprintf(out, "%.9g\n", (double)hist_quantile(second, quantiles[q]) / 1e9);
            else
                fputs("NaN\n", out);
        }
        fprintf(out, "lockbench_%s_sum{%s} %.15g\n", name, stage,
                total ? (double)total->sum / 1e9 : 0.0);
        fprintf(out, "lockbench_%s_count{%s} %lld\n", name, stage,
                total ? (long long)total->count : 0LL);
    }
}

static void write_stage(FILE *out, const struct run_at *at, const struct stage_news *news) {
    const struct {
        const char *name, *help;
        double value;
    } gauges[] = {
        {"stage_elapsed_seconds", "how far the stage's window is; beyond its length when it drains",
         (double)news->elapsed_ns / 1e9},
        {"stage_window_seconds", "the planned length of the stage's window",
         (double)news->total_ns / 1e9},
        {"overlaps",
         "grants so far while another client was inside, warm-up included; judged after the stage",
         (double)news->overlaps},
    };
    char stage[300]; /* its number is the one that its id and its files begin with */
    snprintf(stage, sizeof stage, "stage=\"%.*s\",lock=\"%s\",clients=\"%d\"",
             (int)strcspn(news->id, "-"), news->id, at->lock, at->clients);
    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++) {
        write_head(out, gauges[i].name, "gauge", gauges[i].help);
        fprintf(out, "lockbench_%s{%s} %.15g\n", gauges[i].name, stage, gauges[i].value);
    }
    write_head(out, "outcomes_total", "counter",
               "attempts that ended in the window, by how they ended");
    for (int i = 0; i < LB_OUTCOMES; i++)
        fprintf(out, "lockbench_outcomes_total{%s,outcome=\"%s\"} %llu\n", stage,
                lb_outcome_name((enum lb_outcome)i), (unsigned long long)news->outcomes[i]);
    write_times(out, stage, news);
}

/* -1 with errno. */
static int replace_file(const struct metrics_file *file, bool goes_on) {
    struct output_file fresh;
    FILE *out = output_begin(&fresh, file->path);
    if (!out) return -1;
    write_head(out, "up", "gauge", "1 while the run goes on; 0 in the file that it left");
    fprintf(out, "lockbench_up %d\n", goes_on);
    fputs(file->body, out);
    return output_replace(&fresh, out, file->path, true);
}

static bool is_address(const char *text) {
    const char *colon = strrchr(text, ':');
    return colon && colon[1] && !strchr(text, '/') &&
           strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

/* Refuses what must not be replaced by a file. */
static int check_path(const char *path, struct lb_err *err) {
    struct stat status;
    if (is_address(path))
        return err_set(err, LB_EXIT_USAGE,
                       "--prometheus %s: lockbench opens no port: name a FILE.prom, which "
                       "node_exporter's textfile collector reads",
                       path);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return err_set(err, LB_EXIT_USAGE, "--prometheus %s: is no regular file: name a file",
                       path);
    if (strlen(path) >= PATH_MAX)
        return err_set(err, LB_EXIT_USAGE, "--prometheus: the path is too long");
    return 0;
}

static int not_written(const struct metrics_file *file, struct lb_err *err) {
    return err_set(err, LB_EXIT_MACHINE, "--prometheus %s: cannot be written: %s", file->path,
                   strerror(errno));
}

struct metrics_file *metrics_file_open(const char *path, struct lb_err *err) {
    if (check_path(path, err) != 0) return NULL;
    struct metrics_file *file = calloc(1, sizeof *file);
    if (!file) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    snprintf(file->path, sizeof file->path, "%s", path);
    if (replace_file(file, true) == 0) return file;
    not_written(file, err);
    free(file);
    return NULL;
}

void metrics_file_write(struct metrics_file *file, const struct run_at *at,
                        const struct stage_news *news) {
    FILE *out = file ? fmemopen(file->body, sizeof file->body, "w") : NULL;
    if (!out) return;
    write_stage(out, at, news);
    fclose(out);
    (void)replace_file(file, true);
}

int metrics_file_close(struct metrics_file *file, struct lb_err *err) {
    if (!file) return 0;
    int failed = replace_file(file, false);
    if (failed) not_written(file, err);
    free(file);
    return failed;
}
