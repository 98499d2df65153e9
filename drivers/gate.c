/* gate: see gate.h. A fiber that leaves hands the gate to the first in the queue, so no fiber
 * overtakes. */
#include "drivers/gate.h"

#include <stddef.h>

#include "drivers/wait.h"

/* On the waiting fiber's own stack. */
struct gate_wait {
    struct gate_wait *next;
    struct lb_fiber *fiber;
    bool passed; /* the gate is ours */
};

static void give_up(struct gate *gate, struct gate_wait *me) {
    struct gate_wait *before = NULL;
    for (struct gate_wait *at = gate->first; at; before = at, at = at->next) {
        if (at != me) continue;
        if (before)
            before->next = me->next;
        else
            gate->first = me->next;
        if (gate->last == me) gate->last = before;
        return;
    }
}

bool gate_enter(struct gate *gate, int64_t deadline_ns) {
    if (!gate->taken) {
        gate->taken = true;
        return true;
    }
    struct gate_wait me = {.fiber = lb_self()};
    if (gate->last)
        gate->last->next = &me;
    else
        gate->first = &me;
    gate->last = &me;
    while (!me.passed) {
        lb_sleep_until(deadline_ns);
        /* woken for another reason */
        if (me.passed || (lb_now() < deadline_ns && !lb_stopping())) continue;
        give_up(gate, &me);
        return false;
    }
    return true;
}

void gate_leave(struct gate *gate) {
    struct gate_wait *next = gate->first;
    if (!next) {
        gate->taken = false;
        return;
    }
    gate->first = next->next;
    if (!gate->first) gate->last = NULL;
    next->passed = true;
    lb_wake(next->fiber);
}
