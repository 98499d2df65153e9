/* cell: see cell.h. */
#include "bench/measure/cell.h"

/* The earliest time at which a fault can have ended the session of this grant. */
static int64_t asked_ns(const struct findings *findings, const struct holding *who) {
    int64_t asked_ns = atomic_load(&findings->holders[who->client].asked_ns);
    return asked_ns > 0 && asked_ns < who->acquired_ns ? asked_ns : who->acquired_ns;
}

/* True if a cut may have ended the client's session by when_ns. A cut that is being written is not
 * read. */
static bool was_cut(const struct findings *findings, const struct holding *who, int64_t when_ns) {
    const struct found *found = &findings->holders[who->client];
    for (int i = 0; i < FOUND_CUTS; i++) {
        int64_t from_ns = atomic_load(&found->cuts[i].from_ns);
        if (from_ns == 0 || when_ns < lb_after(from_ns, findings->cut_grace_ns)) continue;
        if (asked_ns(findings, who) <= atomic_load(&found->cuts[i].to_ns)) return true;
    }
    return false;
}

/* True if the client's thread stood still for so long that its session may have ended by when_ns.
 * The beat is written last, so a gap is never overlooked while its end is being noted. */
static bool stood_still(const struct findings *findings, const struct holding *who,
                        int64_t when_ns) {
    const struct heartbeat *heartbeat = findings->holders[who->client].heartbeat;
    if (!heartbeat) return false;
    int64_t beat_ns = atomic_load(&heartbeat->beat_ns), gap_ns = atomic_load(&heartbeat->gap_ns);
    if (when_ns >= lb_after(beat_ns, findings->session_ns)) return true;
    return gap_ns > 0 && atomic_load(&heartbeat->gap_end_ns) > asked_ns(findings, who) &&
           when_ns >= lb_after(gap_ns, findings->session_ns);
}

static bool session_ended(const struct findings *findings, const struct holding *who,
                          int64_t when_ns) {
    return was_cut(findings, who, when_ns) || stood_still(findings, who, when_ns);
}

/* True if the holder knew by then that it had lost the grant, and was on its way out. */
static bool was_told(const struct findings *findings, const struct holding *who, int64_t when_ns) {
    int64_t told_ns = atomic_load(&findings->holders[who->client].told_ns);
    return told_ns != 0 && when_ns >= told_ns;
}

enum how findings_how(const struct findings *findings, const struct holding *holder,
                      const struct holding *intruder) {
    /* An intruder may enter long after its stamp: then the two met when the holder entered. */
    int64_t when_ns =
        intruder->acquired_ns > holder->acquired_ns ? intruder->acquired_ns : holder->acquired_ns;
    /* This includes an intruder whose own lease was over before it entered. */
    if (when_ns >= holder->lease_end_ns || when_ns >= intruder->lease_end_ns) return FOUND_EXPIRED;
    if (was_told(findings, holder, when_ns)) return FOUND_EXPIRED;
    if (session_ended(findings, holder, when_ns)) return FOUND_EXCUSED;
    /* The holder's release does not tell whether the intruder's session had ended. */
    return session_ended(findings, intruder, when_ns) ? FOUND_EXPIRED : FOUND_DOUBLED;
}

bool findings_ended(const struct findings *findings, const struct holding *me, int64_t when_ns) {
    return when_ns >= me->lease_end_ns || session_ended(findings, me, when_ns);
}

void cell_old_token(struct findings *findings, const struct holding *me) {
    if (findings_ended(findings, me, lb_now())) return;
    atomic_fetch_add_explicit(&findings->token_errors, 1, memory_order_relaxed);
}

/* A free place, or else the oldest cut that is over. NULL if all cuts still last. */
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
    struct found *found = &findings->holders[holder->client];
    atomic_fetch_add(expired ? &found->expired : &found->doubled, 1);
    if (how == FOUND_EXCUSED) atomic_fetch_add(&found->excused, 1);
    int none = 0;
    if (atomic_compare_exchange_strong(&findings->first_state, &none, 1)) {
        findings->first_key = key;
        findings->first_holder = *holder;
        findings->first_intruder = *intruder;
        atomic_store(&findings->first_state, 2);
    }
}

/* Whether only the holder's lease was over when the intruder came in. */
static bool outlived(const struct holding *holder, const struct holding *intruder) {
    int64_t when_ns = intruder->acquired_ns;
    return when_ns > holder->acquired_ns && when_ns >= holder->lease_end_ns &&
           when_ns < intruder->lease_end_ns;
}

void cell_overlap(struct findings *findings, uint32_t key, uint64_t owner,
                  const struct holding *intruder) {
    struct found *met = &findings->holders[owner - 1];
    struct holding holder = {
        .client = (uint32_t)(owner - 1),
        .acquired_ns = atomic_load_explicit(&met->acquired_ns, memory_order_relaxed),
        .lease_end_ns = atomic_load_explicit(&met->lease_end_ns, memory_order_relaxed),
        .token = atomic_load_explicit(&met->token, memory_order_relaxed),
    };
    if (!atomic_load(&met->gone)) {
        enum how how = findings_how(findings, &holder, intruder);
        /* A cell has one holder, so whose lease it was that freed the lock is certain. */
        if (how == FOUND_EXPIRED && outlived(&holder, intruder)) how = FOUND_EXCUSED;
        findings_note(findings, how, key, &holder, intruder);
    }
    atomic_fetch_add_explicit(&met->judged, 1, memory_order_release);
}

bool cell_abandon(struct cell *cell, uint32_t client) {
    atomic_fetch_sub_explicit(&cell->grants, 1, memory_order_relaxed);
    uint64_t mine = (uint64_t)client + 1;
    return atomic_compare_exchange_strong(&cell->owner, &mine, 0);
}

void findings_excuse_told(struct findings *findings, uint32_t client, uint32_t doubled) {
    struct found *found = &findings->holders[client];
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
    if (x->grants == 0 && x->stuck == 0 && x->starved == 0) return VERDICT_UNCHECKED;
    if (x->double_holders || x->revoked || x->token_errors || x->early) return VERDICT_VIOLATED;
    if (x->lost_updates && !x->expired_holders) return VERDICT_VIOLATED;
    if (x->stuck) return VERDICT_STUCK;
    if (x->expired_holders || x->ended) return VERDICT_EXPIRED;
    return x->starved ? VERDICT_STARVED : VERDICT_CLEAN;
}

struct exclusion cells_judge(const struct cell *cells, uint32_t count,
                             const struct findings *findings) {
    struct exclusion result = {
        .double_holders = atomic_load(&findings->double_holders),
        .expired_holders = atomic_load(&findings->expired_holders),
        .token_errors = atomic_load(&findings->token_errors),
        .detected = atomic_load(&findings->detected),
        .revoked = atomic_load(&findings->revoked),
        .ended = atomic_load(&findings->ended),
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
