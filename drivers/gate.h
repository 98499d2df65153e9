/* gate: a queue for fibers of one thread: one at a time passes, first come first served. For what
 * two fibers of a session must not do at once (a command and its reply on one connection, say). It
 * costs two stores when nobody else is there.
 *
 * Zeroed memory is an open gate. Not for threads. */
#ifndef DRIVERS_GATE_H
#define DRIVERS_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct gate_wait;

struct gate {
    bool taken;
    struct gate_wait *first, *last;
};

/* Waits for its turn. False when the deadline passed, or the run was cut off, before it came. */
bool gate_enter(struct gate *gate, int64_t deadline_ns);

/* Lets the next one in. */
void gate_leave(struct gate *gate);

#endif
