/* conform_run: one check of one lock, with what it needs beside servers, and its time limit. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/crash.h"
#include "bench/conform/conform.h"
#include "bench/conform/conform_child.h"
#include "bench/conform/conform_place.h"

unsigned conform_limit_s = 200;

/* The message is written before the alarm is set, since a signal handler may only write. */
static char limit_message[400];

static void end_at_limit(int signal_number) {
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, limit_message, strlen(limit_message));
    _exit(written < 0 ? 2 : 1);
}

static void set_limit(const struct conform_check *check, const struct lb_lock *lock) {
    char what[200];
    snprintf(what, sizeof what, "%s: '%s'", lock->name, check->name);
    crash_expect(what, "The lock's other checks are not run.");
    snprintf(limit_message, sizeof limit_message,
             "ERROR: %s: '%s' did not end in %u s, and can't be cut off: a call of the driver "
             "neither returns nor waits. The lock's other checks are not run.\n",
             lock->name, check->name, conform_limit_s);
    signal(SIGALRM, end_at_limit);
    alarm(conform_limit_s);
}

/* the last lock that failed for good: the checks of a lock come one after the other */
static const struct lb_lock *failed_lock;

void conform_note_failed(const struct lb_lock *lock) {
    failed_lock = lock;
}

static bool has_failed(const struct lb_lock *lock) {
    return failed_lock == lock;
}

/* Opens memory as before any check. A server of the user is not opened anew. */
static void open_anew(const struct plan_lock *lock, struct place **place,
                      struct conform_result *result) {
    struct lb_err err = {0};
    if (!*place || (*place)->server.url_count > 0) return;
    place_close(*place);
    *place = conform_open(lock, &err);
    if (*place) return;
    size_t used = strlen(result->failure);
    snprintf(result->failure + used, sizeof result->failure - used, "; and opened anew: %s",
             err.text);
}

void conform_run(const struct conform_check *check, const struct plan_lock *lock,
                 const struct plan_lock *far_lock, struct place **place,
                 struct conform_result *ret_result) {
    struct lb_err err = {0};
    struct trial trial = {.lock = lock, .place = *place};
    int64_t patience_ns = trial_patience_ns;
    if (has_failed(lock->lock) && patience_ns > CONFORM_LITTLE_NS)
        trial_patience_ns = CONFORM_LITTLE_NS;
    set_limit(check, lock->lock);
    /* The processes are forked first, while there is one thread. */
    if (check->needs & CONFORM_CHILDREN) {
        struct trial_key key = trial_key();
        trial.holder = child_start(&trial, &key);
        trial.waiter = child_start(&trial, &key);
    }
    if (check->needs & CONFORM_FAR)
        trial.far = conform_open_far(far_lock, *place, &trial.proxy, &err);
    if (err.code)
        snprintf(trial.failure, sizeof trial.failure, "%s", err.text);
    else
        trial_run(&trial, check->script);
    place_close(trial.far);
    proxy_stop(trial.proxy);
    child_free(trial.holder);
    child_free(trial.waiter);
    snprintf(ret_result->failure, sizeof ret_result->failure, "%s", trial.failure);
    ret_result->overlap = trial.overlap;
    ret_result->shown = trial.overlap ? TRIAL_GRANTED : trial.shown;
    ret_result->first[0] = '\0';
    if (trial.failure[0]) open_anew(lock, place, ret_result);
    trial_patience_ns = patience_ns;
    alarm(0);
    crash_expect(NULL, NULL);
}

bool conform_must_fail(const struct conform_check *check, const struct lb_lock *lock) {
    return check->who == CONFORM_CONTROLS && (lock->caps & LB_CAP_CONTROL);
}

/* A machine may stand still for longer than a lease, or keep one of two clients waiting for 100 ms.
 * Then a correct lock fails, and the two clients of a control never run at once. So a check with
 * servers is tried once more, and the result says so. An overlap is never tried again: one overlap
 * in a hundred runs is a broken lock. */
void conform_try(const struct conform_check *check, const struct plan_lock *lock,
                 const struct plan_lock *far_lock, struct place **place,
                 struct conform_result *ret_result) {
    struct conform_result first;
    bool must_fail = conform_must_fail(check, lock->lock);
    conform_run(check, lock, far_lock, place, ret_result);
    bool as_wished = must_fail == (ret_result->failure[0] != '\0');
    bool again = *place && lb_topologies(lock->lock) && (must_fail || !ret_result->overlap);
    if (!as_wished && again && !has_failed(lock->lock)) {
        first = *ret_result;
        conform_run(check, lock, far_lock, place, ret_result);
        snprintf(ret_result->first, sizeof ret_result->first, "%s",
                 must_fail ? "a control that was not caught" : first.failure);
    }
    if (!must_fail && ret_result->failure[0]) conform_note_failed(lock->lock);
}
