/* choose: chooses the locks that a plan runs: the named ones, and those of a group (all, a backend, a
 * primitive) that can run here. */
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/option/text.h"
#include "bench/workload/draft.h"
#include "bench/workload/plan.h"
#include "bench/workload/stages.h"
#include "drivers/registry.h"

/* The names of groups that are not names of backends or primitives. */
static const char *const groups[] = {"all", "one-of-each", "controls", NULL};

/* The first lock of each backend; and the controls that any contention exposes, so that a run shows
 * that its checks work. */
static bool is_one_of_each(const struct lb_lock *lock) {
    if (lock->caps & LB_CAP_CONTROL) return !lock->about.exposed_by;
    for (int i = 0; registry_locks()[i] != lock; i++) {
        if (registry_locks()[i]->backend == lock->backend) return false;
    }
    return true;
}

/* Whether a word is a group's name. A group may be empty: there need not be a lock of each
 * primitive. */
static bool lock_word_is_group(const char *word) {
    for (int i = 0; i < LB_NO_PRIMITIVE; i++) {
        if (strcmp(word, lb_primitive_name((enum lb_primitive)i)) == 0) return true;
    }
    for (int i = 0; groups[i]; i++) {
        if (strcmp(word, groups[i]) == 0) return true;
    }
    return registry_backend(word) != NULL;
}

/* Whether a lock belongs to the group of that name. "all" has controls too. */
static bool lock_in_group(const struct lb_lock *lock, const char *word) {
    if (lock->needs) return false;
    if (strcmp(word, "one-of-each") == 0) return is_one_of_each(lock);
    if (strcmp(word, "controls") == 0) return lock->caps & LB_CAP_CONTROL;
    return strcmp(word, "all") == 0 || strcmp(word, lock->backend->name) == 0 ||
           strcmp(word, lb_primitive_name(lock->primitive)) == 0;
}

bool lock_word_means(const char *word, const struct lb_lock *lock) {
    size_t len = strlen(word);
    if (len > 1 && word[len - 1] == '?') len--;
    if (strlen(lock->name) == len && strncmp(word, lock->name, len) == 0) return true;
    return lock_in_group(lock, word);
}

/* Fills err: there is no such name, of a lock or of a group; err also has the nearest name. Returns -1. */
static int name_unknown(const char *name, struct lb_err *err) {
    struct nearest nearest;
    char hint[100];
    nearest_init(&nearest, name);
    for (int i = 0; groups[i]; i++) nearest_offer(&nearest, groups[i]);
    for (int i = 0; registry_locks()[i]; i++) {
        nearest_offer(&nearest, registry_locks()[i]->name);
        nearest_offer(&nearest, registry_locks()[i]->backend->name);
        nearest_offer(&nearest, lb_primitive_name(registry_locks()[i]->primitive));
    }
    return err_set(err, LB_EXIT_USAGE, "no lock '%.60s'%s ('lockbench list' shows all)", name,
                   nearest_hint(&nearest, hint, sizeof hint));
}

/* Fills err: the group of that name has no lock; LB_EXIT_MACHINE if that may be because this build
 * lacks a client library, else LB_EXIT_USAGE. Always -1. */
static int lock_word_none(const char *word, struct lb_err *err) {
    /* For a lock that was left out of the build the primitive is not known. */
    const struct lb_backend *left_out = registry_left_out();
    if (left_out) {
        return err_set(err, LB_EXIT_MACHINE, "there is no lock of '%.60s' here: %s; install: %s",
                       word, lb_unavailable(left_out), left_out->install);
    }
    return err_set(err, LB_EXIT_USAGE, "there is no lock of '%.60s'", word);
}

int lock_word_check(const char *word, struct lb_err *err) {
    for (int i = 0; registry_locks()[i]; i++) {
        if (lock_word_means(word, registry_locks()[i])) return 0;
    }
    if (!lock_word_is_group(word)) return name_unknown(word, err);
    return lock_word_none(word, err);
}

struct obstacle {
    int code; /* 0 = the lock can run */
    const char *reason, *install;
};

/* The error text for an ability that the plan needs and the lock does not have, or NULL. */
static const char *missing_ability(const struct plan *plan, const struct lb_lock *lock) {
    bool shared = false;
    for (int i = 0; i < plan->readers_count; i++) shared |= plan->readers[i] > 0;
    const struct {
        bool missing;
        const char *reason;
    } needs[] = {
        {plan->mode == MODE_TRY && !(lock->caps & LB_CAP_TRY),
         "can't be tried without waiting (acquire.mode = try)"},
        {plan->mode != MODE_TRY && !(lock->caps & LB_CAP_WAIT),
         "can't wait; use acquire.mode = try"},
        {plan->renew && (lock->caps & LB_CAP_LEASE) && !(lock->caps & LB_CAP_RENEW),
         "can't renew its lease (acquire.renew = yes)"},
        {shared && !(lock->caps & LB_CAP_SHARED),
         "has no shared mode (acquire.readers; capability 'shared')"},
        {plan->permits > 1 && !(lock->caps & LB_CAP_PERMITS),
         "doesn't give several permits at once (acquire.permits; capability 'permits')"},
        {plan->depth > 1 && !(lock->caps & LB_CAP_REENTRANT),
         "can't be taken again by its holder (acquire.depth; capability 'reentrant')"},
        {plan->tick_ns > 0 && lock->primitive == LB_OPTIMISTIC,
         "has no holder that could run a job once a tick (load.tick)"},
    };
    if (lock->caps & LB_CAP_BASELINE) return NULL; /* a baseline does nothing in any plan */
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (needs[i].missing) return needs[i].reason;
    }
    return NULL;
}

/* What the plan asks for and the lock can't do, or what this machine lacks to run it on the plan's topologies with the
 * plan's durability. */
