/* log: how an injection enters the log of its stage (events.h). */
#ifndef BENCH_FAULTS_LOG_H
#define BENCH_FAULTS_LOG_H

#include "bench/faults/faults.h"

/* Adds an entry for the section's injection that begins at begin_ns; the caller fills in sign and end. NULL when out
 * of memory. The pointer is valid until the next entry is added. */
struct fault_event *fault_log_add(struct faults *faults, const struct fault_section *section,
                                  int64_t begin_ns);

/* Adds an entry for an injection that is impossible, with the reason. */
void fault_log_not(struct faults *faults, const struct fault_section *section, const char *format,
                   ...) __attribute__((format(printf, 3, 4)));

/* Says by which sign the injection is known to have taken effect, or why it did not. */
void fault_log_sign(struct fault_event *event, bool acted, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes the newest entry an injection that lasts from now on. NULL when too many last. */
struct fault_act *fault_log_lasting(struct faults *faults, const struct fault_section *section);

/* The entry of an injection that lasts. */
struct fault_event *fault_log_of(const struct faults *faults, const struct fault_act *act);

#endif
