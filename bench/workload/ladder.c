/* ladder: numbers that get a stage each; see shape.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workload/shape.h"
#include "bench/workload/text.h"

struct ladder {
    int *steps;
    int count;
    int min, max;
};

static int add(struct ladder *ladder, int64_t step, struct lb_err *err) {
    for (int i = 0; i < ladder->count; i++) {
        if (ladder->steps[i] == step) {
            return err_set(err, LB_EXIT_USAGE,
                           "%lld is there twice; run.repeat measures a stage again",
                           (long long)step);
        }
    }
    if (ladder->count == PLAN_LADDER_MAX) {
        return err_set(err, LB_EXIT_USAGE, "more than %d steps", PLAN_LADDER_MAX);
    }
    ladder->steps[ladder->count++] = (int)step;
    return 0;
}

/* "1..64 x2" or "10..50 +10"; dots is where its ".." stands. */
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
        if (add(ladder, at, err)) return -1;
    }
    return add(ladder, high, err);
}

int ladder_parse(const char *text, int min, int max, int steps[PLAN_LADDER_MAX], int *ret_count,
                 struct lb_err *err) {
    int built[PLAN_LADDER_MAX];
    struct ladder ladder = {.steps = built, .min = min, .max = max};
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
            if (text_int(word, min, max, &step, err)) return -1;
            if (add(&ladder, step, err)) return -1;
        }
        at += len;
        if (*at == '\0') break;
    }
    memcpy(steps, built, sizeof *steps * (size_t)ladder.count);
    *ret_count = ladder.count;
    return 0;
}

char *ladder_text(const int *steps, int count, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, i ? ", %d" : "%d", steps[i]);
    }
    return text;
}
