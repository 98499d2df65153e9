/* conclusion: see conclusion.h. */
#include "bench/run/conclusion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workload/schedule.h"

/* What the stages of a control have shown. */
struct control_seen {
    bool tried; /* in a complete stage that could expose it */
    bool caught;
    bool missed; /* in a stage where any contention exposes it */
    bool named;  /* by the user */
};

int conclusion_init(struct conclusion *conclusion, const struct plan *plan, struct lb_err *err) {
    *conclusion = (struct conclusion){.plan = plan};
    conclusion->control = calloc((size_t)plan->lock_count + 1, sizeof *conclusion->control);
    return conclusion->control ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}

void conclusion_done(struct conclusion *conclusion) {
    free(conclusion->control);
}

/* Holders were not alone. */
static bool is_broken(const struct stage *stage) {
    return stage->exclusion.verdict == VERDICT_VIOLATED ||
           stage->exclusion.verdict == VERDICT_EXPIRED;
}

/* Two clients must be able to meet on a key. */
static bool can_meet(const struct plan *plan, int clients) {
    if (clients < 2 || plan->keys.pick == KEYS_OWN) return false;
    return plan->keys.pick == KEYS_ZIPF ||
           keys_count(&plan->keys, clients) <= (uint32_t)clients * 16;
}

static void try_control(struct control_seen *seen, const struct stage *stage,
                        const struct plan_stage *of) {
    bool complete = stage->status == STAGE_COMPLETE;
    if (!complete || stage->exclusion.grants == 0 || is_broken(stage)) return;
    seen->missed |= !stage_exposed_by(&stage->result, of) && can_meet(of->plan, of->clients);
}

/* A control that the user named is judged like any lock by what it shows; and as the report has it,
 * it must show something once where two clients may meet in a workload that exposes it. */
static void try_named(struct control_seen *seen, const struct stage *stage,
                      const struct plan_stage *of) {
    bool exposed = !stage_exposed_by(&stage->result, of);
    seen->named = true;
    seen->caught |= is_broken(stage) || stage->exclusion.verdict == VERDICT_STUCK;
    seen->tried |= exposed && stage->status == STAGE_COMPLETE && stage->result.grants > 0 &&
                   of->clients >= 2 && of->plan->keys.pick != KEYS_OWN;
}

/* Only fencing tokens were wrong; no two clients held at once. */
static bool only_tokens_wrong(const struct stage *stage) {
    const struct exclusion *x = &stage->exclusion;
    if (x->lost_updates || x->double_holders || x->expired_holders || x->revoked || x->ended)
        return false;
    return x->token_errors > 0;
}

/* "redis-x: violated with 8 clients: 2 double holders in 9 grants". */
static void say_found(const struct plan_stage *of, const struct stage *stage, char *line,
                      size_t size) {
    const struct exclusion *found = &stage->exclusion;
    const struct {
        uint64_t count;
        const char *one, *many;
    } parts[] = {{found->lost_updates, "lost update", "lost updates"},
                 {found->double_holders, "double holder", "double holders"},
                 {found->expired_holders, "expired holder", "expired holders"},
                 {found->revoked, "grant lost inside its lease or session",
                  "grants lost inside their leases or sessions"},
                 {found->ended, "session ended by the server", "sessions ended by the server"},
                 {found->token_errors, "token that did not grow", "tokens that did not grow"},
                 {found->stuck, "free key that no client gets any more",
                  "free keys that no client gets any more"},
                 {found->starved,
                  "client that waited for the whole window, or until run.drain ended",
                  "clients that waited for the whole window, or until run.drain ended"}};
    const char *comma = ": ";
    size_t used =
        (size_t)snprintf(line, size, "%s: %s with %d client%s", of->lock->lock->name,
                         verdict_name(found->verdict), of->clients, of->clients == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof parts / sizeof *parts && used < size; i++) {
        if (parts[i].count == 0) continue;
        used += (size_t)snprintf(line + used, size - used, "%s%llu %s", comma,
                                 (unsigned long long)parts[i].count,
                                 parts[i].count == 1 ? parts[i].one : parts[i].many);
        comma = ", ";
    }
    if (is_broken(stage) && used < size)
        used += (size_t)snprintf(
            line + used, size - used, " in %llu grants%s", (unsigned long long)found->grants,
            only_tokens_wrong(stage) ? "; no more clients held than it admits" : "");
    const struct stage_idle_keys *idle = &stage->stuck_keys;
    if (found->stuck > 0 && used < size)
        snprintf(line + used, size - used,
                 "; nobody was granted key %u for the last %.1f s, while %d client%s waited",
                 idle->key, (double)idle->idle_ns / 1e9, idle->clients,
                 idle->clients == 1 ? "" : "s");
    if (found->stuck == 0 && found->starved > 0 && stage->result.held_elsewhere > 0 && used < size)
        snprintf(line + used, size - used, "; somebody else holds the key");
}

