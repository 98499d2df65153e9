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

static struct report_row *add_report_row(struct report_group *group,
                                         const struct report_lock *lock) {
    struct report_row *more = realloc(group->rows, (size_t)(group->row_count + 1) * sizeof *more);
    if (!more) return NULL;
    group->rows = more;
    struct report_row *row = &group->rows[group->row_count++];
    *row = (struct report_row){.lock = lock, .state = LOCK_BASELINE};
    return row;
}

static struct report_group *add_group(struct report *report, const struct ref *ref) {
    char *load = report_load_text(ref->stage);
    struct report_group *more =
        realloc(report->groups, (size_t)(report->group_count + 1) * sizeof *report->groups);
    if (more) report->groups = more;
    if (!load || !more) {
        free(load);
        return NULL;
    }
    struct report_group *group = &report->groups[report->group_count++];
    *group = (struct report_group){.load = load,
                                   .rtt_ns = ref->stage->rtt_ns,
                                   .load_index = ref->load,
                                   .clients = ref->stage->clients};
    return group;
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

/* The median of a figure over the repeats. */
static double median_of(const struct result_field *field, const struct ref *refs, int count,
                        double *values) {
    for (int i = 0; i < count; i++) values[i] = result_field_figure(field, refs[i].stage);
    return number_median(values, count);
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
static int merge_latency(struct run_latency *latency, enum metric metric, const struct ref *refs,
                         int count) {
    struct hist *all = NULL;
    double sum = 0, min = INFINITY, max = 0, over = 0;
    int rc = 0;
    for (int i = 0; i < count && rc == 0; i++) {
        const struct run_latency *one = &refs[i].stage->latency[metric];
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

/* of: the repeats that give figures, the first ones of all; counts are sums over all. A count that no repeat has stays
 * unknown. */
static int fill_figures(struct report_row *row, const struct ref *refs, int of, int all) {
    double *values = malloc((size_t)all * sizeof *values);
    int rc = 0;
    if (!values) return -1;
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (!result_field_is_figure(field)) continue;
        result_field_set_figure(field, &row->figures,
                                field->sums ? NAN : median_of(field, refs, of, values));
    }
    free(values);
    for (int i = 0; i < all; i++) report_add_counts(&row->figures, refs[i].stage);
    for (int m = 0; m < METRICS && of > 1 && rc == 0; m++)
        rc = merge_latency(&row->figures.latency[m], (enum metric)m, refs, of);
    return rc;
}

static int fill_row(struct report_row *row, const struct ref *refs, int count) {
    int of = 0, limited = 0;
    while (of < count && !report_is_aside_stage(refs[of].stage)) of++;
    if (of == 0) of = count; /* nothing else is there */
    row->repeats = of;
    row->unrecorded = NAN;
    for (int i = 0; i < count; i++) {
        row->state = report_worse(row->state, report_stage_state(refs[i].stage));
        row->idle_fault |= report_idle_fault(refs[i].stage);
    }
    for (int i = 0; i < of; i++) {
        if (report_incomplete(refs[i].stage)) row->incomplete++;
        limited += report_limited(refs[i].stage);
        row->unrecorded = fmax(row->unrecorded, unrecorded_share(refs[i].stage));
    }
    row->limited = 2 * limited > of; /* fewer do not move a median */
    row->stages = malloc((size_t)of * sizeof *row->stages);
    if (!row->stages) return -1;
    for (int i = 0; i < of; i++) row->stages[i] = refs[i].stage;
    row->typical = refs[of / 2].stage;
    row->figures = *row->typical;
    return fill_figures(row, refs, of, count);
}

/* Adds a stage that ran twice in its round. 0, or -1 when out of memory. */
static int add_again(struct report_group *group, const struct run_stage *stage) {
    const struct run_stage **more =
        realloc(group->again, (size_t)(group->again_count + 1) * sizeof *more);
    if (!more) return -1;
    group->again = more;
    if (!stage->aside) group->again[group->again_count++] = stage;
    return 0;
}

static int fill_groups(struct report *report, const struct ref *refs, int count) {
    struct report_group *group = NULL;
    for (int i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count; next++) {
            if (refs[next].load != refs[i].load || refs[next].lock != refs[i].lock ||
                refs[next].stage->clients != refs[i].stage->clients) {
                break;
            }
        }
        if (!group || group->load_index != refs[i].load ||
            group->clients != refs[i].stage->clients) {
            group = add_group(report, &refs[i]);
        }
        struct report_row *row = group ? add_report_row(group, refs[i].lock) : NULL;
        if (!row || fill_row(row, refs + i, next - i)) return -1;
        for (int a = i; a < next; a++) {
            if (refs[a].stage->again && add_again(group, refs[a].stage)) return -1;
        }
        group->paired = report->run->paired;
    }
    return 0;
}

/* The number of a load by its first appearance; the loads' texts are kept in known. */
static int load_index(const struct run_stage *stage, char **known, int *known_count) {
    char *load = report_load_text(stage);
    if (!load) return -1;
    for (int i = 0; i < *known_count; i++) {
        if (strcmp(known[i], load) == 0) {
            free(load);
            return i;
        }
    }
    known[*known_count] = load;
    return (*known_count)++;
}

int report_make_groups(struct report *report) {
    int rc = -1, count = report->run->stage_count, known_count = 0;
    struct ref *refs = calloc((size_t)count + 1, sizeof *refs);
    char **known = calloc((size_t)count + 1, sizeof(char *));
    if (!refs || !known) goto out;
    for (int i = 0; i < count; i++) {
        const struct run_stage *stage = &report->run->stages[i];
        refs[i] = (struct ref){.stage = stage, .lock = report_lock_of(report, stage)};
        refs[i].load = load_index(stage, known, &known_count);
        if (refs[i].load < 0) goto out;
    }
    qsort(refs, (size_t)count, sizeof *refs, by_group_and_row);
    rc = fill_groups(report, refs, count);
out:
    for (int k = 0; k < known_count; k++) free(known[k]);
    free(known);
    free(refs);
    return rc;
}
