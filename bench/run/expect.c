/* expect: see expect.h. */
#include "bench/run/expect.h"

#include "bench/base/clock.h"

#define BESIDES_NS (500 * LB_MS_NS) /* connecting, the pings and a usual drain */
#define START_NS (3 * LB_S_NS)      /* of servers of our own */

int64_t expect_stage_ns(const struct plan_stage *stage, bool starts) {
    return stage->plan->warmup_ns + stage->plan->duration_ns + BESIDES_NS + (starts ? START_NS : 0);
}

void expect_begin(struct expect *expect, int64_t stage_ns) {
    int64_t now_ns = lb_now();
    expect->done_ns += expect->stage_ns;
    expect->stage_ns = stage_ns;
    expect->ahead_ns -= stage_ns;
    if (expect->begin_ns == 0) expect->begin_ns = now_ns;
    expect->now_ns = now_ns;
}

void expect_skip(struct expect *expect, int64_t stage_ns) {
    expect->ahead_ns -= stage_ns;
}

int64_t expect_left_ns(const struct expect *expect) {
    int64_t in_stage_ns = lb_now() - expect->now_ns;
    int64_t rest_ns = expect->stage_ns > in_stage_ns ? expect->stage_ns - in_stage_ns : 0;
    double slower = 1;
    if (expect->done_ns > 0)
        slower = (double)(expect->now_ns - expect->begin_ns) / (double)expect->done_ns;
    return (int64_t)((double)(expect->ahead_ns + rest_ns) * slower);
}
