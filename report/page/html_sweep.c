/* html_sweep: latency over the offered rate, with the answers of a capacity.json. See html_views.h. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/escape.h"
#include "report/page/html_parts.h"
#include "report/run/field_value.h"
#include "results/format/capacity_read.h"

static bool equal(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

/* A stage of an open loop, and the properties of the stages that share a line with it. */
struct probe {
    const struct run_stage *stage;
    int lock;
    char *load; /* the load without the rate; owned */
};

static bool is_offered(const struct run_stage *stage) {
    return stage->offered_per_s > 0 && stage->grants > 0;
}

/* The load in words, without its rate. Malloced. */
static char *load_of(const struct run_stage *stage) {
    struct run_stage shape = *stage;
    shape.sweep_leg = NULL; /* the ways up and down are two lines of one chart */
    char kind[32];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(stage->arrival ? stage->arrival : "?", ":"),
             stage->arrival ? stage->arrival : "?");
    shape.arrival = kind;
    return report_load_text(&shape);
}

static int by_line(const void *a, const void *b) {
    const struct probe *x = a, *y = b;
    if (x->lock != y->lock) return x->lock - y->lock;
    if (x->stage->clients != y->stage->clients)
        return x->stage->clients < y->stage->clients ? -1 : 1;
    int loads = strcmp(x->load, y->load);
    if (loads) return loads;
    double p = x->stage->offered_per_s, q = y->stage->offered_per_s;
    return (p > q) - (p < q);
}

static bool same_line(const struct probe *x, const struct probe *y) {
    return x->lock == y->lock && x->stage->clients == y->stage->clients &&
           strcmp(x->load, y->load) == 0;
}

/* {"leg", "offered", "achieved", "missed", "mean", "p50", ...}: times from due to granted: mean and
 * count of the granted requests, percentiles of all due requests: null if there were too few, or
 * "never". */
static json_t *point_of(const struct probe *probe) {
    const struct run_stage *stage = probe->stage;
    const struct run_latency *due = &stage->latency[METRIC_ACQUIRE_DUE];
    json_t *point = json_object();
    int rc = escape_json_put(point, "leg", escape_json(stage->sweep_leg));
    rc |= escape_json_put(point, "stage", escape_json(stage->id));
    rc |= escape_json_put(point, "offered", escape_json_figure(stage->offered_per_s));
    rc |= escape_json_put(point, "achieved", escape_json_figure(stage->throughput_per_s));
    rc |= escape_json_put(point, "missed", escape_json_figure(stage->missed));
    rc |= escape_json_put(point, "limited", json_boolean(report_limited(stage)));
    rc |= escape_json_put(point, "count", escape_json_figure(due->count));
    rc |= escape_json_put(point, "mean", escape_json_figure(due->mean));
    rc |= escape_json_put(point, "p50", field_figure_json(stage->response_p50));
    rc |= escape_json_put(point, "p90", field_figure_json(stage->response_p90));
    rc |= escape_json_put(point, "p99", field_figure_json(stage->response_p99));
    rc |= escape_json_put(point, "p999", field_figure_json(stage->response_p999));
    if (rc == 0) return point;
    json_decref(point);
    return NULL;
}

/* 1/(hold + handoff) of one key, by the stage with most handoffs. NAN if no handoff was measured, or
 * if several clients may hold: several keys, permits, readers. */
static double bound_of(const struct probe *probes, int count) {
    const struct run_stage *most = NULL;
    bool one_key =
        equal(probes->stage->keys, "1") && !equal(probes->stage->key_distribution, "own");
    for (int i = 0; i < count; i++) {
        const struct run_stage *stage = probes[i].stage;
        double handed = stage->latency[METRIC_HANDOFF].count;
        if (handed > 0 && (!most || handed > most->latency[METRIC_HANDOFF].count)) most = stage;
    }
    if (!most || !one_key || most->readers > 0 || most->bound > 1) return NAN;
    return 1e9 / (most->latency[METRIC_HOLD].mean + most->latency[METRIC_HANDOFF].mean);
}

