/* test_conform: the conformance suite over every lock of the list, on real servers, one start a backend.
 *
 * usage: test_conform [LOCK [WORDS OF A CHECK'S NAME]]
 * A backend that is missing here is skipped with what to install; in CI (CI=true) that is a failure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "drivers/registry.h"
#include "drivers/tests/conform.h"
#include "drivers/tests/conform_place.h"

#define TESTS_MAX 4096
#define TRIAL_S 200 /* a hang that not even the cut-off ends: SIGALRM ends the program */

/* Locks whose options make another lock of them; they get the whole suite once more. */
static const struct variant {
    const char *lock, *set;
    unsigned more_caps; /* that the option brings */
} variants[] = {
    {"etcd-mutex", "transport=json", 0},
    {"sqlite-immediate", "fence=yes", LB_CAP_FENCE},
    {"sqlite-immediate", "journal=delete", 0},
};

struct item {
    const struct lb_lock *lock;
    const struct conform_check *check; /* NULL: opens or closes the backend */
    const struct variant *variant;     /* NULL: all by default */
};

static const char *only_lock, *only_check;
static struct lb_lock variant_locks[sizeof variants / sizeof *variants];
static struct CMUnitTest tests[TESTS_MAX];
static struct item items[TESTS_MAX];
static size_t test_count;

static struct place *place;
static struct arena arena;
static int checks_run[1024]; /* by the lock's place in the registry */

static int index_of(const struct lb_lock *lock) {
    int i = 0;
    while (registry_locks()[i] != lock) i++;
    return i;
}

/* A backend that can't be tried here: skips or, in CI, fails. */
static void test_left_out(void **state) {
    const struct item *item = *state;
    const char *ci = getenv("CI");
    char why[512];
    if (!conform_missing(item->lock->backend, why, sizeof why)) return;
    if (ci && strcmp(ci, "true") == 0) fail_msg("%s", why);
    printf("skipped: %s\n", why);
    skip();
}

/* The item's lock with its variant's option, and those in sets, NULL at the end. */
static void lock_of(const struct item *item, const char *const *sets, struct plan_lock *ret_lock) {
    struct lb_err err = {0};
    const char *all[8];
    int count = 0;
    if (item->variant) all[count++] = item->variant->set;
    while (sets && *sets) all[count++] = *sets++;
    all[count] = NULL;
    if (conform_lock(item->lock, all, &arena, ret_lock, &err) != 0) fail_msg("%s", err.text);
}

static void test_open(void **state) {
    const struct item *item = *state;
    struct lb_err err = {0};
    struct plan_lock lock;
    lock_of(item, NULL, &lock);
    place = conform_open(&lock, &err);
    if (!place) fail_msg("%s", err.text);
}

static void test_close(void **state) {
    (void)state;
    place_close(place);
    place = NULL;
}

/* Runs one check of one lock. The failure, "" if it passed. */
static void run_check(const struct item *item, char *ret_failure, size_t size) {
    struct lb_err err = {0};
    struct plan_lock lock, far_lock;
    struct trial trial = {.lock = &lock, .place = place};
    lock_of(item, NULL, &lock);
    lock_of(item, conform_impatient, &far_lock);
    if (item->check->needs & CONFORM_FAR) {
        trial.far = conform_open_far(&far_lock, place, &trial.proxy, &err);
        if (!trial.far) fail_msg("%s", err.text);
    }
    alarm(TRIAL_S);
    trial_run(&trial, item->check->script);
    alarm(0);
    place_close(trial.far);
    proxy_stop(trial.proxy);
    snprintf(ret_failure, size, "%s", trial.failure);
    if (!item->variant) checks_run[index_of(item->lock)]++;
}

static void test_check(void **state) {
    const struct item *item = *state;
    char failure[1024];
    if (!place) fail_msg("its backend is not there");
    run_check(item, failure, sizeof failure);
    bool must_fail = item->check->who == CONFORM_CONTROLS && (item->lock->caps & LB_CAP_CONTROL);
    if (must_fail && !failure[0]) fail_msg("a control that must be caught was not");
    if (!must_fail && failure[0]) fail_msg("%s", failure);
}

