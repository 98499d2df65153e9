/* cell: see cell.h. */
#include "bench/measure/cell.h"

/* Whether the client's session had ended by a cut when it was met. Cuts that are being written say
 * nothing. */
static bool was_cut(const struct findings *findings, const struct holding *who, int64_t when_ns) {
    const struct found *found = &findings->holders[who->client];
    for (int i = 0; i < FOUND_CUTS; i++) {
        int64_t from_ns = atomic_load(&found->cuts[i].from_ns);
        if (from_ns == 0 || when_ns < lb_after(from_ns, findings->cut_grace_ns)) continue;
        if (who->acquired_ns <= atomic_load(&found->cuts[i].to_ns)) return true;
    }
    return false;
}

enum how findings_how(const struct findings *findings, const struct holding *holder,
                      const struct holding *intruder) {
    /* The one that entered late, long after its stamp, is the intruder; it met the holder when the
     * holder entered. */
    int64_t when_ns =
        intruder->acquired_ns > holder->acquired_ns ? intruder->acquired_ns : holder->acquired_ns;
    /* Also when its own lease was over before it came in. */
    if (when_ns >= holder->lease_end_ns || when_ns >= intruder->lease_end_ns) return FOUND_EXPIRED;
    if (findings->holders && was_cut(findings, holder, when_ns)) return FOUND_STALLED;
    const struct heartbeat *heartbeat =
        findings->holders ? findings->holders[holder->client].heartbeat : NULL;
    if (!heartbeat) return FOUND_DOUBLED;
    int64_t alive_ns = atomic_load(&heartbeat->gap_ns);
    if (alive_ns < holder->acquired_ns) alive_ns = atomic_load(&heartbeat->beat_ns);
    return when_ns >= lb_after(alive_ns, findings->session_ns) ? FOUND_STALLED : FOUND_DOUBLED;
}

/* One that is free, or else the oldest of those that are over; NULL: they all last. */
static struct cut *place_for_cut(struct found *found) {
    struct cut *oldest = NULL;
    for (int i = 0; i < FOUND_CUTS; i++) {
        struct cut *cut = &found->cuts[i];
        if (atomic_load(&cut->from_ns) == 0) return cut;
        if (atomic_load(&cut->to_ns) == LB_NEVER) continue;
        if (!oldest || atomic_load(&cut->from_ns) < atomic_load(&oldest->from_ns)) oldest = cut;
    }
    return oldest;
}

void findings_cut(struct findings *findings, uint32_t client, int64_t from_ns, int64_t to_ns) {
    struct cut *cut = place_for_cut(&findings->holders[client]);
    if (!cut) return;
    atomic_store(&cut->from_ns, 0);
    atomic_store(&cut->to_ns, to_ns);
    atomic_store(&cut->from_ns, from_ns);
}

void findings_cut_over(struct findings *findings, uint32_t client, int64_t from_ns, int64_t to_ns) {
    for (int i = 0; i < FOUND_CUTS; i++) {
        struct cut *cut = &findings->holders[client].cuts[i];
        int64_t lasts = LB_NEVER;
        if (atomic_load(&cut->from_ns) == from_ns)
            atomic_compare_exchange_strong(&cut->to_ns, &lasts, to_ns);
    }
}

void findings_note(struct findings *findings, enum how how, uint32_t key,
                   const struct holding *holder, const struct holding *intruder) {
    bool expired = how != FOUND_DOUBLED;
    atomic_fetch_add(expired ? &findings->expired_holders : &findings->double_holders, 1);
    if (findings->holders) {
        struct found *found = &findings->holders[holder->client];
        atomic_fetch_add(expired ? &found->expired : &found->doubled, 1);
        if (how == FOUND_STALLED) atomic_fetch_add(&found->stalled, 1);
    }
    int none = 0;
    if (atomic_compare_exchange_strong(&findings->first_state, &none, 1)) {
        findings->first_key = key;
        findings->first_holder = *holder;
        findings->first_intruder = *intruder;
        atomic_store(&findings->first_state, 2);
    }
}

