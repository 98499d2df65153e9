/* choose: which locks a plan runs: those that were named, or all that can run here. */
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/plan/draft.h"
#include "bench/plan/text.h"
#include "drivers/registry.h"

struct obstacle {
    int code; /* 0 = the lock can run */
    const char *reason, *install;
};

/* What the plan asks of a lock that this one can't do, or NULL. */
static const char *unfit(const struct plan *plan, const struct lb_lock *lock) {
    if (plan->mode == MODE_TRY && !(lock->caps & LB_CAP_TRY))
        return "can't be tried without waiting (acquire.mode = try)";
    if (plan->mode != MODE_TRY && !(lock->caps & LB_CAP_WAIT)) return "can't wait; use acquire.mode = try";
    if (plan->renew && (lock->caps & LB_CAP_LEASE) && !(lock->caps & LB_CAP_RENEW)) {
        return "can't renew its lease (acquire.renew = yes)";
    }
    return NULL;
}

static struct obstacle obstacle_of(const struct draft *draft, const struct lb_lock *lock,
                                   const struct plan_wish *wish) {
    struct obstacle obstacle = {0};
    if (lock->backend->unavailable) {
        return (struct obstacle){LB_EXIT_MACHINE, lock->backend->unavailable, lock->backend->install};
    }
    obstacle.reason = unfit(draft->plan, lock);
    if (obstacle.reason) obstacle.code = LB_EXIT_USAGE;
    if (!obstacle.reason && wish->why_not) {
        obstacle.reason =
            wish->why_not(wish->why_not_context, lock, draft->plan->durability, &obstacle.install);
        if (obstacle.reason) obstacle.code = LB_EXIT_MACHINE;
    }
    return obstacle;
}

static int add(struct draft *draft, int index, bool chosen, const struct plan_wish *wish,
               struct lb_err *err) {
    struct plan *plan = draft->plan;
    const struct lb_lock *lock = registry_locks()[index];
    for (int i = 0; i < plan->lock_count; i++) {
        if (plan->locks[i].lock == lock) {
            plan->locks[i].chosen |= chosen;
            return 0;
        }
    }
    struct obstacle obstacle = obstacle_of(draft, lock, wish);
    if (obstacle.code && chosen) {
        return err_set(err, obstacle.code, "%s can't run: %s%s%s", lock->name, obstacle.reason,
                       obstacle.install ? "; install: " : "", obstacle.install ? obstacle.install : "");
    }
    if (obstacle.code) {
        json_t *entry = json_pack("{s:s, s:s, s:s, s:s?}", "lock", lock->name, "backend", lock->backend->name,
                                  "reason", obstacle.reason, "install", obstacle.install);
        if (json_array_append_new(plan->skipped, entry))
            return err_set(err, LB_EXIT_MACHINE, "out of memory");
        return 0;
    }
    const void *backend_options = NULL;
    for (int i = 0; registry_backends()[i]; i++) {
        if (registry_backends()[i] == lock->backend) backend_options = draft->backend_options[i];
    }
    plan->locks[plan->lock_count++] = (struct plan_lock){.lock = lock,
                                                         .options = draft->lock_options[index],
                                                         .backend_options = backend_options,
                                                         .chosen = chosen};
    return 0;
}

static int add_named(struct draft *draft, const char *name, const struct plan_wish *wish,
                     struct lb_err *err) {
    struct nearest nearest;
    char hint[100];
    if (*name == '\0') return err_set(err, LB_EXIT_USAGE, "a lock's name is missing between commas");
    nearest_init(&nearest, name);
    for (int i = 0; registry_locks()[i]; i++) {
        if (strcmp(registry_locks()[i]->name, name) == 0) return add(draft, i, true, wish, err);
        nearest_offer(&nearest, registry_locks()[i]->name);
    }
    nearest_offer(&nearest, "all");
    return err_set(err, LB_EXIT_USAGE, "no lock '%.60s'%s ('lockbench list' shows all)", name,
                   nearest_hint(&nearest, hint, sizeof hint));
}

static int add_all(struct draft *draft, const struct plan_wish *wish, struct lb_err *err) {
    for (int i = 0; registry_locks()[i]; i++) {
        if (add(draft, i, false, wish, err)) return -1;
    }
    return 0;
}

int draft_choose(struct draft *draft, const struct plan_wish *wish, struct lb_err *err) {
    struct plan *plan = draft->plan;
    int count = 0;
    while (registry_locks()[count]) count++;
    plan->locks = arena_alloc(draft->arena, sizeof *plan->locks * (size_t)count);
    if (!plan->locks) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (const char *at = plan->wished;; at++) {
        char name[128];
        size_t len = strcspn(at, ",");
        if (text_trim(at, len, name, sizeof name)) snprintf(name, sizeof name, "%s", at);
        int wrong = strcmp(name, "all") == 0 ? add_all(draft, wish, err) : add_named(draft, name, wish, err);
        if (wrong) return -1;
        at += len;
        if (*at == '\0') break;
    }
    if (plan->lock_count == 0) {
        const json_t *first = json_array_get(plan->skipped, 0);
        const char *name = "", *reason = "";
        json_unpack((json_t *)first, "{s:s, s:s}", "lock", &name, "reason", &reason);
        return err_set(err, LB_EXIT_MACHINE,
                       "no lock can run here; the first of them, %s: %s ('lockbench doctor' tells more)",
                       name, reason);
    }
    return 0;
}
