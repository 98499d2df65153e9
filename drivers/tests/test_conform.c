/* test_conform: the conformance suite over every lock of the list, on real servers.
 *
 * usage: test_conform [LOCK|all [WORDS OF A CHECK'S NAME]] A lock is tried with all its checks
 * on its first topology, and with the basic ones on each further one. Checks mostly wait, for
 * leases, sessions and silent servers: so each topology's locks, some at a time, run in a
 * process of their own, with servers of their own, several at once; what they print comes in the
 * list's order. TEST_CONFORM_JOBS says how many (0: all in this process, one after the other,
 * for a debugger). A backend that is missing here is skipped with what to install; in CI
 * (CI=true) that is a failure. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "drivers/registry.h"
#include "drivers/tests/conform.h"
#include "drivers/tests/conform_jobs.h"
#include "drivers/tests/conform_place.h"

#define TESTS_MAX 4096 /* of one job */
#define LOCKS_MAX 256
#define JOB_LOCKS 4 /* on one set of servers */
#define TRIES 3     /* of a check that went wrong */
#define TRIAL_S 200 /* a hang that not even the cut-off ends: SIGALRM ends the process */

/* Locks whose options make another lock of them; they get the whole suite once more. */
static const struct variant {
    const char *lock, *set;
    unsigned more_caps; /* that the option brings */
} variants[] = {
    {"etcd-mutex", "watch_from=now", 0},
    {"mem-rwlock", "prefer=writer", 0},
    {"sqlite-immediate", "fence=yes", LB_CAP_FENCE},
    {"sqlite-immediate", "journal=delete", 0},
};

/* Locks that get servers of their own, and why. */
static const struct solo {
    const char *lock, *reason;
} solos[] = {
    {"zk-herd", "its node has the name of the node that the other recipes have theirs under"},
};

/* Options that let a check end sooner, or let it wait; the protocol stays the same. */
static const struct setting {
    const char *lock, *set, *reason;
} settings[] = {
    {"redis-redlock", "node_timeout=1s", "a busy machine's servers are slow, not down"},
    {"unsafe-redlock-no-validity", "node_timeout=1s", "the same"},
    {"redis-fair", "queue_timeout=2s",
     "a killed waiter's place in the queue is kept so long: 5 min by default"},
};

/* What one process does: locks on one topology. */
struct job {
    const struct lb_lock *locks[JOB_LOCKS];
    int lock_count;
    const char *topology; /* NULL = embedded */
    bool further;         /* not the locks' first */
    const struct variant *variant;
};

struct item {
    const struct job *job;
    const struct lb_lock *lock;
    const struct conform_check *check;
};

static const char *only_lock, *only_check;
static struct lb_lock variant_locks[sizeof variants / sizeof *variants];
static struct job jobs[LOCKS_MAX];
static int job_count;

static struct place *place;
static struct arena arena;

/* By the lock's place in the registry; shared with the jobs' processes. */
static struct tally {
    int checks, own_checks; /* run on its first topology; of these not everybody's */
} * tally;

static int index_of(const struct lb_lock *lock) {
    int i = 0;
    while (strcmp(registry_locks()[i]->name, lock->name) != 0) i++;
    return i;
}

/* --- one job, in its process --- */

/* A topology that can't be tried here: skips or, in CI, fails. */
static void test_left_out(void **state) {
    const struct item *item = *state;
    const char *ci = getenv("CI");
    char why[512];
    if (!conform_lacks(item->lock, item->job->topology, why, sizeof why)) return;
    if (ci && strcmp(ci, "true") == 0) fail_msg("%s", why);
    printf("skipped: %s\n", why);
    skip();
}

/* The item's lock with its variant's option, and those in sets, NULL at the end. */
static void lock_of(const struct item *item, const char *const *sets, struct plan_lock *ret_lock) {
    struct lb_err err = {0};
    const char *all[8];
    int count = 0;
    if (item->job->variant) all[count++] = item->job->variant->set;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (strcmp(settings[i].lock, item->lock->name) == 0) all[count++] = settings[i].set;
    }
    while (sets && *sets) all[count++] = *sets++;
    all[count] = NULL;
    if (conform_lock(item->lock, all, &arena, ret_lock, &err) != 0) fail_msg("%s", err.text);
}

