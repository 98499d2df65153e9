/* metrics_file: see metrics_file.h. */
#include "bench/run/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/measure/cell.h"
#include "results/format/run_read.h"
#include "results/stats/quantile.h"

#define BODY_MAX 65536 /* about 20 KB are usual */

struct metrics_file {
    char path[PATH_MAX], temporary[PATH_MAX + 8];
    const char *version;
    char body[BODY_MAX]; /* the figures of the last second, without lockbench_up */
};

static void write_head(FILE *out, const char *name, const char *type, const char *help) {
    fprintf(out, "# HELP lockbench_%s %s\n# TYPE lockbench_%s %s\n", name, help, name, type);
}

/* A label's value as the format wants it. */
static void write_escaped(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '\\' || *text == '"') fputc('\\', out);
        fputs(*text == '\n' ? "\\n" : (char[]){*text, '\0'}, out);
    }
}

/* labels: "" or "{...}". */
static void write_value(FILE *out, const char *name, const char *labels, double value) {
    fprintf(out, "lockbench_%s%s ", name, labels);
    fprintf(out, isnan(value) ? "NaN\n" : "%.15g\n", value);
}

static void write_one(FILE *out, const char *name, const char *type, const char *help,
                      const char *labels, double value) {
    write_head(out, name, type, help);
    write_value(out, name, labels, value);
}

/* The sample of a stage with one label more. */
static void write_labelled(FILE *out, const char *name, const char *stage, const char *label,
                           const char *word, double value) {
    char labels[800];
    snprintf(labels, sizeof labels, "{%s,%s=\"%s\"}", stage, label, word);
    write_value(out, name, labels, value);
}

static const char *metric_help(enum metric metric) {
    char path[64];
    snprintf(path, sizeof path, "latency_ns.%s", metric_name(metric));
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (strcmp(field->path, path) == 0) return field->help;
    }
    return "how late the load generator's own timer of 1 ms was: a p99 above a millisecond shows in "
           "all latencies"; /* of hiccup, which is no latency of the lock */
}

/* Counts since the window began; quantiles of the last second alone, where it has enough values. */
static void write_times(FILE *out, const struct stage_news *news, enum metric metric,
                        const char *stage) {
    static const char *const quantiles[] = {"0.5", "0.9", "0.99", "0.999"};
    const struct hist *second = news ? news->interval[metric] : NULL;
    const struct hist *total = news ? news->total[metric] : NULL;
    char name[64];
    snprintf(name, sizeof name, "%s_seconds", metric_name(metric));
    write_head(out, name, "summary", metric_help(metric));
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        double quantile = strtod(quantiles[i], NULL);
        bool known = second && quantile_supported((double)second->count, quantile);
        write_labelled(out, name, stage, "quantile", quantiles[i],
                       known ? (double)hist_quantile(second, quantile) / 1e9 : NAN);
    }
    fprintf(out, "lockbench_%s_sum{%s} %.15g\n", name, stage,
            total ? (double)total->sum / 1e9 : 0.0);
    fprintf(out, "lockbench_%s_count{%s} %lld\n", name, stage,
            total ? (long long)total->count : 0LL);
}

static void write_findings(FILE *out, const struct stage_news *news, const char *stage) {
    static const struct findings none;
    const struct findings *found = news ? news->findings : &none;
    write_head(out, "findings", "gauge",
               "faults of exclusion so far, warm-up included; one may move to another kind when "
               "its holder learns late that it had lost the grant");
    write_labelled(out, "findings", stage, "kind", "double_holder",
                   (double)atomic_load(&found->double_holders));
    write_labelled(out, "findings", stage, "kind", "expired_holder",
                   (double)atomic_load(&found->expired_holders));
    write_labelled(out, "findings", stage, "kind", "token_error",
                   (double)atomic_load(&found->token_errors));
    write_labelled(out, "findings", stage, "kind", "early", (double)atomic_load(&found->early));
}

/* The number of a stage is the one that its id and its files begin with. */
static void make_stage_labels(const struct stage_ask *ask, char *text, size_t size) {
    const struct lb_lock *lock = ask->lock->lock;
    text[0] = '\0';
    FILE *out = fmemopen(text, size, "w");
    if (!out) return;
    fprintf(out, "stage=\"%.*s\",lock=\"%s\",backend=\"%s\",topology=\"",
            (int)strcspn(ask->id, "-"), ask->id, lock->name, lock->backend->name);
    write_escaped(out, ask->topology ? ask->topology : "");
    fprintf(out, "\",clients=\"%d\"", ask->clients);
    fclose(out);
}

