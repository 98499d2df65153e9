/* exposition: see exposition.h. */
#include "bench/run/exposition.h"

#include <math.h>
#include <string.h>

#include "bench/measure/cell.h"
#include "results/format/hist.h"
#include "results/format/run_read.h"
#include "results/stats/quantile.h"

#define LABELS_MAX 700

enum family_of { OF_RUN, OF_STAGE, OF_END };

/* A family of samples with one name. */
struct family {
    const char *name, *type, *unit;
    const char *labels; /* beside those of the stage, for the reference; NULL = none */
    const char *help;   /* NULL = the help of the metric in run.json */
    enum family_of of;
    enum metric metric;
    /* One of them. */
    double (*value)(const struct exposition *run);
    void (*samples)(FILE *out, const struct family *family, const struct exposition *run,
                    const char *stage_labels);
};

static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};
static const char stage_label_names[] = "stage, lock, backend, topology, clients";

/* --- values --- */

static double value_up(const struct exposition *run) {
    (void)run;
    return 1;
}

static double value_planned(const struct exposition *run) {
    return run->stages_planned > 0 ? run->stages_planned : NAN;
}

static double value_begun(const struct exposition *run) {
    return run->stages_begun;
}

static double value_elapsed_s(const struct exposition *run) {
    return run->news ? (double)run->news->elapsed_ns / 1e9 : 0;
}

static double value_window_s(const struct exposition *run) {
    return (double)run->ask->plan->duration_ns / 1e9;
}

/* The outcomes add up to the attempts in every scrape: the supervisor reads each only once. */
static double value_attempts(const struct exposition *run) {
    double sum = 0;
    for (int i = 0; run->news && i < LB_OUTCOMES; i++) sum += (double)run->news->outcomes[i];
    return sum;
}

static double value_grants(const struct exposition *run) {
    return run->news ? (double)run->news->outcomes[LB_OK] : 0;
}

/* --- samples --- */

/* A label's value as the format wants it. */
static void write_escaped(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '\\' || *text == '"') fputc('\\', out);
        if (*text == '\n') {
            fputs("\\n", out);
        } else {
            fputc(*text, out);
        }
    }
}

static void write_sample_value(FILE *out, double value) {
    if (isnan(value)) {
        fputs("NaN\n", out);
    } else {
        fprintf(out, "%.15g\n", value);
    }
}

static void samples_version(FILE *out, const struct family *family, const struct exposition *run,
                            const char *stage_labels) {
    (void)stage_labels;
    fprintf(out, "%s{version=\"", family->name);
    write_escaped(out, run->version);
    fputs("\"} 1\n", out);
}

static void samples_end(FILE *out, const struct family *family, const struct exposition *run,
                        const char *stage_labels) {
    (void)stage_labels;
    fprintf(out, "%s{exit_code=\"", family->name);
    if (run->exit_code >= 0) fprintf(out, "%d", run->exit_code);
    fputs("\",reason=\"", out);
    write_escaped(out, run->reason);
    fputs("\"} 1\n", out);
}

static void samples_outcomes(FILE *out, const struct family *family, const struct exposition *run,
                             const char *stage_labels) {
    for (int i = 0; i < LB_OUTCOMES; i++) {
        fprintf(out, "%s{%s,outcome=\"%s\"} ", family->name, stage_labels,
                lb_outcome_name((enum lb_outcome)i));
        write_sample_value(out, run->news ? (double)run->news->outcomes[i] : 0);
    }
}

static void samples_findings(FILE *out, const struct family *family, const struct exposition *run,
                             const char *stage_labels) {
    static const struct findings none;
    const struct findings *found = run->news ? run->news->findings : &none;
    const struct {
        const char *kind;
        uint64_t count;
    } rows[] = {{"double_holder", atomic_load(&found->double_holders)},
                {"expired_holder", atomic_load(&found->expired_holders)},
                {"token_error", atomic_load(&found->token_errors)},
                {"early", atomic_load(&found->early)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fprintf(out, "%s{%s,kind=\"%s\"} ", family->name, stage_labels, rows[i].kind);
        write_sample_value(out, (double)rows[i].count);
    }
}

static void samples_times(FILE *out, const struct family *family, const struct exposition *run,
                          const char *stage_labels) {
    const struct hist *second = run->news ? run->news->interval[family->metric] : NULL;
    const struct hist *total = run->news ? run->news->total[family->metric] : NULL;
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        bool known = second && quantile_supported((double)second->count, quantiles[i]);
        fprintf(out, "%s{%s,quantile=\"%g\"} ", family->name, stage_labels, quantiles[i]);
        write_sample_value(out, known ? (double)hist_quantile(second, quantiles[i]) / 1e9 : NAN);
    }
    fprintf(out, "%s_sum{%s} ", family->name, stage_labels);
    write_sample_value(out, total ? (double)total->sum / 1e9 : 0);
    fprintf(out, "%s_count{%s} ", family->name, stage_labels);
    write_sample_value(out, total ? (double)total->count : 0);
}

/* --- the table --- */

#define RUN(name_, type_, ...)                                                                     \
    { .name = "lockbench_" name_, .type = type_, .of = OF_RUN, __VA_ARGS__ }
#define STAGE(name_, type_, ...)                                                                   \
    { .name = "lockbench_" name_, .type = type_, .of = OF_STAGE, __VA_ARGS__ }
