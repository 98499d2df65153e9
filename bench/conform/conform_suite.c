/* conform_suite: see conform_suite.h. */
#include "bench/conform/conform_suite.h"

#include <stdio.h>
#include <string.h>

#include "bench/conform/conform.h"
#include "bench/conform/conform_place.h"
#include "drivers/registry.h"

struct suite {
    const struct conform_ask *ask;
    struct plan_lock lock, far_lock;
    struct place *place;
};

/* Servers of another kind than the lock's usual ones get the basic checks, as on each further topology:
 * "redis+cluster" is the topology redis-cluster. */
static bool is_further(const struct conform_ask *ask) {
    const char *first = lb_topologies(ask->lock) ? lb_topologies(ask->lock)[0] : "";
    const char *plus = ask->url ? strpbrk(ask->url, "+:") : NULL;
    if (!plus || *plus != '+') return false;
    size_t before = (size_t)(plus - ask->url), len = strcspn(plus, ":");
    return strlen(first) != before + len || strncmp(first + before + 1, plus + 1, len - 1) != 0;
}

/* Why a check can't be done on the user's server; NULL = it can. */
static const char *out_of_reach(const struct conform_ask *ask, const struct conform_check *check,
                                char *text, size_t size) {
    struct lb_err why = {0};
    if (!ask->url) return NULL;
    if (check->needs & CONFORM_OWNED) return "it kills the server, which is not lockbench's";
    if (check->needs & CONFORM_COUNTS)
        return "it counts all that is on the server, where others may write meanwhile";
    if (!(check->needs & CONFORM_FAR) || place_wire_check_url(ask->url, &why) == 0) return NULL;
    snprintf(text, size, "%.299s", why.text);
    return text;
}

/* Reports a check that was not tried. */
static void tell_left_out(const struct conform_ask *ask, const struct conform_check *check,
                          const char *reason) {
    const struct conform_told told = {
        .check = check->name, .end = CONFORM_LEFT_OUT, .why = reason, .first = ""};
    ask->tell(ask->arg, &told);
}

static void try_check(struct suite *suite, const struct conform_check *check) {
    const struct conform_ask *ask = suite->ask;
    struct conform_result result;
    int64_t began_ns = lb_now();
    bool must_fail = conform_must_fail(check, ask->lock);
    conform_try(check, &suite->lock, &suite->far_lock, &suite->place, &result);
    if (must_fail && !result.failure[0])
        snprintf(result.failure, sizeof result.failure,
                 "a lock that is broken on purpose was not caught");
    bool failed = must_fail || result.failure[0];
    struct conform_told told = {.check = check->name,
                                .end = failed ? CONFORM_FAILED : CONFORM_PASSED,
                                .why = result.failure,
                                .first = result.first,
                                .shown = result.shown,
                                .overlap = result.overlap,
                                .took_ns = lb_now() - began_ns};
    /* A failure that shows nothing about the lock must not take the patience from other checks. */
    if (failed && result.shown == TRIAL_WRONG) conform_note_failed(NULL);
    ask->tell(ask->arg, &told);
}

static int try_all(struct suite *suite, struct lb_err *err) {
    const struct conform_ask *ask = suite->ask;
    for (const struct conform_check *check = conform_checks; check->name; check++) {
        const char *reason, *far;
        char text[300];
        if (*ask->interrupts > 0)
            return err_set(err, LB_EXIT_INTERRUPTED, "interrupted before '%s'", check->name);
        bool applies = conform_applies(check, ask->lock, is_further(ask), &reason);
        if (!applies && reason) tell_left_out(ask, check, reason);
        if (!applies) continue;
        far = out_of_reach(ask, check, text, sizeof text);
        if (far) {
            tell_left_out(ask, check, far);
            continue;
        }
        if (!suite->place)
            return err_set(err, LB_EXIT_MACHINE, "the servers did not start again before '%s'",
                           check->name);
        try_check(suite, check);
    }
    return 0;
}

int conform_suite(const struct conform_ask *ask, struct lb_err *err) {
    const char *far_sets[CONFORM_SETS_MAX + 1] = {NULL};
    struct suite suite = {.ask = ask};
    struct arena arena = {0};
    int count = 0;
    if (registry_fault(ask->lock))
        return err_set(err, LB_EXIT_USAGE, "%s %s", ask->lock->name, registry_fault(ask->lock));
    for (int i = 0; conform_impatient[i]; i++) far_sets[count++] = conform_impatient[i];
    for (int i = 0; ask->sets && ask->sets[i]; i++) far_sets[count++] = ask->sets[i];
    int failed = conform_try_lock(ask->lock, ask->sets, &arena, &suite.lock, err);
    if (!failed) failed = conform_try_lock(ask->lock, far_sets, &arena, &suite.far_lock, err);
    if (!failed) {
        suite.place = ask->url ? conform_open_url(&suite.lock, ask->url, err)
                               : conform_open(&suite.lock, err);
        failed = suite.place ? try_all(&suite, err) : -1;
    }
    place_close(suite.place);
    arena_done(&arena);
    return failed;
}
