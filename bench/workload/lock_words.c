/* lock_words: see lock_words.h. */
#include "bench/workload/lock_words.h"

#include <string.h>

#include "bench/base/nearest.h"
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

bool lock_word_is_group(const char *word) {
    for (int i = 0; i < LB_NO_PRIMITIVE; i++) {
        if (strcmp(word, lb_primitive_name((enum lb_primitive)i)) == 0) return true;
    }
    for (int i = 0; groups[i]; i++) {
        if (strcmp(word, groups[i]) == 0) return true;
    }
    return registry_backend(word) != NULL;
}

bool lock_in_group(const struct lb_lock *lock, const char *word) {
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

int lock_word_unknown(const char *word, struct lb_err *err) {
    struct nearest nearest;
    char hint[100];
    nearest_init(&nearest, word);
    for (int i = 0; groups[i]; i++) nearest_offer(&nearest, groups[i]);
    for (int i = 0; registry_locks()[i]; i++) {
        nearest_offer(&nearest, registry_locks()[i]->name);
        nearest_offer(&nearest, registry_locks()[i]->backend->name);
        nearest_offer(&nearest, lb_primitive_name(registry_locks()[i]->primitive));
    }
    return err_set(err, LB_EXIT_USAGE, "no lock '%.60s'%s ('lockbench list' shows all)", word,
                   nearest_hint(&nearest, hint, sizeof hint));
}

int lock_name_unknown(const char *name, struct lb_err *err) {
    struct nearest nearest;
    char hint[100];
    nearest_init(&nearest, name);
    for (int i = 0; registry_locks()[i]; i++) nearest_offer(&nearest, registry_locks()[i]->name);
    return err_set(err, LB_EXIT_USAGE, "no lock '%.60s'%s ('lockbench list' shows all)", name,
                   nearest_hint(&nearest, hint, sizeof hint));
}

int lock_word_none(const char *word, struct lb_err *err) {
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
    if (!lock_word_is_group(word)) return lock_word_unknown(word, err);
    return lock_word_none(word, err);
}
