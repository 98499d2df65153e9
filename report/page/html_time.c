/* html_time: how the typical repeat of each row went over time, for the series of the page:
 * "over_time": a list with a list for each group, which has an object, or null, for each row:
 *
 *   {"from": [s], "to": [s], "grants": [n], "acquire": T, "acquire_due": T, "handoff": T, "lag": T,
 *    "merged": n, "cut": bool, "faults": [...], "offered": per s}
 *   T = {"p50": [ns], "p99": [ns]}
 *
 * An interval is an entry of each list; one with too few times for a percentile has null there.
 * Read from the stage's histogram log beside run.json; without one from run.json's own series. Long
 * runs have several seconds an interval ("merged"): the histograms are added, never the
 * percentiles. It shows what of a damaged log can be read, and says that it is cut. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/escape.h"
#include "report/page/html_parts.h"
#include "results/format/hlog.h"
#include "results/stats/quantile.h"

#define INTERVALS_ALL 4400 /* the most intervals of all rows: some 300 bytes each */
#define INTERVALS_MAX 120  /* the most intervals of a row */
#define INTERVALS_MIN 10

enum shown { SHOWN_ACQUIRE, SHOWN_DUE, SHOWN_HANDOFF, SHOWN_LAG, SHOWN };

static const enum metric metrics[SHOWN] = {METRIC_ACQUIRE, METRIC_ACQUIRE_DUE, METRIC_HANDOFF,
                                           METRIC_LAG};

/* A stage's log while its lists are made. */
struct timeline {
    json_t *from, *to, *grants, *p50[SHOWN], *p99[SHOWN];
    struct hist *hist[SHOWN]; /* of the interval in progress; NULL before the first line */
    int64_t first_ns;         /* the window's begin in the log, by Unix time */
    int64_t begin_ns, end_ns; /* begin and end of the interval */
    int64_t line_ns;          /* start of the last line */
    /* seconds in the interval, seconds of a full interval, intervals done */
    int lines, merge, count;
    /* in a closed loop requests are always due and never late, so two metrics are left out */
    bool open;
    int rc;
};

static void append(struct timeline *time, json_t *list, json_t *value) {
    if (json_array_append_new(list, value)) time->rc = -1;
}

/* The p99 of a few times would be hardly less than their maximum. */
static json_t *quantile_json(const struct hist *hist, double q) {
    bool supported = hist && quantile_supported((double)hist->count, q);
    return supported ? json_integer(hist_quantile(hist, q)) : json_null();
}

static void close_interval(struct timeline *time) {
    if (time->lines == 0) return;
    append(time, time->from, json_real((double)(time->begin_ns - time->first_ns) / 1e9));
    append(time, time->to, json_real((double)(time->end_ns - time->first_ns) / 1e9));
    const struct hist *acquire = time->hist[SHOWN_ACQUIRE];
    append(time, time->grants, json_integer(acquire ? acquire->count : 0));
    for (int m = 0; m < SHOWN; m++) {
        struct hist *hist = time->hist[m];
        append(time, time->p50[m], quantile_json(hist, 0.5));
        append(time, time->p99[m], quantile_json(hist, 0.99));
        if (hist) hist_reset(hist);
    }
    time->lines = 0;
    time->count++;
}

static int metric_of(const struct timeline *time, const char *tag) {
    for (int m = 0; m < SHOWN; m++) {
        if (strcmp(tag, metric_name(metrics[m])) != 0) continue;
        return time->open || (m != SHOWN_DUE && m != SHOWN_LAG) ? m : -1;
    }
    return -1;
}

/* Adds a line to the interval. -1: out of memory, or a histogram of another shape than those
 * before. */
static int take_log_line(struct timeline *time, const struct hlog_line *line) {
    int m = metric_of(time, line->tag);
    if (m < 0) return 0;
    bool first = time->count == 0 && time->lines == 0;
    if (first) time->first_ns = line->start_ns;
    if (first || line->start_ns != time->line_ns) {
        if (time->lines >= time->merge) close_interval(time);
        if (time->lines == 0) time->begin_ns = line->start_ns;
        time->line_ns = line->start_ns;
        time->end_ns = line->start_ns + line->length_ns;
        time->lines++;
    }
    if (!time->hist[m]) time->hist[m] = hist_new(line->hist->digits, line->hist->highest);
    return time->hist[m] ? hist_add(time->hist[m], line->hist) : -1;
}

/* True if any log could be read; *ret_cut: a log was not read to its end. */
static bool read_log(struct timeline *time, const char *path, int limit, bool *ret_cut) {
    struct lb_err err = {0};
    struct hlog_line line;
    struct hlog_reader *reader = hlog_open(path, &err);
    if (!reader) return false;
    int got;
    while ((got = hlog_next(reader, &line, &err)) == 1 && time->count < limit) {
        if (take_log_line(time, &line)) break;
    }
    *ret_cut = got != 0;
    close_interval(time);
    hlog_close(reader);
    return time->count > 0;
}

static json_t *second_figure(const json_t *second, const char *member) {
    double ns = json_number_value(json_object_get(second, member));
    return ns > 0 ? escape_json_figure(ns) : json_null(); /* 0: a second without a grant */
}