void cell_overlap(struct cell *cell, struct findings *findings, uint32_t key, uint64_t owner,
                  const struct holding *intruder) {
    struct holding holder = {
        .client = (uint32_t)(owner - 1),
        .acquired_ns = atomic_load_explicit(&cell->acquired_ns, memory_order_relaxed),
        .lease_end_ns = atomic_load_explicit(&cell->lease_end_ns, memory_order_relaxed),
        .token = atomic_load_explicit(&cell->token, memory_order_relaxed),
    };
    if (findings->holders && atomic_load(&findings->holders[holder.client].gone)) return;
    findings_note(findings, findings_how(findings, &holder, intruder), key, &holder, intruder);
}

void cell_abandon(struct cell *cell, uint32_t client) {
    atomic_fetch_sub_explicit(&cell->grants, 1, memory_order_relaxed);
    uint64_t mine = (uint64_t)client + 1;
    atomic_compare_exchange_strong(&cell->owner, &mine, 0);
}

void findings_detected(struct findings *findings, uint32_t client, uint32_t doubled,
                       uint32_t count) {
    struct found *found = &findings->holders[client];
    atomic_fetch_add(&findings->detected, count);
    uint32_t since = atomic_load(&found->doubled) - doubled;
    atomic_fetch_sub(&found->doubled, since);
    atomic_fetch_add(&found->expired, since);
    atomic_fetch_sub(&findings->double_holders, since);
    atomic_fetch_add(&findings->expired_holders, since);
}

void findings_untold(struct findings *findings, uint32_t client, uint32_t count) {
    struct found *found = &findings->holders[client];
    atomic_fetch_add(&found->doubled, count);
    atomic_fetch_sub(&found->expired, count);
    atomic_fetch_add(&findings->double_holders, count);
    atomic_fetch_sub(&findings->expired_holders, count);
}

enum verdict exclusion_verdict(const struct exclusion *x) {
    if (x->grants == 0 && x->stuck == 0) return VERDICT_UNCHECKED;
    if (x->double_holders || x->token_errors || x->early || x->oversold) return VERDICT_VIOLATED;
    if (x->lost_updates && !x->expired_holders) return VERDICT_VIOLATED;
    if (x->stuck) return VERDICT_STUCK;
    return x->expired_holders ? VERDICT_EXPIRED : VERDICT_CLEAN;
}

struct exclusion cells_judge(const struct cell *cells, uint32_t count,
                             const struct findings *findings) {
    struct exclusion result = {
        .double_holders = atomic_load(&findings->double_holders),
        .expired_holders = atomic_load(&findings->expired_holders),
        .token_errors = atomic_load(&findings->token_errors),
        .detected = atomic_load(&findings->detected),
        .early = atomic_load(&findings->early),
    };
    for (uint32_t i = 0; i < count; i++) {
        uint64_t grants = atomic_load(&cells[i].grants), counter = atomic_load(&cells[i].counter);
        result.grants += grants;
        result.counter += counter;
        if (grants > counter) result.lost_updates += grants - counter;
    }
    result.grants += result.detected;
    result.verdict = exclusion_verdict(&result);
    return result;
}

static void take_back(uint64_t *count, uint64_t most) {
    *count -= *count < most ? *count : most;
}

void exclusion_excuse(struct exclusion *exclusion, const struct findings *findings, uint32_t client,
                      uint32_t cells) {
    const struct found *found = &findings->holders[client];
    uint32_t doubled = atomic_load(&found->doubled), expired = atomic_load(&found->expired);
    take_back(&exclusion->lost_updates, cells);
    /* Clients marked as about to be killed are not counted any more, so nothing is to be
     * removed. */
    if (!atomic_load(&found->gone)) {
        if (doubled > 0) {
            take_back(&exclusion->double_holders, doubled < cells ? doubled : cells);
        } else {
            take_back(&exclusion->expired_holders, expired < cells ? expired : cells);
        }
    }
    exclusion->verdict = exclusion_verdict(exclusion);
}
