/* absent: see absent.h. */
#include "report/run/absent.h"

#include <math.h>
#include <string.h>

static bool is_primitive(const struct run_stage *stage, const char *name) {
    return stage->primitive && strcmp(stage->primitive, name) == 0;
}

/* Why a row without any handoff has none. */
static const char *why_no_handoff(const struct run_stage *stage) {
    if (is_primitive(stage, "semaphore") && isnan(stage->permit_idle_ns))
        return "permits have no names, so it is not known whose release enabled a grant; \"permit "
               "idle\" is known only where more clients than permits always ask";
    if (is_primitive(stage, "rwlock") && stage->readers >= 100)
        return "readers hold together, so no release enables the grant of a reader";
    /* Where clients waited, each release was followed by a grant to the client that had just released. */
    bool one_client = report_competes(stage) && stage->tested_grants > 0 && stage->grants > 0 &&
                      stage->jain * stage->clients < 1.1;
    if (one_client)
        return "one client got almost all grants: there were hardly any handoffs to another one";
    return NULL;
}

/* The number of times that a column's percentile is taken of; NAN if the column is no
 * percentile. */
static double sample_count(const struct column *column, const struct run_stage *figures) {
    static const char latency[] = "latency_ns.", response[] = "response_ns.";
    if (strncmp(column->key, response, strlen(response)) == 0) return figures->due;
    if (strncmp(column->key, latency, strlen(latency)) != 0) return NAN;
    const char *name = column->key + strlen(latency);
    size_t length = strcspn(name, ".");
    for (int m = 0; m < METRICS; m++) {
        const char *known = metric_name((enum metric)m);
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return figures->latency[m].count;
    }
    return NAN;
}

/* Why a percentile of measured times is missing (quantile_supported). */
static const char *why_too_few(const struct column *column, const struct run_stage *figures) {
    static const struct {
        const char *part, *why;
    } parts[] = {
        {".p50", "fewer than 10 times were measured: too few for a median"},
        {".p90", "fewer than 50 times were measured, so p90 would be hardly less than the maximum"},
        {".p99",
         "fewer than 500 times were measured, so p99 would be hardly less than the maximum"},
        {".p999",
         "fewer than 5,000 times were measured, so p99.9 would be hardly less than the maximum"},
    };
    const char *part = strrchr(column->key, '.');
    if (!(sample_count(column, figures) > 0)) return NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(part, parts[i].part) == 0) return parts[i].why;
    return NULL;
}

/* Why it is not known what the server was asked. */
static const char *why_no_count(const struct run_stage *stage) {
    bool program = stage->backend && strcmp(stage->backend, "exec") == 0;
    return program ? "a program sends its requests itself, and lockbench does not see them" : NULL;
}

const char *absent_why(const struct column *column, const struct report_row *row) {
    if (!isnan(column_value(column, row))) return NULL;
    const char *too_few = why_too_few(column, &row->figures);
    if (too_few) return too_few;
    if (strncmp(column->key, "latency_ns.handoff.", strlen("latency_ns.handoff.")) == 0)
        return why_no_handoff(row->typical);
    if (strcmp(column->key, "cost.commands_per_grant") == 0 ||
        strcmp(column->key, "cost.wakeups_per_grant") == 0)
        return why_no_count(row->typical);
    return NULL;
}