/* Reads run.json's own seconds. */
static void read_series(struct timeline *time, const struct run_stage *stage) {
    size_t count = json_array_size(stage->series);
    if (count > 0 &&
        json_is_true(json_object_get(json_array_get(stage->series, count - 1), "draining")))
        count--;
    for (size_t i = 0; i < count && i < INTERVALS_MAX * 5; i++) {
        const json_t *second = json_array_get(stage->series, i),
                     *next = json_array_get(stage->series, i + 1);
        double from_s = json_number_value(json_object_get(second, "t_s"));
        double to_s = next ? json_number_value(json_object_get(next, "t_s")) : stage->duration_s;
        append(time, time->from, json_real(from_s));
        append(time, time->to, json_real(isfinite(to_s) && to_s > from_s ? to_s : from_s + 1));
        append(time, time->grants,
               json_integer((json_int_t)json_number_value(json_object_get(second, "ok"))));
        append(time, time->p50[SHOWN_ACQUIRE], second_figure(second, "acquire_p50_ns"));
        append(time, time->p99[SHOWN_ACQUIRE], second_figure(second, "acquire_p99_ns"));
        time->count++;
    }
}

static json_t *faults_of(const struct run_stage *stage, int *rc) {
    static const char *const members[] = {"kind", "target", "from_s", "to_s", "acted"};
    json_t *faults = json_array();
    for (size_t i = 0; i < json_array_size(stage->faults); i++) {
        const json_t *fault = json_array_get(stage->faults, i);
        json_t *copy = json_object();
        for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
            json_t *value = json_object_get(fault, members[m]);
            *rc |= json_object_set(copy, members[m], value ? value : json_null());
        }
        *rc |= json_array_append_new(faults, copy);
    }
    return faults;
}

/* Makes one object of the lists of a timeline and the members beside them; takes the lists over. */
static json_t *object_of(struct timeline *time, const struct run_stage *stage, bool logged,
                         bool cut) {
    json_t *object = json_object();
    int rc = json_object_set_new(object, "from", time->from);
    rc |= json_object_set_new(object, "to", time->to);
    rc |= json_object_set_new(object, "grants", time->grants);
    for (int m = 0; m < SHOWN; m++) {
        json_t *metric = json_object();
        bool has = logged ? time->hist[m] != NULL : m == SHOWN_ACQUIRE;
        rc |= json_object_set_new(metric, "p50", time->p50[m]);
        rc |= json_object_set_new(metric, "p99", time->p99[m]);
        if (has) rc |= json_object_set(object, metric_name(metrics[m]), metric);
        json_decref(metric);
    }
    rc |= json_object_set_new(object, "merged", json_integer(logged ? time->merge : 1));
    rc |= json_object_set_new(object, "logged", json_boolean(logged));
    rc |= json_object_set_new(object, "cut", json_boolean(cut));
    rc |= json_object_set_new(object, "faults", faults_of(stage, &rc));
    rc |= json_object_set_new(object, "offered", escape_json_figure(stage->offered_per_s));
    if (rc) time->rc = -1;
    return object;
}

/* The timeline of one stage; the JSON null if nothing is known over time. NULL when out of
 * memory. */
static json_t *stage_time(const struct run *run, const struct run_stage *stage, int intervals) {
    struct timeline time = {.from = json_array(),
                            .to = json_array(),
                            .grants = json_array(),
                            .merge = 1,
                            .open = html_is_open(stage)};
    for (int m = 0; m < SHOWN; m++) {
        time.p50[m] = json_array();
        time.p99[m] = json_array();
    }
    if (stage->duration_s > intervals && stage->duration_s < 1e8)
        time.merge = (int)ceil(stage->duration_s / intervals);
    char *path = NULL;
    bool logged = false, cut = false;
    /* The name comes from a file, so it is used only if it names a file in the same folder. */
    if (stage->id && run->dir && !strchr(stage->id, '/')) {
        if (asprintf(&path, "%s/%s.hlog", run->dir, stage->id) < 0) path = NULL;
        logged = path && read_log(&time, path, 2 * INTERVALS_MAX, &cut);
        free(path);
    }
    if (!logged) read_series(&time, stage);
    json_t *object = object_of(&time, stage, logged, cut);
    for (int m = 0; m < SHOWN; m++) hist_free(time.hist[m]);
    if (time.count == 0 && time.rc == 0) {
        json_decref(object);
        return json_null();
    }
    if (time.rc == 0) return object;
    json_decref(object);
    return NULL;
}

int html_time(const struct report *report, json_t *root, struct lb_err *err) {
    int rows = 0;
    json_t *groups = json_array();
    int rc = json_object_set_new(root, "over_time", groups);
    for (int g = 0; g < report->group_count; g++) rows += report->groups[g].row_count;
    int intervals = INTERVALS_ALL / (rows ? rows : 1);
    if (intervals > INTERVALS_MAX) intervals = INTERVALS_MAX;
    if (intervals < INTERVALS_MIN) intervals = INTERVALS_MIN;
    for (int g = 0; g < report->group_count && rc == 0; g++) {
        const struct report_group *group = &report->groups[g];
        json_t *list = json_array();
        rc = json_array_append_new(groups, list);
        for (int r = 0; r < group->row_count && rc == 0; r++) {
            const struct run *run = report->runs[report->locks[group->rows[r].lock].run];
            rc = json_array_append_new(list, stage_time(run, group->rows[r].typical, intervals));
        }
    }
    return rc ? err_set(err, LB_EXIT_MACHINE, "out of memory") : 0;
}
