/* cell: see cell.h. */
#include "bench/measure/cell.h"

void cell_overlap(struct cell *cell, struct findings *findings, uint32_t key, uint64_t owner,
                  const struct holding *intruder) {
    struct holding holder = {
        .client = (uint32_t)(owner - 1),
        .acquired_ns = atomic_load_explicit(&cell->acquired_ns, memory_order_relaxed),
        .lease_end_ns = atomic_load_explicit(&cell->lease_end_ns, memory_order_relaxed),
        .token = atomic_load_explicit(&cell->token, memory_order_relaxed),
    };
    bool expired = intruder->acquired_ns >= holder.lease_end_ns;
    atomic_fetch_add(expired ? &findings->expired_holders : &findings->double_holders, 1);
    if (findings->holders) {
        struct found *found = &findings->holders[holder.client];
        atomic_fetch_add(expired ? &found->expired : &found->doubled, 1);
    }
    int none = 0;
    if (atomic_compare_exchange_strong(&findings->first_state, &none, 1)) {
        findings->first_key = key;
        findings->first_holder = holder;
        findings->first_intruder = *intruder;
        atomic_store(&findings->first_state, 2);
    }
}

static enum verdict verdict_of(const struct exclusion *x) {
    if (x->grants == 0 && x->stuck == 0) return VERDICT_UNCHECKED;
    if (x->double_holders || x->token_errors || (x->lost_updates && !x->expired_holders))
        return VERDICT_VIOLATED;
    if (x->stuck) return VERDICT_STUCK;
    return x->expired_holders ? VERDICT_EXPIRED : VERDICT_CLEAN;
}

struct exclusion cells_judge(const struct cell *cells, uint32_t count, const struct findings *findings) {
    struct exclusion result = {
        .double_holders = atomic_load(&findings->double_holders),
        .expired_holders = atomic_load(&findings->expired_holders),
        .token_errors = atomic_load(&findings->token_errors),
    };
    for (uint32_t i = 0; i < count; i++) {
        uint64_t grants = atomic_load(&cells[i].grants), counter = atomic_load(&cells[i].counter);
        result.grants += grants;
        result.counter += counter;
        if (grants > counter) result.lost_updates += grants - counter;
    }
    result.verdict = verdict_of(&result);
    return result;
}

void exclusion_excuse(struct exclusion *exclusion, const struct findings *findings, uint32_t client) {
    const struct found *found = &findings->holders[client];
    if (exclusion->lost_updates > 0) exclusion->lost_updates--;
    if (atomic_load(&found->doubled) > 0) {
        exclusion->double_holders--;
    } else if (atomic_load(&found->expired) > 0) {
        exclusion->expired_holders--;
    }
    exclusion->verdict = verdict_of(exclusion);
}
