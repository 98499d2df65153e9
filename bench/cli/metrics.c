/* metrics: see metrics.h. */
#include "bench/cli/metrics.h"

#include <string.h>

#include "bench/base/nearest.h"
#include "report/compare/compare.h"

/* Adds the figure with this name. 0, or -1 with err. */
static int add_metric(uint32_t *choice, const char *name, size_t length, struct lb_err *err) {
    struct nearest nearest;
    char hint[64], word[41];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    nearest_init(&nearest, word);
    for (int m = 0; m < compare_metric_count(); m++) {
        const char *known = compare_metric(m)->compared;
        if (strlen(known) == length && strncmp(name, known, length) == 0) {
            *choice = choice_with(*choice, m);
            return 0;
        }
        nearest_offer(&nearest, known);
    }
    return err_set(err, LB_EXIT_USAGE, "no metric '%s'%s", word,
                   nearest_hint(&nearest, hint, sizeof hint));
}

static int read_metrics(const struct lb_option *option, const char *text, void *values,
                        struct arena *arena, struct lb_err *err) {
    uint32_t *chosen = option_at(option, values), choice = 0;
    (void)arena;
    if (*chosen) return err_set(err, LB_EXIT_USAGE, "it is given twice: name all in one list");
    for (const char *name = text;; name++) {
        size_t length = strcspn(name, ",");
        if (add_metric(&choice, name, length, err) != 0) return -1;
        name += length;
        if (!*name) break;
    }
    *chosen = choice;
    return 0;
}

const struct lb_option_type arg_type_metrics = {
    .bytes = sizeof(uint32_t),
    .read = read_metrics,
    .words = "throughput, acquire_p50, ..., as JSON names them, with commas between",
};
