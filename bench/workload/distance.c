/* distance: see distance.h. */
#include "bench/workload/distance.h"

#include <stdio.h>
#include <string.h>

bool distance_same(const struct distance *a, const struct distance *b) {
    return a->wired == b->wired && a->rtt_ns == b->rtt_ns;
}

static int read_one(const struct lb_option *option, const char *at, size_t len,
                    struct distance *ret, struct lb_err *err) {
    char word[64];
    *ret = (struct distance){0};
    if (text_trim(at, len, word, sizeof word) || !*word)
        return err_set(err, LB_EXIT_USAGE, "'%.60s' is not a list of durations like 0, 1ms, 20ms",
                       at);
    if (option_is_zero_word(option, word)) return 0;
    ret->wired = true;
    return text_duration(word, (int64_t)option->min, (int64_t)option->max, &ret->rtt_ns, err);
}

static int read_distances(const struct lb_option *option, const char *text, void *values,
                          struct arena *arena, struct lb_err *err) {
    struct plan *plan = values;
    struct distance found[PLAN_LADDER_MAX];
    int count = 0;
    (void)arena;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        struct distance one;
        if (read_one(option, at, len, &one, err) != 0) return -1;
        for (int i = 0; i < count; i++) {
            if (distance_same(&found[i], &one))
                return err_set(err, LB_EXIT_USAGE,
                               "a value is there twice; to measure a stage again, set run.repeat");
        }
        if (count == PLAN_LADDER_MAX)
            return err_set(err, LB_EXIT_USAGE, "more than %d steps", PLAN_LADDER_MAX);
        found[count++] = one;
        at += len;
        if (*at == '\0') break;
    }
    memcpy(plan->distances, found, sizeof *found * (size_t)count);
    plan->distance_count = count;
    return 0;
}

/* Returns text. */
static char *format_one(const struct lb_option *option, const struct distance *one, char *text,
                        size_t size) {
    if (one->wired) return duration_text(one->rtt_ns, text, size);
    snprintf(text, size, "%s", option->choices);
    return text;
}

static void format_distances(const struct lb_option *option, const void *values, char *text,
                             size_t size) {
    const struct plan *plan = values;
    size_t used = 0;
    for (int i = 0; i < plan->distance_count && used < size; i++) {
        char one[40];
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 format_one(option, &plan->distances[i], one, sizeof one));
    }
}

const struct lb_option_type type_distances = {
    .name = "round trips",
    .bytes = sizeof(struct distance[PLAN_LADDER_MAX]),
    .read = read_distances,
    .text = format_distances,
    .words = "none, a duration from 0 to 1s, or a list like none, 0, 500us, 20ms",
};

bool distance_of(const struct plan *plan, bool embedded, int index, struct distance *ret) {
    *ret = (struct distance){0};
    if (embedded) return index == 0;
    if (index >= plan->distance_count) return false;
    *ret = plan->distances[index];
    return true;
}
