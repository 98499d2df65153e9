/* choice: some of the compared figures, as a uint32_t: bit m is compare_metric(m). 0 = all of them. */
#ifndef REPORT_COMPARE_CHOICE_H
#define REPORT_COMPARE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/compare/compare.h"

_Static_assert(COMPARE_METRICS_MAX <= 32, "a choice has a bit for each figure");

static inline uint32_t choice_with(uint32_t choice, int metric) {
    return choice | UINT32_C(1) << metric;
}

static inline bool choice_has(uint32_t choice, int metric) {
    return choice == 0 || (choice >> metric & 1);
}

#endif