static void note_broken(struct conclusion *conclusion, const struct stage *stage) {
    const struct exclusion *found = &stage->exclusion;
    static const char tokens[] =
        "fencing tokens did not grow, though locks admitted one client at a time";
    const char **why =
        found->verdict == VERDICT_VIOLATED ? &conclusion->violated : &conclusion->expired;
    if (*why && *why != tokens) return;
    *why = only_tokens_wrong(stage) ? tokens
           : found->verdict == VERDICT_VIOLATED
               ? found->revoked > 0
                     ? "grants were taken from their holders inside their leases or sessions"
                     : "mutual exclusion was violated"
           : found->ended > 0 ? "the server ended the sessions of holders, who still held on"
                              : "holders outlived their leases or sessions: others got in beside "
                                "them, as the lock allows";
}

bool conclusion_add_stage(struct conclusion *conclusion, const struct stage *stage,
                          const struct plan_stage *of, char *line, size_t size) {
    const struct lb_lock *lock = of->lock->lock;
    const struct exclusion *found = &stage->exclusion;
    conclusion->granted |= stage->result.grants > 0 || stage->result.throughput_per_s > 0;
    conclusion->held |= stage->result.held_elsewhere > 0;
    if (stage->result.missed > 0) conclusion->missed += (uint64_t)stage->result.missed;
    if (lock->caps & LB_CAP_BASELINE) return false;
    if ((lock->caps & LB_CAP_CONTROL) && !of->lock->chosen) {
        try_control(&conclusion->control[of->lock - conclusion->plan->locks], stage, of);
        return false;
    }
    if (lock->caps & LB_CAP_CONTROL)
        try_named(&conclusion->control[of->lock - conclusion->plan->locks], stage, of);
    conclusion->tested |= verdict_is(stage->result.verdict, VERDICT_CLEAN);
    conclusion->untested |= verdict_is(stage->result.verdict, VERDICT_UNTESTED);
    if (is_broken(stage)) {
        note_broken(conclusion, stage);
    } else {
        conclusion->stuck |= found->stuck > 0;
        conclusion->starved |= found->stuck == 0 && found->starved > 0;
        if (found->stuck == 0 && found->starved == 0) return false;
    }
    say_found(of, stage, line, size);
    return true;
}

const char *conclusion_missed_control(const struct conclusion *conclusion) {
    for (int i = 0; i < conclusion->plan->lock_count; i++) {
        const struct control_seen *seen = &conclusion->control[i];
        if (seen->named ? seen->tried && !seen->caught : seen->missed)
            return conclusion->plan->locks[i].lock->name;
    }
    return NULL;
}

enum verdict conclusion_verdict(const struct conclusion *conclusion) {
    if (conclusion->violated) return VERDICT_VIOLATED;
    if (conclusion_missed_control(conclusion)) return VERDICT_CONTROL_MISSED;
    if (conclusion->expired) return VERDICT_EXPIRED;
    if (conclusion->stuck) return VERDICT_STUCK;
    if (conclusion->starved) return VERDICT_STARVED;
    if (!conclusion->granted) return VERDICT_NOTHING_GRANTED;
    return conclusion->untested && !conclusion->tested ? VERDICT_UNTESTED : VERDICT_CLEAN;
}
