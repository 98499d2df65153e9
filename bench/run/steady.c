/* steady: see steady.h. */
#include "bench/run/steady.h"

#include <math.h>

#include "results/stats/slope.h"

#define SECONDS_MIN 5
#define SECONDS_MAX 30

int steady_seconds(int64_t duration_ns) {
    int64_t third = duration_ns / LB_S_NS / 3;
    return third < SECONDS_MIN ? SECONDS_MIN : third > SECONDS_MAX ? SECONDS_MAX : (int)third;
}

bool steady_look(struct stage *stage, const struct plan *plan, int64_t elapsed_ns) {
    double t[SECONDS_MAX], value[SECONDS_MAX];
    struct slope slope;
    bool closed = plan->arrival.kind == ARRIVAL_CLOSED;
    int wanted = steady_seconds(plan->duration_ns);
    stage->steady.asked = plan->steady_percent > 0;
    stage->steady.slope = NAN;
    if (!stage->steady.asked || stage->second_count < wanted) return false;
    const struct stage_second *second = &stage->seconds[stage->second_count - wanted];
    for (int i = 0; i < wanted; i++) {
        t[i] = second[i].t_s;
        value[i] = closed ? (double)second[i].ok : second[i].due_mean_ns;
        if (!closed && !(value[i] > 0))
            return false; /* nothing was granted: the wait is not 0 but unknown */
    }
    if (slope_fit(t, value, wanted, &slope) != 0 || !(slope.mean > 0)) return false;
    stage->steady.slope = fabs(slope.slope) / slope.mean;
    stage->steady.reached = slope_is_steady(&slope, plan->steady_percent / 100);
    if (stage->steady.reached) stage->steady.after_s = (double)elapsed_ns / 1e9;
    return stage->steady.reached;
}