static void test_all_covered(void **state) {
    (void)state;
    char why[512];
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (conform_missing(lock->backend, why, sizeof why)) continue;
        if (checks_run[i] < 2) fail_msg("%s: the suite did not run it", lock->name);
    }
}

static void test_exemptions_are_of_use(void **state) {
    (void)state;
    for (const struct conform_exemption *at = conform_exemptions; at->lock; at++) {
        const struct conform_check *check = conform_checks;
        while (check->name && strcmp(check->name, at->check) != 0) check++;
        if (!registry_lock(at->lock) || !check->name)
            fail_msg("an exemption of '%s' from '%s', which are not", at->lock, at->check);
    }
}

static void add(const char *what, CMUnitTestFunction run, struct item item) {
    const char *lock = item.lock ? item.lock->name : "suite";
    const char *set = item.variant ? item.variant->set : "";
    if (test_count == TESTS_MAX) abort();
    size_t size = strlen(lock) + strlen(set) + strlen(what) + 4;
    char *name = malloc(size);
    snprintf(name, size, "%s%s%s: %s", lock, *set ? " " : "", set, what);
    items[test_count] = item;
    tests[test_count] =
        (struct CMUnitTest){.name = name, .test_func = run, .initial_state = &items[test_count]};
    test_count++;
}

static bool wanted(const struct lb_lock *lock) {
    return !only_lock || strcmp(only_lock, lock->name) == 0;
}

static void add_checks(const struct lb_lock *lock, const struct variant *variant) {
    for (const struct conform_check *check = conform_checks; check->name; check++) {
        const char *reason;
        if (only_check && !strstr(check->name, only_check)) continue;
        if (conform_applies(check, lock, &reason))
            add(check->name, test_check, (struct item){lock, check, variant});
        else if (reason)
            printf("exempt: %s: %s: %s\n", lock->name, check->name, reason);
    }
}

static void add_variant(int i) {
    const struct lb_lock *lock = registry_lock(variants[i].lock);
    char why[512];
    if (!wanted(lock) || conform_missing(lock->backend, why, sizeof why)) return;
    variant_locks[i] = *lock;
    variant_locks[i].caps |= variants[i].more_caps;
    struct item item = {&variant_locks[i], NULL, &variants[i]};
    add("its backend starts", test_open, item);
    add_checks(&variant_locks[i], &variants[i]);
    add("its backend stops", test_close, item);
}

static void add_backend(const struct lb_backend *backend) {
    const struct lb_lock *first = NULL;
    char why[512];
    bool missing = conform_missing(backend, why, sizeof why) != NULL;
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        struct item item = {lock, NULL, NULL};
        if (lock->backend != backend || !wanted(lock)) continue;
        if (missing) {
            add("left out", test_left_out, item);
            continue;
        }
        if (!first) add("its backend starts", test_open, item);
        first = lock;
        add_checks(lock, NULL);
    }
    if (first) add("its backend stops", test_close, (struct item){first, NULL, NULL});
}

int main(int argc, char **argv) {
    only_lock = argc > 1 ? argv[1] : NULL;
    only_check = argc > 2 ? argv[2] : NULL;
    for (int i = 0; registry_backends()[i]; i++) add_backend(registry_backends()[i]);
    for (int i = 0; i < (int)(sizeof variants / sizeof *variants); i++) add_variant(i);
    struct item none = {NULL, NULL, NULL};
    add("exemptions name what is there", test_exemptions_are_of_use, none);
    if (!only_lock && !only_check) add("every lock of the list was run", test_all_covered, none);
    int failed = _cmocka_run_group_tests("conformance", tests, test_count, NULL, NULL);
    arena_done(&arena);
    for (size_t i = 0; i < test_count; i++) free((char *)(uintptr_t)tests[i].name);
    return failed;
}
