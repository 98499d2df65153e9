/* spin: how the spinning locks of shared memory wait: the processor's pause instruction, and after
 * some of these the processor is given to another thread, which may be the holder. */
#ifndef DRIVERS_LOCAL_SPIN_H
#define DRIVERS_LOCAL_SPIN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "drivers/wait.h"

/* about 2 to 5 us, several times as long as a hand-over between two processors */
#define SPIN_PAUSES 128

struct spin {
    uint32_t looks;
};

static inline void spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Pauses between two looks at the lock. False when the deadline has passed or the run was cut
 * off. */
static inline bool spin_again(struct spin *spin, int64_t deadline_ns) {
    if (++spin->looks % SPIN_PAUSES != 0) {
        spin_pause();
        return true;
    }
    sched_yield();
    return lb_now() < deadline_ns && !lb_stopping();
}

#endif
