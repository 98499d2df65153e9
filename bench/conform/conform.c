/* conform: which checks a lock gets, one check with what it needs beside servers and its time limit, and the
 * whole suite; see conform.h. */
#include "bench/conform/conform.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/process.h"
#include "bench/conform/conform_place.h"
#include "drivers/registry.h"

/* The words of checks.h. */
#define EXCLUDES CONFORM_EXCLUDES
#define NO_PRIMITIVE CONFORM_KIND(LB_NO_PRIMITIVE)
#define OPTIMISTIC CONFORM_KIND(LB_OPTIMISTIC)
#define ATOMIC CONFORM_ATOMIC
#define SEMAPHORE CONFORM_KIND(LB_SEMAPHORE)
#define ANY CONFORM_ANY
/* clang-format off */
enum {
    TRY = LB_CAP_TRY, WAIT = LB_CAP_WAIT, LEASE = LB_CAP_LEASE, RENEW = LB_CAP_RENEW, FENCE = LB_CAP_FENCE,
    FAIR = LB_CAP_FAIR, SESSION = LB_CAP_SESSION, SHARED = LB_CAP_SHARED, REENTRANT = LB_CAP_REENTRANT,
    PERMITS = LB_CAP_PERMITS, SHARE = LB_CAP_SHARE,
    FAR = CONFORM_FAR, PATIENT = CONFORM_FAR | CONFORM_PATIENT, OWNED = CONFORM_OWNED, CHILDREN = CONFORM_CHILDREN,
    RESIDUE = CONFORM_RESIDUE, ARMS = CONFORM_ARMS, TELLS = CONFORM_TELLS, BASIC = CONFORM_BASIC, COUNTS = CONFORM_COUNTS,
    FREED = CONFORM_FREED, ALL = CONFORM_ALL, CONTROLS = CONFORM_CONTROLS
};
/* clang-format on */

const struct conform_check conform_checks[] = {
#define CHECK(script, ...) {conform_##script, __VA_ARGS__},
#include "bench/conform/checks.h"
#undef CHECK
    {0},
};

const struct conform_exemption conform_exemptions[] = {
    {"redis-semaphore", "an acquire without an answer is in doubt, then settled",
     "RSemaphore's counter has no owners: nobody can tell whether the lost acquire took a permit, so nobody "
     "can give it back"},
    {"mysql-getlock", "names that differ in case are two locks",
     "MySQL compares the names of its user locks without case"},
    {0},
};

bool conform_applies(const struct conform_check *check, const struct lb_lock *lock, bool further,
                     const char **ret_reason) {
    *ret_reason = NULL;
    unsigned kind = (lock->caps & LB_CAP_ATOMIC) ? CONFORM_ATOMIC : CONFORM_KIND(lock->primitive);
    if (!(check->kinds & kind)) return false;
    if ((lock->caps & check->caps) != check->caps) return false;
    if ((check->needs & (CONFORM_FAR | CONFORM_OWNED)) && !lb_topologies(lock)) return false;
    if ((check->needs & CONFORM_COUNTS) && !conform_counter(lock->backend)) return false;
    if ((check->needs & CONFORM_RESIDUE) && !lock->algorithm->residue) return false;
    if ((check->needs & CONFORM_ARMS) && !lock->algorithm->arm) return false;
    if ((check->needs & CONFORM_FREED) && !(lock->claims & LB_CLAIM_CRASH_RELEASE)) return false;
    if ((check->needs & CONFORM_TELLS) && lock->about.crash != LB_CRASH_SESSION) return false;
    if (further && !(check->needs & CONFORM_BASIC)) return false;
    bool all = check->needs & CONFORM_ALL, controls = check->needs & CONFORM_CONTROLS;
    if ((lock->caps & LB_CAP_BASELINE) && !all) return false;
    /* One that only its own workload exposes: no check is sure to catch it. */
    bool hides = lock->about.exposed_by || lock->about.exposed_as != LB_EXPOSED_VIOLATED;
    if ((lock->caps & LB_CAP_CONTROL) && !all && (!controls || hides)) return false;
    for (const struct conform_exemption *at = conform_exemptions; at->lock; at++) {
        if (strcmp(at->lock, lock->name) != 0 || strcmp(at->check, check->name) != 0) continue;
        *ret_reason = at->reason;
        return false;
    }
    return true;
}

/* ---- one check of one lock, with what it needs beside servers, and its time limit ---- */

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

/* The last lock that has failed a check, also in the second try: the checks of a lock come one after the other. The same
 * defect usually fails further checks, each of them only after a long wait (trial_patience_ns). So from then on the lock's
 * checks wait for LITTLE_NS only, and are not tried twice. */
#define LITTLE_NS (3 * LB_S_NS)
static const struct lb_lock *failed_lock;

void conform_note_failed(const struct lb_lock *lock) {
    failed_lock = lock;
}

