/* judge: see judge.h. */
#include "bench/run/judge.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/workload/keys.h"

struct trial {
    bool tried; /* in a complete stage that could expose it */
    bool caught;
    int caught_in; /* which repeat, the last */
    bool missed;   /* in a stage where any contention exposes it */
};

int judge_init(struct judge *judge, const struct plan *plan, struct lb_err *err) {
    *judge = (struct judge){.plan = plan};
    judge->control = calloc((size_t)plan->lock_count + 1, sizeof *judge->control);
    return judge->control ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}

void judge_done(struct judge *judge) {
    free(judge->control);
}

/* Two clients must be able to meet on a key. */
static bool can_meet(const struct plan *plan, int clients) {
    if (clients < 2 || plan->keys.pick == KEYS_OWN) return false;
    return plan->keys.pick == KEYS_ZIPF ||
           keys_count(&plan->keys, clients) <= (uint32_t)clients * 16;
}

/* Whether a finding is at least as bad as the control's mistake must show. */
static bool shows_mistake(const struct exclusion *found, enum lb_exposed as) {
    if (found->verdict == VERDICT_VIOLATED) return true;
    return as == LB_EXPOSED_STUCK ? found->stuck > 0
                                  : as == LB_EXPOSED_EXPIRED && found->expired_holders > 0;
}

static void try_control(struct trial *trial, const struct stage *stage,
                        const struct plan_stage *of) {
    const struct lb_about *about = &of->lock->lock->about;
    const struct exclusion *found = &stage->exclusion;
    bool elsewhere = of->lock->plan != NULL;
    bool caught = elsewhere
                      ? shows_mistake(found, about->exposed_as)
                      : found->verdict == VERDICT_VIOLATED || found->verdict == VERDICT_EXPIRED;
    trial->caught |= caught;
    if (caught) trial->caught_in = of->repeat;
    if (stage->status != STAGE_COMPLETE || found->grants == 0) return;
    trial->tried = true;
    /* In its own workload one stage of several is enough: one client alone exposes little. */
    if (!elsewhere && !caught && can_meet(of->plan, stage->clients)) trial->missed = true;
}

static void say_broken(const struct lb_lock *lock, const struct exclusion *found, char *line,
                       size_t size) {
    const struct {
        uint64_t count;
        const char *of;
        bool always;
    } parts[] = {{found->lost_updates, "lost updates", true},
                 {found->double_holders, "double holders", true},
                 {found->expired_holders, "expired holders", true},
                 {found->token_errors, "tokens that did not grow", false},
                 {found->early, "clients let through early", false},
                 {found->oversold, "pieces oversold", false}};
    bool violated = found->verdict == VERDICT_VIOLATED;
    size_t used = (size_t)snprintf(
        line, size,
        violated ? "EXCLUSION VIOLATED by %s:" : "LEASES OUTLIVED by holders of %s:", lock->name);
    const char *comma = " ";
    for (size_t i = 0; i < sizeof parts / sizeof *parts && used < size; i++) {
        if (!parts[i].always && parts[i].count == 0) continue;
        used += (size_t)snprintf(line + used, size - used, "%s%llu %s", comma,
                                 (unsigned long long)parts[i].count, parts[i].of);
        comma = ", ";
    }
    if (used < size)
        snprintf(line + used, size - used, " in %llu grants", (unsigned long long)found->grants);
}

bool judge_stage(struct judge *judge, const struct stage *stage, const struct plan_stage *of,
                 char *line, size_t size) {
    const struct lb_lock *lock = of->lock->lock;
    const struct exclusion *found = &stage->exclusion;
    judge->grants += found->grants;
    if (lock->caps & LB_CAP_BASELINE) return false;
    if ((lock->caps & LB_CAP_CONTROL) && !of->lock->chosen) {
        try_control(&judge->control[of->lock - judge->plan->locks], stage, of);
        return false;
    }
    if (found->verdict == VERDICT_VIOLATED || found->verdict == VERDICT_EXPIRED) {
        judge->violated |= found->verdict == VERDICT_VIOLATED;
        judge->expired |= found->verdict == VERDICT_EXPIRED;
        say_broken(lock, found, line, size);
        return true;
    }
    if (found->stuck > 0) {
        judge->stuck = true;
        snprintf(line, size,
                 "STUCK: %s left %llu keys that are free but that no client gets any "
                 "more",
                 lock->name, (unsigned long long)found->stuck);
        return true;
    }
    return false;
}

bool judge_is_done(const struct judge *judge, const struct plan_stage *of) {
    const struct trial *trial = &judge->control[of->lock - judge->plan->locks];
    return of->lock->plan && trial->caught && trial->caught_in == of->repeat;
}

const char *judge_missed(const struct judge *judge) {
    for (int i = 0; i < judge->plan->lock_count; i++) {
        const struct trial *trial = &judge->control[i];
        bool elsewhere = judge->plan->locks[i].plan != NULL;
        if (elsewhere ? trial->tried && !trial->caught : trial->missed)
            return judge->plan->locks[i].lock->name;
    }
    return NULL;
}

const char *judge_verdict(const struct judge *judge) {
    if (judge->violated) return "violated";
    if (judge_missed(judge)) return "control-missed";
    if (judge->expired) return "expired";
    if (judge->stuck) return "stuck";
    return judge->grants == 0 ? "nothing-granted" : "clean";
}
