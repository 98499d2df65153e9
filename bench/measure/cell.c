/* cell: see cell.h. */
#include "bench/measure/cell.h"

enum verdict exclusion_verdict(const struct exclusion *x) {
    if (x->grants == 0 && x->stuck == 0 && x->starved == 0) return VERDICT_UNCHECKED;
    if (x->double_holders || x->revoked || x->token_errors) return VERDICT_VIOLATED;
    if (x->lost_updates && !x->expired_holders) return VERDICT_VIOLATED;
    if (x->stuck) return VERDICT_STUCK;
    if (x->expired_holders || x->ended) return VERDICT_EXPIRED;
    return x->starved ? VERDICT_STARVED : VERDICT_CLEAN;
}

struct exclusion cells_sum(const struct cell *cells, uint32_t count,
                           const struct findings *findings) {
    struct exclusion result = {.detected = atomic_load(&findings->detected)};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t grants = atomic_load(&cells[i].grants), counter = atomic_load(&cells[i].counter);
        result.grants += grants;
        result.counter += counter;
        if (grants > counter) result.lost_updates += grants - counter;
    }
    result.grants += result.detected;
    return result;
}
