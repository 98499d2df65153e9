/* html_hist: the histograms that the page carries, as the V2 texts of run.json, from which the page computes any
 * percentile: "histograms": {"carried": "all"|"typical"|"core", "groups": [[[{"acquire": {...}}]]]}, a list with a list
 * for each group, which has a list for each row, which has an object for each repeat, the typical repeat first.
 *
 * The page carries the times that people compare locks by: acquire; acquire_due and lag of open loops (in a closed loop
 * a request is always due, so both say nothing); readers' and writers' acquire; handoff; release; and the empty round
 * trip, which is the lower bound of the others. It does not carry hold, which the plan sets, nor connect and failed
 * waits, whose percentiles are in the tables. If the histograms take more than TEXT_MAX, the repeats other than the
 * typical one are left out, then all metrics but acquire, acquire_due and handoff. */
#include <string.h>

#include "report/doc/escape.h"
#include "report/page/html_parts.h"

/* the most bytes of histograms in a page, which stays below 5 MB with charts, tables and views
 * over time */
#define TEXT_MAX 2000000

enum carried { CARRY_ALL, CARRY_TYPICAL, CARRY_CORE };

static const char *const names[] = {"all", "typical", "core"};
static const enum metric core[] = {METRIC_ACQUIRE, METRIC_ACQUIRE_DUE, METRIC_HANDOFF};
static const enum metric all[] = {METRIC_ACQUIRE,
                                  METRIC_ACQUIRE_DUE,
                                  METRIC_ACQUIRE_SHARED,
                                  METRIC_ACQUIRE_EXCLUSIVE,
                                  METRIC_ACQUIRE_DUE_SHARED,
                                  METRIC_ACQUIRE_DUE_EXCLUSIVE,
                                  METRIC_HANDOFF,
                                  METRIC_RELEASE,
                                  METRIC_PING,
                                  METRIC_LAG};

static bool is_open(const struct run_stage *stage) {
    return stage->arrival && strcmp(stage->arrival, "closed") != 0;
}

static bool is_carried(const struct run_stage *stage, enum metric metric) {
    if (!stage->latency[metric].hdr) return false;
    return is_open(stage) || (metric != METRIC_ACQUIRE_DUE && metric != METRIC_LAG);
}

static size_t metrics_of(enum carried carried, const enum metric **ret) {
    *ret = carried == CARRY_CORE ? core : all;
    return carried == CARRY_CORE ? sizeof core / sizeof *core : sizeof all / sizeof *all;
}

static size_t row_bytes(const struct report_row *row, enum carried carried) {
    const enum metric *metrics;
    size_t bytes = 0, count = metrics_of(carried, &metrics);
    for (int i = 0; i < row->repeats; i++) {
        if (carried != CARRY_ALL && row->stages[i] != row->typical) continue;
        for (size_t m = 0; m < count; m++) {
            if (is_carried(row->stages[i], metrics[m]))
                bytes += strlen(row->stages[i]->latency[metrics[m]].hdr);
        }
    }
    return bytes;
}

static enum carried choose(const struct report *report) {
    enum carried carried = CARRY_ALL;
    for (; carried < CARRY_CORE; carried++) {
        size_t bytes = 0;
        for (int g = 0; g < report->group_count; g++) {
            for (int r = 0; r < report->groups[g].row_count; r++)
                bytes += row_bytes(&report->groups[g].rows[r], carried);
        }
        if (bytes <= TEXT_MAX) break;
    }
    return carried;
}

/* Adds a stage's histogram of a metric, under the metric's name; nothing if the stage has none. */
static int add_hist(json_t *object, const struct run_stage *stage, enum metric metric,
                    struct lb_err *err) {
    const struct run_latency *latency = &stage->latency[metric];
    if (!latency->hdr || !(latency->count > 0)) return 0;
    json_t *entry = json_object();
    int rc = json_object_set_new(entry, "count", escape_json_figure(latency->count));
    rc |= json_object_set_new(entry, "max", escape_json_figure(latency->max));
    rc |= json_object_set_new(entry, "hdr", escape_json(latency->hdr));
    rc |= json_object_set_new(object, metric_name(metric), entry);
    return rc ? err_set(err, LB_EXIT_MACHINE, "out of memory") : 0;
}

static int add_repeat(json_t *repeats, const struct run_stage *stage, enum carried carried,
                      struct lb_err *err) {
    const enum metric *metrics;
    size_t count = metrics_of(carried, &metrics);
    json_t *object = json_object();
    if (json_array_append_new(repeats, object))
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (size_t m = 0; m < count; m++) {
        if (is_carried(stage, metrics[m]) && add_hist(object, stage, metrics[m], err)) return -1;
    }
    return 0;
}

static int add_row_histograms(json_t *rows, const struct report_row *row, enum carried carried,
                              struct lb_err *err) {
    json_t *repeats = json_array();
    if (json_array_append_new(rows, repeats)) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (add_repeat(repeats, row->typical, carried, err)) return -1;
    for (int i = 0; i < row->repeats && carried == CARRY_ALL; i++) {
        if (row->stages[i] != row->typical && add_repeat(repeats, row->stages[i], carried, err))
            return -1;
    }
    return 0;
}

int html_hists(const struct report *report, json_t *root, struct lb_err *err) {
    enum carried carried = choose(report);
    json_t *object = json_object(), *groups = json_array();
    int rc = json_object_set_new(root, "histograms", object);
    rc |= json_object_set_new(object, "carried", escape_json(names[carried]));
    rc |= json_object_set_new(object, "groups", groups);
    for (int g = 0; g < report->group_count && rc == 0; g++) {
        json_t *rows = json_array();
        rc = json_array_append_new(groups, rows);
        for (int r = 0; r < report->groups[g].row_count && rc == 0; r++) {
            if (add_row_histograms(rows, &report->groups[g].rows[r], carried, err)) return -1;
        }
    }
    return rc ? err_set(err, LB_EXIT_MACHINE, "out of memory") : 0;
}
