/* gate: a queue for the fibers of one thread: one fiber at a time passes, first come, first served. A gate
 * protects work that two fibers of a session must not do at once, for example a command and its reply on
 * one connection. It costs two stores if no other fiber uses it.
 *
 * Zeroed memory is an open gate. Not for use between threads. */
#ifndef DRIVERS_GATE_H
#define DRIVERS_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct gate_wait;

struct gate {
    bool taken;
    struct gate_wait *first, *last;
};

/* Waits until the caller may pass. Returns false when the deadline passed or the run was cut off
 * before that. */
bool gate_enter(struct gate *gate, int64_t deadline_ns);

/* Lets the next fiber pass. */
void gate_leave(struct gate *gate);

#endif
