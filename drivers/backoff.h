/* backoff: the waits of a polling lock between two tries: exponential, with jitter, set by options
 * of the lock.
 *
 * The wait before try n is min * factor^n, at most max; jitter 0.5 draws uniformly between half and
 * one and a half times that. */
#ifndef DRIVERS_BACKOFF_H
#define DRIVERS_BACKOFF_H

#include <stddef.h>
#include <stdint.h>

#include "drivers/driver.h"

struct backoff_options {
    int64_t min_ns, max_ns;
    double factor, jitter;
};

/* The four rows of an option table, for an options struct with a `struct backoff_options
 * member`. */
/* clang-format off */
#define BACKOFF_OPTIONS(type, member, min_default, max_default) \
    {"poll_min", LB_OPT_DURATION, offsetof(type, member.min_ns), min_default, 1e3, 60e9, NULL, \
     "first wait between two tries"}, \
    {"poll_max", LB_OPT_DURATION, offsetof(type, member.max_ns), max_default, 1e3, 60e9, NULL, \
     "longest wait between two tries"}, \
    {"poll_factor", LB_OPT_REAL, offsetof(type, member.factor), "2", 1, 10, NULL, \
     "each wait is this many times the one before"}, \
    {"poll_jitter", LB_OPT_REAL, offsetof(type, member.jitter), "0.5", 0, 1, NULL, \
     "random part of each wait: 0.5 draws from 50 % to 150 % of it"}
/* clang-format on */

/* The known causes of figures that all polling locks have; ends with a NULL figure. */
extern const struct lb_known_cause backoff_causes[];

struct backoff {
    const struct backoff_options *options;
    double next_ns;
};

void backoff_start(struct backoff *backoff, const struct backoff_options *options);

/* Returns the next wait in ns. */
int64_t backoff_next(struct backoff *backoff, struct lb_rng *rng);

/* Sleeps for the next wait, or until the deadline. Returns false when the deadline has passed or
 * the run was cut off: do not try again. Otherwise the caller tries again, which is counted in
 * session->wakeups. */
bool backoff_sleep(struct backoff *backoff, struct lb_session *session, int64_t deadline_ns);

#endif
