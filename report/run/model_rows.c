/* model_rows: puts the stages into groups (one for each load) and rows (one for each lock under
 * that load). See model.h. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/number.h"
#include "report/run/model.h"
#include "results/format/hdr.h"
#include "results/format/hist.h"
#include "results/format/run_read.h"

/* A stage and the group and row where it belongs. */
struct ref {
    const struct run_stage *stage;
    const struct report_lock *lock;
    int load;
};

static const char *or_zero(const char *text) {
    return text && *text ? text : "0";
}

char *report_rtt_text(double rtt_ns, char *text) {
    bool in_ms = rtt_ns >= 1e6;
    text[0] = '\0';
    if (rtt_ns >= 0)
        snprintf(text, NUMBER_TEXT_MAX, ", rtt +%g%s", rtt_ns / (in_ms ? 1e6 : 1e3),
                 in_ms        ? "ms"
                 : rtt_ns > 0 ? "us"
                              : "");
    return text;
}

/* The demands of a stage on its lock, beyond one exclusive grant at a time. */
static void write_mode(FILE *out, const struct run_stage *stage) {
    const char *primitive = stage->primitive ? stage->primitive : "";
    char time[NUMBER_TEXT_MAX];
    if (stage->tick_ns > 0)
        fprintf(out, ", a tick each %s", number_time_text(stage->tick_ns, time));
    if (stage->at_least_ns > 0)
        fprintf(out, ", kept for %s at least", number_time_text(stage->at_least_ns, time));
    if (stage->readers > 0) fprintf(out, ", %.0f %% readers", stage->readers);
    if (strcmp(primitive, "semaphore") == 0 && stage->bound > 0) {
        fprintf(out, ", %.0f of %.0f permits", stage->permits, stage->bound);
    }
    if (stage->depth > 1) fprintf(out, ", %.0f deep", stage->depth);
    if (stage->clients_per_session > 1)
        fprintf(out, ", %.0f clients a session", stage->clients_per_session);
    if (stage->session && strcmp(stage->session, "each") == 0)
        fprintf(out, ", a session each time");
    char rtt[NUMBER_TEXT_MAX];
    fputs(report_rtt_text(stage->rtt_ns, rtt), out);
    if (stage->lease_varies) fprintf(out, ", lease %s", number_time_text(stage->lease_ns, time));
    const char *fault = stage->fault ? stage->fault : "none";
    if (strcmp(fault, "pause") == 0) {
        fprintf(out, ", processes paused");
    } else if (strcmp(fault, "kill") == 0) {
        fprintf(out, ", processes killed");
    } else if (strcmp(fault, "none") != 0) {
        fprintf(out, ", fault %s", fault);
    }
}

char *report_load_text(const struct run_stage *stage) {
    char *text = NULL, keys[96];
    size_t size;
    const char *pick = stage->key_distribution, *count = stage->keys ? stage->keys : "?";
    if (strcmp(count, "own") == 0 || (pick && strcmp(pick, "own") == 0)) {
        snprintf(keys, sizeof keys, "a key of its own for each client");
    } else if (strcmp(count, "1") == 0) {
        snprintf(keys, sizeof keys, "one key");
    } else {
        snprintf(keys, sizeof keys, "%s keys%s%s", count, pick ? " " : "", pick ? pick : "");
    }
    const char *mode = stage->mode ? stage->mode : "wait";
    const char *arrival = stage->arrival ? stage->arrival : "?";
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fprintf(out, "%s, %s%s, hold %s, think %s, %s acquire", keys, arrival,
            strcmp(arrival, "closed") == 0 ? " loop" : " arrivals", or_zero(stage->hold),
            or_zero(stage->think), strcmp(mode, "wait") == 0 ? "waiting" : mode);
    write_mode(out, stage);
    return fclose(out) == 0 ? text : NULL;
}

static int by_group_and_row(const void *a, const void *b) {
    const struct ref *x = a, *y = b;
    if (x->load != y->load) return x->load - y->load;
    if (x->stage->clients != y->stage->clients)
        return x->stage->clients < y->stage->clients ? -1 : 1;
    if (x->lock != y->lock) return x->lock < y->lock ? -1 : 1;
    if (report_is_aside_stage(x->stage) != report_is_aside_stage(y->stage))
        return report_is_aside_stage(x->stage) - report_is_aside_stage(y->stage);
    /* Then by throughput, so that the typical repeat is in the middle; a repeat without the figure
     * comes first. */
    double p = x->stage->throughput_per_s, q = y->stage->throughput_per_s;
    p = isnan(p) ? -1 : p;
    q = isnan(q) ? -1 : q;
    return (p > q) - (p < q);
}

/* Adds a stage's histogram to all. 0, or -1 when out of memory. */
static int add_hist(struct hist **all, const char *hdr) {
    struct lb_err err = {0};
    struct hist *hist = hdr_decode(hdr, &err);
    int rc = hist ? 0 : -1;
    if (hist && *all) {
        rc = hist_add(*all, hist);
        hist_free(hist);
    } else {
        *all = hist;
    }
    return rc;
}

/* The percentiles of all repeats together, from their histograms: they are of more values than one repeat has, and no
 * average of percentiles. What a histogram has only to its slots comes from the stages. 0, or -1 when out of memory. */
