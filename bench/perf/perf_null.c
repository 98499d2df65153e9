/* perf_null: a whole acquire and release cycle of `null`, everything recorded and checked, against
 * the four clock reads that it can't do without. */
#include <stdio.h>

#include "bench/perf/ours.h"
#include "bench/perf/perf.h"

static double four_reads_ns(void) {
    enum { TIMES = 4000000 };
    int64_t begin_ns = lb_now();
    for (int i = 0; i < TIMES; i++) {
        lb_now();
        lb_now();
        lb_now();
        lb_now();
    }
    return (double)(lb_now() - begin_ns) / TIMES;
}

int perf_null(struct lb_err *err) {
    static const char *const sets[] = {"run.duration=500ms", "run.warmup=50ms", "load.threads=1",
                                       NULL};
    struct ours ours;
    double ratios[PERF_ROUNDS], cycle_ns = 0, reads_ns = 0;
    int failed = ours_open(&ours, "null", sets, err);
    for (int i = 0; i < PERF_ROUNDS && !failed; i++) {
        struct stage *stage = ours_run(&ours, 1, err);
        failed = stage ? 0 : -1;
        if (failed) break;
        cycle_ns = (double)stage->window_ns / (double)stage->result.attempts;
        reads_ns = four_reads_ns();
        ratios[i] = cycle_ns / reads_ns;
        stage_free(stage);
    }
    ours_close(&ours);
    if (failed) return -1;
    perf_print("null cycle / four clock reads", "at most 1.5", ratios, PERF_ROUNDS);
    printf("    last pair: %.0f ns against %.0f ns\n", cycle_ns, reads_ns);
    return 0;
}
