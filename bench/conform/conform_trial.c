/* conform_trial: see conform_trial.h; the run of a script is in conform_script.c. */
#include "bench/conform/conform_trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/rng.h"

int64_t trial_patience_ns = 30 * LB_S_NS;

static void note_first(struct trial *trial, enum trial_shown shown, const char *format,
                       va_list args) {
    pthread_mutex_lock(&trial->mutex);
    if (!trial->failure[0]) {
        trial->shown = shown;
        vsnprintf(trial->failure, sizeof trial->failure, format, args);
    }
    pthread_mutex_unlock(&trial->mutex);
}

void trial_fail(struct trial *trial, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note_first(trial, TRIAL_WRONG, format, args);
    va_end(args);
}

void trial_fail_as(struct trial *trial, enum trial_shown shown, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note_first(trial, shown, format, args);
    va_end(args);
}

void trial_overlap(struct trial *trial, const char *format, ...) {
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&trial->mutex);
    if (!trial->overlap) vsnprintf(trial->failure, sizeof trial->failure, format, args);
    trial->overlap = true;
    pthread_mutex_unlock(&trial->mutex);
    va_end(args);
}

bool trial_failed(struct trial *trial) {
    pthread_mutex_lock(&trial->mutex);
    bool failed = trial->failure[0] != '\0';
    pthread_mutex_unlock(&trial->mutex);
    return failed;
}

void trial_sleep_until(int64_t when_ns) {
    while (lb_now() < when_ns) lb_sleep_until(when_ns);
}

int64_t trial_soon(void) {
    return lb_now() + trial_patience_ns;
}

/* Other programs and earlier runs may use the same server, so the name must be unique. */
static uint64_t our_salt(void) {
    static uint64_t salt;
    struct lb_rng rng;
    rng_seed_unique(&rng);
    while (salt == 0) salt = rng_u64(&rng) >> 2;
    return salt;
}

struct trial_key trial_key_named(const char *name, size_t len) {
    static uint32_t made;
    struct trial_key key = {.len = len, .number = our_salt() + made, .index = made};
    memcpy(key.name, name, len);
    made++;
    return key;
}

struct trial_key trial_key(void) {
    static unsigned made;
    char name[40];
    int len = snprintf(name, sizeof name, "lockbench-%08x-%u-", (unsigned)our_salt(), made++);
    return trial_key_named(name, (size_t)len);
}