static int merge_latency(struct report_row *row, enum metric metric) {
    struct run_latency *latency = &row->figures.latency[metric];
    struct hist *all = NULL;
    double sum = 0, min = INFINITY, max = 0, over = 0;
    int rc = 0;
    for (int i = 0; i < row->repeats && rc == 0; i++) {
        const struct run_latency *one = &row->stages[i]->latency[metric];
        if (!one->hdr) continue;
        rc = add_hist(&all, one->hdr);
        sum += one->count * one->mean;
        min = fmin(min, one->min);
        max = fmax(max, one->max);
        over += report_count(one->over);
    }
    if (rc == 0 && all) {
        run_latency_of(latency, all);
        latency->mean = sum / latency->count;
        latency->min = min;
        latency->max = max;
        latency->over = over;
    }
    hist_free(all);
    return rc;
}

static bool same_section(const json_t *a, const json_t *b) {
    return json_equal(json_object_get(a, "section"), json_object_get(b, "section"));
}

/* True if no injection of one of its fault sections acted: then the verdict shows nothing about the
 * lock under that fault. */
static bool has_idle_fault(const struct run_stage *stage) {
    size_t i, j;
    json_t *fault, *other;
    json_array_foreach(stage->faults, i, fault) {
        bool acted = false;
        json_array_foreach(stage->faults, j, other) acted |=
            same_section(fault, other) && json_is_true(json_object_get(other, "acted"));
        if (!acted) return true;
    }
    return false;
}

/* Medians over the repeats; counts are sums, and include the stages aside. A count that no repeat has stays unknown. */
static int fill_figures(struct report_row *row) {
    double *values = malloc((size_t)row->repeats * sizeof *values);
    int rc = 0;
    if (!values) return -1;
    row->figures = *row->typical;
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (!result_field_is_figure(field)) continue;
        for (int i = 0; i < row->repeats; i++)
            values[i] = field->sums ? NAN : result_field_figure(field, row->stages[i]);
        result_field_set_figure(field, &row->figures, number_median(values, row->repeats));
    }
    free(values);
    for (int i = 0; i < row->repeats + row->aside; i++)
        report_add_counts(&row->figures, row->stages[i]);
    for (int m = 0; m < METRICS && row->repeats > 1 && rc == 0; m++)
        rc = merge_latency(row, (enum metric)m);
    return rc;
}

static int fill_row(struct report_row *row, int count) {
    int of = 0, limited = 0;
    while (of < count && !report_is_aside_stage(row->stages[of])) of++;
    if (of == 0) of = count; /* nothing else is there */
    row->repeats = of;
    row->aside = count - of;
    row->unrecorded = NAN;
    for (int i = 0; i < count; i++) {
        row->state = report_worse(row->state, report_stage_state(row->stages[i]));
        row->idle_fault |= has_idle_fault(row->stages[i]);
    }
    for (int i = 0; i < of; i++) {
        row->incomplete += report_incomplete(row->stages[i]);
        limited += report_limited(row->stages[i]);
        row->unrecorded = fmax(row->unrecorded, unrecorded_share(row->stages[i]));
    }
    row->limited = 2 * limited > of; /* fewer do not move a median */
    row->typical = row->stages[of / 2];
    return fill_figures(row);
}

static bool is_of_group(const struct ref *a, const struct ref *b) {
    return a->load == b->load && a->stage->clients == b->stage->clients;
}

static int fill_groups(struct report *report, const struct ref *refs, int count) {
    struct report_group *group = NULL;
    struct report_row *row = report->rows;
    for (int i = 0, next = 0; i < count; i = next, row++) {
        for (;
             next < count && is_of_group(&refs[i], &refs[next]) && refs[next].lock == refs[i].lock;
             next++)
            report->stages[next] = refs[next].stage;
        if (i == 0 || !is_of_group(&refs[i - 1], &refs[i])) {
            group = &report->groups[report->group_count++];
            *group = (struct report_group){.load = report->loads[refs[i].load],
                                           .rtt_ns = refs[i].stage->rtt_ns,
                                           .clients = refs[i].stage->clients,
                                           .rows = row,
                                           .paired = report->run->paired};
        }
        group->row_count++;
        *row = (struct report_row){
            .lock = refs[i].lock, .state = LOCK_BASELINE, .stages = &report->stages[i]};
        if (fill_row(row, next - i) != 0) return -1;
    }
    return 0;
}

/* The number of a load by its first appearance; -1 when out of memory. */
static int load_index(struct report *report, const struct run_stage *stage) {
    int index = 0;
    char *load = report_load_text(stage);
    if (!load) return -1;
    while (report->loads[index] && strcmp(report->loads[index], load) != 0) index++;
    if (report->loads[index])
        free(load);
    else
        report->loads[index] = load;
    return index;
}

int report_make_groups(struct report *report) {
    size_t count = (size_t)report->run->stage_count;
    int rc = -1;
    struct ref *refs = calloc(count, sizeof *refs);
    report->loads = calloc(count + 1, sizeof(char *));
    report->stages = calloc(count, sizeof(struct run_stage *));
    report->rows = calloc(count, sizeof *report->rows);
    report->groups = calloc(count, sizeof *report->groups);
    if (!refs || !report->loads || !report->stages || !report->rows || !report->groups) goto out;
    for (size_t i = 0; i < count; i++) {
        const struct run_stage *stage = &report->run->stages[i];
        refs[i] = (struct ref){stage, report_lock_of(report, stage), load_index(report, stage)};
        if (refs[i].load < 0) goto out;
    }
    qsort(refs, count, sizeof *refs, by_group_and_row);
    rc = fill_groups(report, refs, (int)count);
out:
    free(refs);
    return rc;
}