static void test_open(void **state) {
    const struct item *item = *state;
    struct lb_err err = {0};
    struct plan_lock lock;
    lock_of(item, NULL, &lock);
    place = conform_open_on(&lock, item->job->topology, &err);
    if (!place) {
        printf("UNSTABLE: %s: its backend: %s: tried again\n", item->lock->name, err.text);
        err = (struct lb_err){0};
        place = conform_open_on(&lock, item->job->topology, &err);
    }
    if (!place) fail_msg("%s", err.text);
}

static void test_close(void **state) {
    (void)state;
    place_close(place);
    place = NULL;
}

static void run_check(const struct item *item, struct conform_result *ret_result) {
    struct plan_lock lock, far_lock;
    lock_of(item, NULL, &lock);
    lock_of(item, conform_impatient, &far_lock);
    alarm(TRIAL_S);
    conform_run(item->check, &lock, &far_lock, place, ret_result);
    alarm(0);
}

/* Whether a check failed for want of an answer in time, which servers on a machine that stands
 * still owe. */
static bool is_late(const char *failure) {
    return strstr(failure, " gave unknown") || strstr(failure, " gave broken") ||
           strstr(failure, " gave timeout");
}

static void test_check(void **state) {
    const struct item *item = *state;
    struct conform_result result;
    if (!place) {
        printf("skipped: its backend did not start, which has failed already\n");
        skip();
    }
    int64_t began_ns = lb_now();
    run_check(item, &result);
    bool must_fail = item->check->who == CONFORM_CONTROLS && (item->lock->caps & LB_CAP_CONTROL);
    /* A machine that stood still for longer than a lease, or let one of two wait for 100 ms, fails
     * what is right, and never runs a control's two clients at once: so it is tried again, and
     * said. One overlap in a hundred runs is a broken lock. */
    for (int tries = 1; tries < TRIES; tries++) {
        bool as_wished = must_fail ? result.failure[0] : !result.failure[0];
        if (as_wished || (!must_fail && result.overlap)) break;
        printf("UNSTABLE: %s: %s: %s: tried again\n", item->lock->name, item->check->name,
               must_fail ? "a control that was not caught" : result.failure);
        run_check(item, &result);
    }
    printf("took %.1f s\n", (double)(lb_now() - began_ns) / (double)LB_S_NS);
    struct tally *mine = &tally[index_of(item->lock)];
    if (!item->job->variant && !item->job->further) {
        mine->checks++;
        if (item->check->who != CONFORM_ALL) mine->own_checks++;
    }
    if (!must_fail && item->job->further && is_late(result.failure)) {
        printf("skipped: late each time on a further topology: %s\n", result.failure);
        skip();
    }
    if (must_fail && !result.failure[0]) fail_msg("a control that must be caught was not");
    if (!must_fail && result.failure[0]) fail_msg("%s", result.failure);
}

static void add(struct conform_tests *tests, const char *what, CMUnitTestFunction run,
                struct item item) {
    const struct variant *variant = item.job->variant;
    struct item *kept = malloc(sizeof *kept);
    char *name = NULL;
    *kept = item;
    if (asprintf(&name, "%s%s%s%s%s: %s", item.lock->name, variant ? " " : "",
                 variant ? variant->set : "", item.job->further ? " on " : "",
                 item.job->further ? item.job->topology : "", what) < 0)
        abort();
    conform_tests_add(tests, name, run, kept);
}

static void add_checks(struct conform_tests *tests, const struct job *job,
                       const struct lb_lock *lock) {
    for (const struct conform_check *check = conform_checks; check->name; check++) {
        const char *reason;
        if (only_check && !strstr(check->name, only_check)) continue;
        if (conform_applies(check, lock, job->further, &reason))
            add(tests, check->name, test_check, (struct item){job, lock, check});
        else if (reason)
            printf("exempt: %s: %s: %s\n", lock->name, check->name, reason);
    }
}

/* What the process of a job does: fills its list of tests. */
static void fill_job(int index, struct conform_tests *tests) {
    const struct job *job = &jobs[index];
    struct item first = {job, job->locks[0], NULL};
    char why[512];
    if (conform_lacks(first.lock, job->topology, why, sizeof why)) {
        for (int i = 0; i < job->lock_count; i++)
            add(tests, "left out", test_left_out, (struct item){job, job->locks[i], NULL});
        return;
    }
    add(tests, "its backend starts", test_open, first);
    for (int i = 0; i < job->lock_count; i++) add_checks(tests, job, job->locks[i]);
    add(tests, "its backend stops", test_close, first);
}

/* --- the suite as a whole --- */