/* The promise of the search and its answer, if the run's folder has them. */
static json_t *promise_of(const struct capacity *capacity, const struct probe *probe) {
    for (int i = 0; capacity && i < capacity->lock_count; i++) {
        const struct capacity_lock *lock = &capacity->locks[i];
        if (!equal(lock->lock, probe->stage->lock) || lock->by != CAPACITY_BY_RATE) continue;
        if (lock->topology && !equal(lock->topology, probe->stage->topology)) continue;
        json_t *promise = json_object();
        int rc = escape_json_put(promise, "slo", escape_json(lock->slo));
        rc |= escape_json_put(promise, "metric", escape_json(lock->metric));
        rc |= escape_json_put(promise, "quantile", escape_json_figure(lock->quantile));
        rc |= escape_json_put(promise, "limit", escape_json_figure(lock->limit_ns));
        rc |= escape_json_put(promise, "answered", json_boolean(lock->answered));
        rc |= escape_json_put(promise, "value",
                              escape_json_figure(lock->answered ? lock->value : NAN));
        rc |= escape_json_put(promise, "low", escape_json_figure(lock->answered ? lock->low : NAN));
        rc |=
            escape_json_put(promise, "high", escape_json_figure(lock->answered ? lock->high : NAN));
        rc |= escape_json_put(promise, "limitedBy",
                              escape_json(capacity_limit_name(lock->limited_by)));
        rc |= escape_json_put(promise, "why", escape_json(lock->why));
        if (rc == 0) return promise;
        json_decref(promise);
        return NULL;
    }
    return json_null();
}

static json_t *rate_line_json(const struct probe *probes, int count,
                              const struct capacity *capacity) {
    json_t *line = json_object(), *points = json_array();
    int rc = escape_json_put(line, "lock", json_integer(probes->lock));
    rc |= escape_json_put(line, "load", escape_json(probes->load));
    rc |= escape_json_put(line, "clients", escape_json_figure(probes->stage->clients));
    rc |= escape_json_put(line, "points", points);
    for (int i = 0; i < count && rc == 0; i++)
        rc |= json_array_append_new(points, point_of(&probes[i]));
    if (rc == 0) rc |= escape_json_put(line, "bound", escape_json_figure(bound_of(probes, count)));
    if (rc == 0) rc |= escape_json_put(line, "promise", promise_of(capacity, probes));
    if (rc == 0) return line;
    json_decref(line);
    return NULL;
}

/* Reads the capacity.json of each run, NULL if it has none. A file that can't be read is an error,
 * because it is a part of the run. */
static struct capacity **read_capacities(const struct report *report, struct lb_err *err) {
    struct capacity **all = calloc((size_t)report->run_count + 1, sizeof(struct capacity *));
    if (!all) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    for (int r = 0; r < report->run_count; r++) {
        if (!capacity_is(report->runs[r]->dir)) continue;
        all[r] = capacity_read(report->runs[r]->dir, err);
        if (all[r]) continue;
        while (r > 0) capacity_free(all[--r]);
        free(all);
        return NULL;
    }
    return all;
}

static int add_lines(const struct report *report, const struct probe *probes, int count,
                     json_t *list, struct lb_err *err) {
    struct capacity **capacities = read_capacities(report, err);
    int rc = capacities ? 0 : -1;
    for (int i = 0, next; i < count && rc == 0; i = next) {
        for (next = i + 1; next < count && same_line(&probes[i], &probes[next]);) next++;
        const struct capacity *capacity = capacities[report->locks[probes[i].lock].run];
        rc = json_array_append_new(list, rate_line_json(probes + i, next - i, capacity));
    }
    for (int r = 0; capacities && r < report->run_count; r++) capacity_free(capacities[r]);
    free(capacities);
    return rc;
}

int html_rates(const struct report *report, json_t *root, struct lb_err *err) {
    int count = 0, stages = 0, rc = -1;
    json_t *list = json_array();
    for (int r = 0; r < report->run_count; r++) stages += report->runs[r]->stage_count;
    struct probe *probes = calloc((size_t)stages + 1, sizeof *probes);
    if (json_object_set_new(root, "rates", list) || !probes) goto out;
    for (int r = 0; r < report->run_count; r++) {
        for (int s = 0; s < report->runs[r]->stage_count; s++) {
            const struct run_stage *stage = &report->runs[r]->stages[s];
            if (!is_offered(stage)) continue;
            probes[count] = (struct probe){stage, html_lock_of(report, r, stage), load_of(stage)};
            if (!probes[count++].load) goto out;
        }
    }
    if (count > 0) qsort(probes, (size_t)count, sizeof *probes, by_line);
    rc = add_lines(report, probes, count, list, err);
out:
    for (int i = 0; i < count; i++) free(probes[i].load);
    free(probes);
    if (rc && !err->code) err_set(err, LB_EXIT_MACHINE, "out of memory");
    return rc;
}