static struct obstacle obstacle_of(const struct plan *plan, const struct lb_lock *lock,
                                   const struct plan_ask *ask) {
    const char *reason = lb_unavailable(lock->backend), *install = NULL;
    if (reason) return (struct obstacle){LB_EXIT_MACHINE, reason, lock->backend->install};
    reason = registry_fault(lock);
    if (!reason) reason = missing_ability(plan, lock);
    if (reason) return (struct obstacle){LB_EXIT_USAGE, reason, NULL};
    for (int i = 0; ask->why_not && !reason; i++) {
        const char *topology = topologies_of(plan, lock, i);
        if (!topology && i > 0) break;
        reason = ask->why_not(ask->why_not_context, lock, topology, plan, &install);
    }
    return (struct obstacle){reason ? LB_EXIT_MACHINE : 0, reason, install};
}

static int skip_lock(struct plan *plan, const struct lb_lock *lock, const struct obstacle *obstacle,
                     struct lb_err *err) {
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:s?}", "lock", lock->name, "backend", lock->backend->name,
                  "reason", obstacle->reason, "install", obstacle->install);
    if (json_array_append_new(plan->skipped, entry) == 0) return 0;
    return err_set(err, LB_EXIT_MACHINE, "out of memory");
}

static struct plan_lock *chosen_already(struct plan *plan, const struct lb_lock *lock) {
    for (int i = 0; i < plan->lock_count; i++) {
        if (plan->locks[i].lock == lock) return &plan->locks[i];
    }
    return NULL;
}

/* The name of the option that the lock needs, if the option has no value; otherwise NULL. */
static const char *needed_option(const struct lb_lock *lock, const void *options) {
    const char *dot = lock->needs ? strchr(lock->needs, '.') : NULL;
    const struct lb_option *option = dot ? options_find(lock->algorithm->options, dot + 1) : NULL;
    char text[8] = "";
    if (option) option_text(option, options, text, sizeof text);
    return option && !*text ? lock->needs : NULL;
}

static int add_lock(struct draft *draft, int index, bool chosen, const struct plan_ask *ask,
                    struct lb_err *err) {
    struct plan *plan = draft->plan;
    const struct lb_lock *lock = registry_locks()[index];
    struct plan_lock *already = chosen_already(plan, lock);
    if (already) {
        already->chosen |= chosen;
        return 0;
    }
    struct obstacle obstacle = obstacle_of(plan, lock, ask);
    const char *needed = needed_option(lock, draft->locks[index].values);
    if (!obstacle.code && needed && chosen)
        return err_set(err, LB_EXIT_USAGE, "%s can't run without %s: --set %s=VALUE", lock->name,
                       needed, needed);
    if (!obstacle.code && needed)
        obstacle =
            (struct obstacle){LB_EXIT_USAGE, "it can't run without an option of its own", NULL};
    if (obstacle.code && chosen) {
        return err_set(err, obstacle.code, "%s can't run: %s%s%s", lock->name, obstacle.reason,
                       obstacle.install ? "; install: " : "",
                       obstacle.install ? obstacle.install : "");
    }
    if (obstacle.code) return skip_lock(plan, lock, &obstacle, err);
    const void *backend_options = NULL;
    for (int i = 0; registry_backends()[i]; i++) {
        if (registry_backends()[i] == lock->backend) backend_options = draft->backends[i].values;
    }
    plan->locks[plan->lock_count++] = (struct plan_lock){.lock = lock,
                                                         .options = draft->locks[index].values,
                                                         .backend_options = backend_options,
                                                         .chosen = chosen};
    return 0;
}

/* Adds the lock or the locks of a word: a lock, a lock followed by "?" (only if it can run here), or a
 * group. */
static int add_word(struct draft *draft, char *word, const struct plan_ask *ask,
                    struct lb_err *err) {
    size_t len = strlen(word);
    bool perhaps = len > 1 && word[len - 1] == '?';
    if (perhaps) word[len - 1] = '\0';
    if (*word == '\0')
        return err_set(err, LB_EXIT_USAGE, "a lock's name is missing between commas");
    for (int i = 0; registry_locks()[i]; i++) {
        if (strcmp(registry_locks()[i]->name, word) == 0)
            return add_lock(draft, i, !perhaps, ask, err);
    }
    if (!lock_word_is_group(word)) return name_unknown(word, err);
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        /* a control that shows its mistake only in a workload of its own */
        bool elsewhere = (lock->caps & LB_CAP_CONTROL) && lock->about.exposed_by;
        if (!elsewhere && lock_in_group(lock, word) && add_lock(draft, i, false, ask, err))
            return -1;
    }
    return 0;
}

int draft_choose(struct draft *draft, const struct plan_ask *ask, struct lb_err *err) {
    struct plan *plan = draft->plan;
    int count = 0;
    while (registry_locks()[count]) count++;
    plan->locks = arena_alloc(draft->arena, sizeof *plan->locks * (size_t)count);
    if (!plan->locks) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    char word[128];
    for (const char *at = plan->lock_words; text_item(&at, word, sizeof word);) {
        if (add_word(draft, word, ask, err)) return -1;
    }
    if (plan->lock_count == 0 && json_array_size(plan->skipped) == 0) {
        return lock_word_none(plan->lock_words, err);
    }
    if (plan->lock_count == 0) {
        const json_t *first = json_array_get(plan->skipped, 0);
        const char *name = "", *reason = "";
        json_unpack((json_t *)first, "{s:s, s:s}", "lock", &name, "reason", &reason);
        return err_set(
            err, LB_EXIT_MACHINE,
            "no lock can run here; the first of them, %s: %s ('lockbench doctor' tells more)", name,
            reason);
    }
    return 0;
}
