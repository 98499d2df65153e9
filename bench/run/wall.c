/* wall: see wall.h. */
#include "bench/run/wall.h"

#include <stdlib.h>

#include "bench/base/clock.h"

#define APART_NS (WALL_STEP_NS / 10) /* between the readings of a pair */

void wall_note(struct wall *wall, int64_t monotonic_ns, int64_t wall_ns) {
    int64_t offset_ns = wall_ns - monotonic_ns;
    int64_t step_ns = wall->offset_ns ? offset_ns - wall->offset_ns : 0;
    wall->offset_ns = offset_ns;
    if (llabs(step_ns) < WALL_STEP_NS) return;
    wall->step_ns += step_ns;
    if (llabs(step_ns) > wall->largest_ns) wall->largest_ns = llabs(step_ns);
}

void wall_look(struct wall *wall) {
    int64_t before_ns = lb_now(), wall_ns = lb_wall_now();
    if (lb_now() - before_ns < APART_NS) wall_note(wall, before_ns, wall_ns);
}