#define END(name_, type_, ...)                                                                     \
    { .name = name_, .type = type_, .of = OF_END, __VA_ARGS__ }
#define TIMES(metric_, name_, ...)                                                                 \
    STAGE(name_ "_seconds", "summary", .unit = "seconds", .labels = "quantile", .metric = metric_, \
          .samples = samples_times, __VA_ARGS__)

static const struct family families[] = {
    RUN("up", "gauge", .value = value_up,
        .help = "1 while the run goes on; 0 in the file that it left behind"),
    RUN("build_info", "gauge", .labels = "version", .samples = samples_version,
        .help = "always 1; the label has the version of lockbench"),
    RUN("stages", "gauge", .value = value_planned, .help = "stages that the run plans"),
    RUN("stages_begun_total", "counter", .value = value_begun,
        .help = "stages that have begun, the one that runs included"),
    END(EXPOSITION_END, "gauge", .labels = "exit_code, reason", .samples = samples_end,
        .help =
            "always 1, and only in the file that a run left behind: the run's exit code, empty if "
            "it was killed, and why the code is not 0"),
    STAGE("stage_elapsed_seconds", "gauge", .unit = "seconds", .value = value_elapsed_s,
          .help = "how far the stage's window is; greater than the window when it drains"),
    STAGE("stage_window_seconds", "gauge", .unit = "seconds", .value = value_window_s,
          .help = "the planned length of the stage's window"),
    STAGE("attempts_total", "counter", .value = value_attempts,
          .help = "attempts that ended, in the window; the sum of all outcomes"),
    STAGE("grants_total", "counter", .value = value_grants,
          .help = "attempts in the window with the outcome ok: granted, and not lost while held"),
    STAGE("outcomes_total", "counter", .labels = "outcome", .samples = samples_outcomes,
          .help = "attempts in the window by how they ended"),
    STAGE("findings", "gauge", .labels = "kind", .samples = samples_findings,
          .help = "faults of exclusion so far, warm-up included; one may move to another kind when "
                  "its holder learns late that it had lost the grant"),
    TIMES(METRIC_ACQUIRE, "acquire"),
    TIMES(METRIC_ACQUIRE_DUE, "acquire_due"),
    TIMES(METRIC_ACQUIRE_SHARED, "acquire_shared"),
    TIMES(METRIC_ACQUIRE_EXCLUSIVE, "acquire_exclusive"),
    TIMES(METRIC_ACQUIRE_DUE_SHARED, "acquire_due_shared"),
    TIMES(METRIC_ACQUIRE_DUE_EXCLUSIVE, "acquire_due_exclusive"),
    TIMES(METRIC_RELEASE, "release"),
    TIMES(METRIC_HOLD, "hold"),
    TIMES(METRIC_HANDOFF, "handoff"),
    TIMES(METRIC_LAG, "lag"),
    TIMES(METRIC_WAIT_FAILED, "wait_failed"),
    TIMES(METRIC_CONNECT, "connect"),
    TIMES(METRIC_LAST_AWAKE, "last_awake"),
    TIMES(METRIC_HICCUP, "hiccup",
          .help = "how late the load generator's own timer of 1 ms was: a p99 above a millisecond "
                  "shows in all latencies"),
};
#define FAMILIES (sizeof families / sizeof *families)

static const char *help_of(const struct family *family) {
    char path[64];
    if (family->help) return family->help;
    snprintf(path, sizeof path, "latency_ns.%s", metric_name(family->metric));
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (strcmp(field->path, path) == 0) return field->help;
    }
    return "";
}

/* The number of a stage is the one that its id and its files begin with. */
static void stage_labels_of(const struct stage_ask *ask, char *text, size_t size) {
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

static void write_family(FILE *out, const struct family *family, const struct exposition *run,
                         const char *labels) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", family->name, help_of(family), family->name,
            family->type);
    if (family->samples) {
        family->samples(out, family, run, labels);
        return;
    }
    fputs(family->name, out);
    if (family->of == OF_STAGE) fprintf(out, "{%s}", labels);
    fputc(' ', out);
    write_sample_value(out, family->value(run));
}

void exposition_write(FILE *out, const struct exposition *run) {
    char labels[LABELS_MAX] = "";
    if (run->ask) stage_labels_of(run->ask, labels, sizeof labels);
    for (size_t i = 0; i < FAMILIES; i++) {
        if (families[i].of == OF_RUN || (families[i].of == OF_STAGE && run->ask))
            write_family(out, &families[i], run, labels);
    }
}

void exposition_write_end(FILE *out, const struct exposition *run) {
    for (size_t i = 0; i < FAMILIES; i++) {
        if (families[i].of == OF_END) write_family(out, &families[i], run, "");
    }
}

void exposition_reference(FILE *out) {
    fputs("| name | type | unit | labels | what |\n|---|---|---|---|---|\n", out);
    for (size_t i = 0; i < FAMILIES; i++) {
        const struct family *family = &families[i];
        const char *of = family->of == OF_STAGE ? "of the stage" : "";
        const char *and = family->of == OF_STAGE && family->labels ? ", " : "";
        fprintf(out, "| `%s` | %s | %s | %s%s%s | %s |\n", family->name, family->type,
                family->unit ? family->unit : "", of, and, family->labels ? family->labels : "",
                help_of(family));
    }
    fprintf(out, "\nLabels of the stage: %s.\n", stage_label_names);
}