static void test_exemptions_are_of_use(void **state) {
    (void)state;
    for (const struct conform_exemption *at = conform_exemptions; at->lock; at++) {
        const struct conform_check *check = conform_checks;
        while (check->name && strcmp(check->name, at->check) != 0) check++;
        if (!registry_lock(at->lock) || !check->name)
            fail_msg("an exemption of '%s' from '%s', which are not", at->lock, at->check);
    }
}

/* Asks the program itself, since what people run is that. */
static void test_all_covered(void **state) {
    (void)state;
    const char *program = getenv("LOCKBENCH_PROGRAM");
    char command[512], why[512];
    if (!program || access(program, X_OK) != 0) {
        printf("skipped: LOCKBENCH_PROGRAM names no program to ask\n");
        skip();
    }
    snprintf(command, sizeof command, "'%s' list --json", program);
    FILE *from = popen(command, "r");
    json_error_t error;
    json_t *list = from ? json_loadf(from, 0, &error) : NULL;
    if (!from || pclose(from) != 0 || !list) fail_msg("no list from %s", command);
    json_t *locks = json_object_get(list, "locks");
    if (!json_is_array(locks) || json_array_size(locks) < 12)
        fail_msg("no locks in what '%s' says", command);
    for (size_t i = 0; i < json_array_size(locks); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(locks, i), "name"));
        const struct lb_lock *lock = name ? registry_lock(name) : NULL;
        if (!lock)
            fail_msg("the program has a lock '%s' that the suite does not know", name ? name : "?");
        if (conform_lacks(lock, NULL, why, sizeof why)) continue;
        const struct tally *mine = &tally[index_of(lock)];
        bool real = !(lock->caps & (LB_CAP_CONTROL | LB_CAP_BASELINE));
        if (mine->checks == 0) fail_msg("%s: the suite did not run it", name);
        if (real && mine->own_checks < 3) fail_msg("%s: the suite has hardly a check for it", name);
    }
    json_decref(list);
}

static bool wanted(const struct lb_lock *lock) {
    return !only_lock || strcmp(only_lock, lock->name) == 0;
}

static bool is_solo(const struct lb_lock *lock) {
    for (size_t i = 0; i < sizeof solos / sizeof *solos; i++) {
        if (strcmp(solos[i].lock, lock->name) == 0) return true;
    }
    return false;
}

/* The job that takes one more lock on a topology. */
static struct job *job_for(const struct lb_lock *lock, const char *topology, bool further) {
    for (int i = 0; i < job_count && !is_solo(lock); i++) {
        struct job *job = &jobs[i];
        bool same = topology && job->topology ? strcmp(topology, job->topology) == 0
                                              : topology == job->topology;
        if (job->locks[0]->backend == lock->backend && same && job->further == further &&
            !job->variant && !is_solo(job->locks[0]) && job->lock_count < JOB_LOCKS)
            return job;
    }
    if (job_count == LOCKS_MAX) abort();
    jobs[job_count] = (struct job){.topology = topology, .further = further};
    return &jobs[job_count++];
}

static void add_jobs(void) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        const char *const *topologies = lb_topologies(lock);
        if (!wanted(lock)) continue;
        for (int j = 0; j == 0 || (topologies && topologies[j]); j++) {
            struct job *job = job_for(lock, topologies ? topologies[j] : NULL, j > 0);
            job->locks[job->lock_count++] = lock;
        }
    }
    for (int i = 0; i < (int)(sizeof variants / sizeof *variants); i++) {
        const struct lb_lock *lock = registry_lock(variants[i].lock);
        if (!lock || !wanted(lock)) continue;
        variant_locks[i] = *lock;
        variant_locks[i].caps |= variants[i].more_caps;
        jobs[job_count++] =
            (struct job){.locks = {&variant_locks[i]},
                         .lock_count = 1,
                         .topology = lb_topologies(lock) ? lb_topologies(lock)[0] : NULL,
                         .variant = &variants[i]};
    }
}

int main(int argc, char **argv) {
    only_lock = argc > 1 && strcmp(argv[1], "all") != 0 ? argv[1] : NULL;
    only_check = argc > 2 ? argv[2] : NULL;
    tally = conform_shared_memory(LOCKS_MAX * sizeof *tally);
    add_jobs();
    conform_jobs_run(job_count, fill_job);
    static const struct CMUnitTest own[] = {
        cmocka_unit_test_prestate(test_exemptions_are_of_use, NULL),
        cmocka_unit_test_prestate(test_all_covered, NULL),
    };
    conform_jobs_group(own, only_lock || only_check ? 1 : 2);
    arena_done(&arena);
    return conform_jobs_sum();
}
