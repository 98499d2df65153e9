/* compare_need: what an inconclusive figure would need, and the words for it. A number of repeats is
 * told only if repeats would do. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/compare/compare_parts.h"

#define REPEATS_MAX 1000 /* so many repeats or more: no realistic number helps */

/* The fewer times a stage measures, the more of its percentiles are missing. */
static bool is_percentile(const struct result_field *metric) {
    return strncmp(metric->path, "latency_ns.", strlen("latency_ns.")) == 0 ||
           strncmp(metric->path, "response_ns.", strlen("response_ns.")) == 0;
}

struct compare_need compare_need_of_side(const struct compare_row *row,
                                         const struct compare_figure *figure,
                                         const struct result_field *metric) {
    struct compare_need need = {.kind = COMPARE_NEEDS_WHOLE_STAGES,
                                .of_new = figure->base.count > 0};
    const struct run_stage **stages = row->stages + (need.of_new ? row->base_stages : 0);
    int count = need.of_new ? row->new_stages : row->base_stages;
    if ((need.of_new ? row->new_limited : row->base_limited) > 0)
        need.kind = COMPARE_NEEDS_LESS_LOAD;
    for (int i = 0; i < count; i++) {
        if (compare_is_sample(stages[i]))
            need.kind = is_percentile(metric) ? COMPARE_NEEDS_LONGER_RUN : COMPARE_NEEDS_FIGURE;
    }
    return need;
}

static double repeats_for(const struct compare_side *side, double samples) {
    return ceil(samples * side->made / side->count);
}

struct compare_need compare_need_of_samples(const struct compare_row *row,
                                            const struct compare_figure *figure, double samples) {
    double base = repeats_for(&figure->base, samples), new = repeats_for(&figure->new, samples);
    struct compare_need need = {.kind = COMPARE_NEEDS_REPEATS, .of_new = new > base};
    double repeats = need.of_new ? new : base;
    if (repeats < REPEATS_MAX) {
        need.repeats = (int)repeats;
    } else {
        int limited = need.of_new ? row->new_limited : row->base_limited;
        int stages = need.of_new ? row->new_stages : row->base_stages;
        bool most = samples < REPEATS_MAX && 2 * limited > stages;
        need.kind = most ? COMPARE_NEEDS_LESS_LOAD : COMPARE_NEEDS_LESS_NOISE;
    }
    return need;
}

char *compare_need_text(const struct compare_row *row, const struct compare_figure *figure,
                        char *text) {
    const struct compare_need *need = &figure->need;
    const char *side = need->of_new ? "new runs" : "base";
    size_t size = COMPARE_NEED_TEXT_MAX;
    switch (need->kind) {
    case COMPARE_NEEDS_NOTHING:
        text[0] = '\0';
        break;
    case COMPARE_NEEDS_REPEATS:
        snprintf(text, size, "~%d repeats would do", need->repeats);
        break;
    case COMPARE_NEEDS_LESS_NOISE:
        snprintf(text, size, "too noisy for repeats");
        break;
    case COMPARE_NEEDS_LESS_LOAD:
        snprintf(text, size, "load generator limited %d of %d in the %s: less load",
                 need->of_new ? row->new_limited : row->base_limited,
                 need->of_new ? row->new_stages : row->base_stages, side);
        break;
    case COMPARE_NEEDS_LONGER_RUN:
        snprintf(text, size, "not measured in the %s: longer run.duration", side);
        break;
    case COMPARE_NEEDS_FIGURE:
        snprintf(text, size, "not measured in the %s", side);
        break;
    case COMPARE_NEEDS_WHOLE_STAGES:
        snprintf(text, size, "no stage of the %s came to its end", side);
        break;
    }
    return text;
}