static void write_stage(FILE *out, const struct stage_ask *ask, const struct stage_news *news) {
    char stage[600], labels[610];
    make_stage_labels(ask, stage, sizeof stage);
    snprintf(labels, sizeof labels, "{%s}", stage);
    write_one(out, "stage_elapsed_seconds", "gauge",
              "how far the stage's window is; greater than the window when it drains", labels,
              news ? (double)news->elapsed_ns / 1e9 : 0);
    write_one(out, "stage_window_seconds", "gauge", "the planned length of the stage's window",
              labels, (double)ask->plan->duration_ns / 1e9);
    write_head(out, "outcomes_total", "counter",
               "attempts that ended in the window, by how they ended");
    for (int i = 0; i < LB_OUTCOMES; i++)
        write_labelled(out, "outcomes_total", stage, "outcome", lb_outcome_name((enum lb_outcome)i),
                       news ? (double)news->outcomes[i] : 0);
    write_findings(out, news, stage);
    for (int metric = 0; metric < METRICS; metric++) {
        if (metric != METRIC_PING) write_times(out, news, (enum metric)metric, stage);
    }
}

static void make_body(struct metrics_file *file, const struct metrics_now *now) {
    FILE *out = fmemopen(file->body, sizeof file->body, "w");
    if (!out) return;
    write_head(out, "build_info", "gauge", "always 1; the label has the version of lockbench");
    fprintf(out, "lockbench_build_info{version=\"%s\"} 1\n", file->version);
    write_one(out, "stages", "gauge", "stages that the run plans", "",
              now->stages_planned > 0 ? now->stages_planned : NAN);
    write_one(out, "stages_begun_total", "counter",
              "stages that have begun, the one that runs included", "", now->stages_begun);
    if (now->ask) write_stage(out, now->ask, now->news);
    fclose(out);
}

/* reason: NULL while the run goes on. -1 with errno. */
static int replace_file(const struct metrics_file *file, int exit_code, const char *reason) {
    int fd = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out) return -1;
    write_one(out, "up", "gauge", "1 while the run goes on; 0 in the file that it left", "",
              reason ? 0 : 1);
    fputs(file->body, out);
    if (reason) {
        write_head(out, "end_info", "gauge",
                   "always 1, and only after the run: its exit code, and why the code is not 0");
        fprintf(out, "lockbench_end_info{exit_code=\"%d\",reason=\"", exit_code);
        write_escaped(out, reason);
        fputs("\"} 1\n", out);
    }
    bool whole = fflush(out) == 0 && !ferror(out);
    int failed = errno;
    if (fclose(out) == 0 && whole && rename(file->temporary, file->path) == 0) return 0;
    if (whole) failed = errno;
    remove(file->temporary);
    errno = failed;
    return -1;
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
                       "--metrics %s: since 0.2.0 lockbench opens no port: name a FILE.prom in the "
                       "folder that node_exporter's textfile collector reads",
                       path);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return err_set(err, LB_EXIT_USAGE, "--metrics %s: is no regular file: name a file", path);
    if (strlen(path) >= PATH_MAX)
        return err_set(err, LB_EXIT_USAGE, "--metrics: the path is too long");
    return 0;
}

static int not_written(const struct metrics_file *file, struct lb_err *err) {
    return err_set(err, LB_EXIT_MACHINE, "--metrics %s: cannot be written: %s", file->path,
                   strerror(errno));
}

struct metrics_file *metrics_file_open(const char *path, const char *version, struct lb_err *err) {
    if (check_path(path, err) != 0) return NULL;
    struct metrics_file *file = calloc(1, sizeof *file);
    if (!file) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    snprintf(file->path, sizeof file->path, "%s", path);
    snprintf(file->temporary, sizeof file->temporary, "%s.new", path);
    file->version = version;
    make_body(file, &(struct metrics_now){0});
    if (replace_file(file, 0, NULL) == 0) return file;
    not_written(file, err);
    free(file);
    return NULL;
}

void metrics_file_write(struct metrics_file *file, const struct metrics_now *now) {
    if (!file) return;
    make_body(file, now);
    (void)replace_file(file, 0, NULL);
}

int metrics_file_close(struct metrics_file *file, int exit_code, const char *reason,
                       struct lb_err *err) {
    if (!file) return 0;
    int failed = replace_file(file, exit_code, reason);
    if (failed) not_written(file, err);
    free(file);
    return failed;
}