/* Opens memory as before any check. A server of the user is not opened anew. */
static void open_anew(const struct plan_lock *lock, struct place **place,
                      struct conform_result *result) {
    struct lb_err err = {0};
    if (!*place || (*place)->server.url_count > 0) return;
    place_close(*place);
    *place = conform_open(lock, NULL, &err);
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
    if (failed_lock == lock->lock && patience_ns > LITTLE_NS) trial_patience_ns = LITTLE_NS;
    set_limit(check, lock->lock);
    /* The processes are forked first, while there is one thread. */
    if (check->needs & CONFORM_CHILDREN) {
        struct trial_key key = trial_key();
        trial.holder = child_start(&trial, &key);
        trial.waiter = child_start(&trial, &key);
    }
    if (check->needs & CONFORM_PATIENT) far_lock = lock;
    if (check->needs & CONFORM_FAR)
        trial.far = conform_open_url(far_lock, (*place)->urls[0], true, &err);
    if (err.code)
        snprintf(trial.failure, sizeof trial.failure, "%s", err.text);
    else
        trial_run(&trial, check->script);
    place_close(trial.far);
    child_free(trial.holder);
    child_free(trial.waiter);
    snprintf(ret_result->failure, sizeof ret_result->failure, "%s", trial.failure);
    ret_result->shown = trial.shown;
    ret_result->first[0] = '\0';
    if (trial.failure[0]) open_anew(lock, place, ret_result);
    trial_patience_ns = patience_ns;
    alarm(0);
    crash_expect(NULL, NULL);
}

bool conform_must_fail(const struct conform_check *check, const struct lb_lock *lock) {
    return (check->needs & CONFORM_CONTROLS) && (lock->caps & LB_CAP_CONTROL);
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
    bool as_expected = must_fail == (ret_result->failure[0] != '\0');
    bool again =
        *place && lb_topologies(lock->lock) && (must_fail || ret_result->shown != TRIAL_OVERLAP);
    if (!as_expected && again && failed_lock != lock->lock) {
        first = *ret_result;
        conform_run(check, lock, far_lock, place, ret_result);
        snprintf(ret_result->first, sizeof ret_result->first, "%s",
                 must_fail ? "a control that was not caught" : first.failure);
    }
    if (!must_fail && ret_result->failure[0]) conform_note_failed(lock->lock);
}

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

/* Whether a check can't be done on the user's server; then left_out says why. */
static bool out_of_reach(const struct conform_ask *ask, const struct conform_check *check,
                         struct conform_result *left_out) {
    struct lb_err why = {0};
    if (!ask->url) return false;
    if (check->needs & CONFORM_OWNED) {
        err_set(&why, LB_EXIT_USAGE, "it kills the server, which is not lockbench's");
    } else if (check->needs & CONFORM_COUNTS) {
        err_set(&why, LB_EXIT_USAGE,
                "it counts all that is on the server, where others may write meanwhile");
    } else if (check->needs & CONFORM_FAR) {
        place_wire_check_url(ask->url, &why);
    }
    snprintf(left_out->failure, sizeof left_out->failure, "%s", why.text);
    return why.code != 0;
}

static void try_check(struct suite *suite, const struct conform_check *check) {
    struct conform_result result;
    int64_t began_ns = lb_now();
    conform_try(check, &suite->lock, &suite->far_lock, &suite->place, &result);
    result.took_ns = lb_now() - began_ns;
    result.end = result.failure[0] ? CONFORM_FAILED : CONFORM_PASSED;
    /* A failure that shows nothing about the lock must not take the patience from other checks. */
    if (result.failure[0] && result.shown == TRIAL_WRONG) conform_note_failed(NULL);
    suite->ask->tell(suite->ask->arg, check, &result);
}

static int try_all(struct suite *suite, struct lb_err *err) {
    const struct conform_ask *ask = suite->ask;
    for (const struct conform_check *check = conform_checks; check->name; check++) {
        struct conform_result left_out = {.end = CONFORM_LEFT_OUT};
        const char *reason;
        if (*ask->interrupts > 0)
            return err_set(err, LB_EXIT_INTERRUPTED, "interrupted before '%s'", check->name);
        bool applies = conform_applies(check, ask->lock, is_further(ask), &reason);
        if (applies ? out_of_reach(ask, check, &left_out) : reason != NULL) {
            if (!applies) snprintf(left_out.failure, sizeof left_out.failure, "%s", reason);
            ask->tell(ask->arg, check, &left_out);
        } else if (applies && !suite->place) {
            return err_set(err, LB_EXIT_MACHINE, "the servers did not start again before '%s'",
                           check->name);
        } else if (applies) {
            try_check(suite, check);
        }
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
    int failed = conform_lock(ask->lock, ask->sets, &arena, &suite.lock, err);
    if (!failed) failed = conform_lock(ask->lock, far_sets, &arena, &suite.far_lock, err);
    if (!failed) {
        suite.place = ask->url ? conform_open_url(&suite.lock, ask->url, false, err)
                               : conform_open(&suite.lock, NULL, err);
        failed = suite.place ? try_all(&suite, err) : -1;
    }
    place_close(suite.place);
    arena_done(&arena);
    return failed;
}
