/* ladder: lists of numbers, each of which gets a stage of its own; see shape.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/option/text.h"
#include "bench/workload/plan.h"
#include "bench/workload/shape.h"

struct ladder {
    int *steps;
    int count;
    int min, max;
};

static int add_step(struct ladder *ladder, int64_t step, struct lb_err *err) {
    for (int i = 0; i < ladder->count; i++) {
        if (ladder->steps[i] == step) {
            return err_set(err, LB_EXIT_USAGE,
                           "%lld is there twice; to measure a stage again, set run.repeat",
                           (long long)step);
        }
    }
    if (ladder->count == PLAN_LADDER_MAX) {
        return err_set(err, LB_EXIT_USAGE, "more than %d steps", PLAN_LADDER_MAX);
    }
    ladder->steps[ladder->count++] = (int)step;
    return 0;
}

/* Reads "1..64 x2" or "10..50 +10". dots: the position of "..". */
static int add_range(struct ladder *ladder, const char *text, const char *dots,
                     struct lb_err *err) {
    char low_word[24], high_word[24];
    const char *how = dots + 2 + strcspn(dots + 2, "x*+");
    int64_t low, high, by;
    if (*how == '\0') {
        return err_set(err, LB_EXIT_USAGE,
                       "'%.60s' lacks its step: %.60s x2 doubles, %.60s +1 adds one", text, text,
                       text);
    }
    if (text_trim(text, (size_t)(dots - text), low_word, sizeof low_word) ||
        text_trim(dots + 2, (size_t)(how - dots - 2), high_word, sizeof high_word)) {
        return err_set(err, LB_EXIT_USAGE, "'%.60s' is not a ladder like 1..64 x2", text);
    }
    if (text_int(low_word, ladder->min, ladder->max, &low, err)) return -1;
    if (text_int(high_word, ladder->min, ladder->max, &high, err)) return -1;
    if (high <= low) return err_set(err, LB_EXIT_USAGE, "'%.60s' does not climb", text);
    bool times = *how != '+';
    if (text_int(how + 1, times ? 2 : 1, ladder->max, &by, err)) {
        err_prefix(err, "the step after '%c'", *how);
        return -1;
    }
    if (times && low == 0)
        return err_set(err, LB_EXIT_USAGE, "'%.60s': 0 times anything stays 0", text);
    for (int64_t at = low; at < high; at = times ? at * by : at + by) {
        if (add_step(ladder, at, err)) return -1;
    }
    return add_step(ladder, high, err);
}

/* The number of steps is the member behind the steps in struct plan. */
static int *count_of(const void *steps) {
    return (int *)(uintptr_t)steps + PLAN_LADDER_MAX;
}
#define COUNT_IS_BEHIND(member)                                                                    \
    _Static_assert(offsetof(struct plan, member##_count) ==                                        \
                       offsetof(struct plan, member) + sizeof(int[PLAN_LADDER_MAX]),               \
                   "ladder.c looks for the count behind the steps")
COUNT_IS_BEHIND(clients);
COUNT_IS_BEHIND(rates);
COUNT_IS_BEHIND(readers);

static int read_ladder(const struct lb_option *option, const char *text, void *values,
                       struct arena *arena, struct lb_err *err) {
    int built[PLAN_LADDER_MAX];
    struct ladder ladder = {.steps = built, .min = (int)option->min, .max = (int)option->max};
    int *steps = option_at(option, values);
    (void)arena;
    if (option_is_zero_word(option, text)) {
        *count_of(steps) = 0;
        return 0;
    }
    for (const char *at = text;; at++) {
        char word[64];
        size_t len = strcspn(at, ",");
        if (text_trim(at, len, word, sizeof word)) {
            return err_set(err, LB_EXIT_USAGE, "'%.60s' is not a number or a ladder like 1..64 x2",
                           at);
        }
        const char *dots = strstr(word, "..");
        int64_t step = 0;
        if (dots) {
            if (add_range(&ladder, word, dots, err)) return -1;
        } else {
            if (text_int(word, ladder.min, ladder.max, &step, err)) return -1;
            if (add_step(&ladder, step, err)) return -1;
        }
        at += len;
        if (*at == '\0') break;
    }
    memcpy(steps, built, sizeof *built * (size_t)ladder.count);
    *count_of(steps) = ladder.count;
    return 0;
}

/* Writes every step: "1, 2, 4". */
static void format_ladder(const struct lb_option *option, const void *values, char *text,
                          size_t size) {
    const int *steps = option_in(option, values);
    int count = *count_of(steps);
    size_t used = 0;
    snprintf(text, size, "%s", option->choices ? option->choices : "");
    for (int i = 0; i < count && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, i ? ", %d" : "%d", steps[i]);
    }
}

static void allowed_ladder(const struct lb_option *option, char *text, size_t size) {
    snprintf(text, size, "%s%s%.0f to %.0f, a list 1,2,4, or a ladder 1..64 x2 or 10..50 +10",
             option->choices ? option->choices : "", option->choices ? ", " : "", option->min,
             option->max);
}

static int json_ladder(const struct lb_option *option, const void *values, json_t *object) {
    const int *steps = option_in(option, values);
    int count = *count_of(steps);
    json_t *array = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(array, json_integer(steps[i]));
    return option_put_json(option, "", array, object);
}

const struct lb_option_type type_ladder = {
    .name = "ladder",
    .bytes = sizeof(int[PLAN_LADDER_MAX]),
    .read = read_ladder,
    .text = format_ladder,
    .allowed = allowed_ladder,
    .json = json_ladder,
};
