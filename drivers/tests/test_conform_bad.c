/* test_conform_bad: locks that are wrong on purpose: each must be caught by the check that is there
 * for it. A check that no mistake makes fail is useless.
 * Needs: servers, 3 minutes. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/conform/conform.h"
#include "bench/conform/conform_place.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"
#include "drivers/tests/bad_kinds.h"
#include "drivers/tests/bad_lock.h"

/* What a failed check shows. */
enum { WRONG, YES, NO, OVERLAP, NO_OVERLAP, ANY }; /* the first ones: enum trial_shown */

static const struct {
    const struct lb_lock *lock;
    int fault; /* enum bad_fault of lock_bad, enum kind_fault of the others */
    const char *check;
    int shows; /* two holders at once; or a yes, a no or something else in the wrong place */
} faults[] = {
    {&lock_bad, BAD_GRANTS_TWICE, "eight clients exclude each other", OVERLAP},
    {&lock_bad, BAD_GRANTS_TWICE, "busy while another holds it", ANY},
    {&lock_bad, BAD_FORGETS_RELEASE, "taken and freed, again and again", ANY},
    {&lock_bad, BAD_TOKEN_REPEATS, "tokens grow", YES},
    {&lock_bad, BAD_TOKEN_REPEATS, "eight clients exclude each other", OVERLAP},
    {&lock_bad, BAD_TOKEN_ZERO, "tokens grow", YES},
    {&lock_bad, BAD_TRY_TIMES_OUT, "busy while another holds it", ANY},
    {&lock_bad, BAD_TRY_GETS_NOTHING, "busy while another holds it", NO},
    {&lock_bad, BAD_TIMES_OUT_EARLY, "a timed wait ends in time and leaves nothing", WRONG},
    {&lock_bad, BAD_LEAVES_TRACE, "a timed wait ends in time and leaves nothing", ANY},
    {&lock_bad, BAD_LEAVES_TRACE, "eight clients that give up leave it whole", ANY},
    {&lock_bad, BAD_WAITER_GETS_IT, "a waiter gets what is freed", YES},
    {&lock_bad, BAD_WAITER_GETS_IT, "the cut-off ends a wait", YES},
    {&lock_bad, BAD_WAITER_SLEEPS, "a waiter gets what is freed", NO_OVERLAP},
    {&lock_bad, BAD_DEAF, "the cut-off ends a wait", ANY},
    {&lock_bad, BAD_TRY_POLLS, "a try returns at once, a timed wait by its deadline", ANY},
    {&lock_bad, BAD_WAITS_ON, "a try returns at once, a timed wait by its deadline", ANY},
    {&lock_bad, BAD_OLD_WORD, "an earlier grant's word frees no later grant", YES},
    {&lock_bad, BAD_CUTS_NAME, "names that differ in one byte or bit are two locks", ANY},
    {&lock_bad, BAD_CUTS_NUMBER, "names that differ in one byte or bit are two locks", ANY},
    {&lock_bad, BAD_FOLDS_CASE, "names that differ in case are two locks", ANY},
    {&lock_bad, BAD_ONE_KEY, "keys are independent", ANY},
    {&lock_bad, BAD_FREES_ANYBODYS, "a release by one who does not hold is refused", ANY},
    {&lock_bad, BAD_RELEASE_IS_OK, "a release by one who does not hold is refused", YES},
    {&lock_bad, BAD_SESSION_STAYS, "the end of a session frees", ANY},
    {&lock_bad, BAD_LEASE_NEVER_ENDS, "a lease ends, not too early", ANY},
    {&lock_bad, BAD_LEASE_ENDS_EARLY, "a lease ends, not too early", YES},
    {&lock_bad, BAD_LEASE_ENDS_EARLY, "a lease lasts until its stated end", ANY},
    {&lock_bad, BAD_LEASE_UNKNOWN, "a lease ends, not too early", YES},
    {&lock_bad, BAD_RENEWS_NOTHING, "renewal keeps", ANY},
    {&lock_bad, BAD_RENEWS_ANYBODYS, "renewal keeps", YES},
    {&lock_bad, BAD_RENEWS_ANYBODYS, "renewal of what is lost says so", ANY},
    {&lock_bad, BAD_NAME_BREAKS, "names of odd bytes work or are refused", ANY},
    {&lock_bad, BAD_NAME_SILENT, "long names work or are refused", ANY},
    {&lock_bad, BAD_NO_VERSION, "says what it is, answers a ping", WRONG},
    {&bad_mutex, KIND_STARVES, "64 clients all get it", NO_OVERLAP},
    {&bad_mutex, KIND_OVERTAKES, "first come, first served", NO_OVERLAP},
    {&bad_mutex, KIND_FORGETS_DEAD, "killed clients stop nobody", ANY},
    {&bad_mutex, KIND_TRUSTS_DEAD, "killed clients stop nobody", ANY},
    {&bad_mutex, KIND_BLIND, "nothing is left on the server", ANY},
    {&bad_mutex, KIND_LEAVES, "nothing is left on the server", ANY},
    {&bad_mutex, KIND_LEAVES, "a timed wait ends in time and leaves nothing", ANY},
    {&bad_mutex, KIND_FREES_AT_ONCE, "held until it was released as often as taken", ANY},
    {&bad_mutex, KIND_NOT_TWICE, "held until it was released as often as taken", ANY},
    {&bad_mutex, KIND_ONE_KEY, "keys are independent", ANY},
    {&bad_mutex, KIND_HOARDS, "opens no more files than it says", ANY},
    {&bad_rwlock, KIND_HOARDS, "opens no more files than it says", ANY},
    {&bad_semaphore, KIND_HOARDS, "opens no more files than it says", ANY},
    {&bad_optimistic, KIND_HOARDS, "opens no more files than it says", ANY},
    {&bad_mutex, KIND_OWNER_IS_SESSION, "clients that share a session exclude each other", OVERLAP},
    {&bad_rwlock, KIND_READS_ALONE, "readers hold together, writers alone", ANY},
    {&bad_rwlock, KIND_READS_ALONE, "readers and writers wait for each other", ANY},
    {&bad_rwlock, KIND_WRITES_AMONG, "readers hold together, writers alone", ANY},
    {&bad_rwlock, KIND_WRITES_AMONG, "readers and writers wait for each other", YES},
    {&bad_rwlock, KIND_WRITES_AMONG, "eight readers and writers never overlap", OVERLAP},
    {&bad_rwlock, KIND_FORGETS_LATE, "a reader that comes while a writer waits never overlaps it",
     YES},
    {&bad_rwlock, KIND_POLLS, "a try returns at once, a timed wait by its deadline", ANY},
    {&bad_rwlock, KIND_READER_FREES, "readers hold together, writers alone", ANY},
    {&bad_rwlock, KIND_READER_FREES, "eight readers and writers never overlap", ANY},
    {&bad_rwlock, KIND_READER_STAYS, "a reader's lease is its own", ANY},
    {&bad_rwlock, KIND_READER_STAYS, "a reader's session is its own", ANY},
    {&bad_rwlock, KIND_ENDS_ALL, "a reader's lease is its own", ANY},
    {&bad_rwlock, KIND_ENDS_ALL, "a reader's session is its own", ANY},
    {&bad_semaphore, KIND_ONE_MORE, "as many permits as there are", ANY},
    {&bad_semaphore, KIND_ONE_MORE, "eight clients keep to the bound", OVERLAP},
    {&bad_semaphore, KIND_ONE_MORE, "nothing is left on the server", ANY},
    {&bad_semaphore, KIND_GIVES_TWO, "as many permits as there are", ANY},
    {&bad_semaphore, KIND_GIVES_TWO, "eight clients keep to the bound", ANY},
    {&bad_semaphore, KIND_TAKES_PART, "several permits at once, or none", ANY},
    {&bad_semaphore, KIND_ARMS_ANEW, "armed twice is armed once", ANY},
    {&bad_semaphore, KIND_KEEPS_ARMED, "nothing is left on the server", ANY},
    {&bad_optimistic, KIND_KEEPS_ARMED, "what was armed is gone when disarmed", ANY},
    {&bad_optimistic, KIND_BLIND, "what was armed is gone when disarmed", ANY},
    {&bad_optimistic, KIND_WRITES_ANYWAY, "a write after another's is refused", ANY},
    {&bad_optimistic, KIND_WRITES_ANYWAY, "eight writers lose no update", OVERLAP},
    {&bad_optimistic, KIND_SAME_VERSION, "a write makes a version", YES},
    {&bad_atomic, KIND_WRITES_ANYWAY, "eight writers lose no update", ANY},
    {&bad_atomic, KIND_SAME_VERSION, "a statement makes the next version", YES},
    {&bad_atomic, KIND_ONE_KEY, "a statement makes the next version", ANY},
};

static struct arena arena;

static const struct conform_check *check_of(const char *name) {
    const struct conform_check *check = conform_checks;
    while (check->name && strcmp(check->name, name) != 0) check++;
    if (!check->name) fail_msg("there is no check '%s'", name);
    return check;
}

static struct conform_result result;

/* Runs one check of a lock at a place. True if it passed; otherwise result has the reason. */
static bool passes(const struct lb_lock *lock, const char *const *sets, struct place **place,
                   const struct conform_check *check) {
    struct lb_err err = {0};
    struct plan_lock planned, far;
    const char *all[8] = {NULL};
    int count = 0;
    for (int i = 0; sets && sets[i]; i++) all[count++] = sets[i];
    assert_int_equal(conform_lock(lock, sets, &arena, &planned, &err), 0);
    for (int i = 0; conform_impatient[i]; i++) all[count++] = conform_impatient[i];
    assert_int_equal(conform_lock(lock, all, &arena, &far, &err), 0);
    conform_run(check, &planned, &far, place, &result);
    return !result.failure[0];
}

static struct place *open_bad(const struct lb_lock *lock, const char *const *sets) {
    struct lb_err err = {0};
    struct plan_lock planned;
    assert_int_equal(conform_lock(lock, sets, &arena, &planned, &err), 0);
    struct place *place = conform_open(&planned, NULL, &err);
    /* Its version may be missing from describe's facts, which the place does not mind. */
    if (!place) fail_msg("%s", err.text);
    return place;
}

/* A lock with nothing wrong passes all its checks. */
static int pass_all(const struct lb_lock *lock) {
    struct place *place = open_bad(lock, NULL);
    int passed = 0;
    for (const struct conform_check *check = conform_checks; check->name; check++) {
        const char *reason;
        if (!conform_applies(check, lock, false, &reason)) continue;
        if (!passes(lock, NULL, &place, check))
            fail_msg("%s: '%s' failed: %s", lock->name, check->name, result.failure);
        passed++;
    }
    place_close(place);
    return passed;
}

TEST(test_right_ones_pass_all) {
    static const struct {
        const struct lb_lock *lock;
        int checks; /* at least */
    } right[] = {{&lock_bad, 20},      {&bad_mutex, 18},     {&bad_rwlock, 16},
                 {&bad_semaphore, 16}, {&bad_optimistic, 5}, {&bad_atomic, 5}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_true(pass_all(right[i].lock) >= right[i].checks);
}

static char fault_set[32];
static const char *const fault_sets[] = {fault_set, NULL};
static bool caught[128]; /* by the check's place in conform_checks: it was seen to fail */

/* Fails unless the check does. */
static void must_fail(const struct lb_lock *lock, const char *const *sets, struct place **place,
                      const char *name, int fault) {
    if (passes(lock, sets, place, check_of(name)))
        fail_msg("%s: fault %d passed '%s'", lock->name, fault, name);
    caught[check_of(name) - conform_checks] = true;
}

static struct place *open_fault(const struct lb_lock *lock, int fault) {
    snprintf(fault_set, sizeof fault_set, "fault=%d", fault);
    return open_bad(lock, fault_sets);
}

/* One wrong lock and the check that is there for it, which waits until its limit. */
static void must_catch(const struct lb_lock *lock, int fault, const char *check) {
    struct place *place = open_fault(lock, fault);
    trial_patience_ns = LB_S_NS;
    must_fail(lock, fault_sets, &place, check, fault);
    trial_patience_ns = 30 * LB_S_NS;
    place_close(place);
}

/* Whether the failed check shows what it must. An overlap is told from slowness, so that only the latter is tried again. */
static bool shows(int wanted) {
    if (wanted == NO_OVERLAP) return result.shown != TRIAL_OVERLAP;
    return wanted == ANY || (int)result.shown == wanted;
}

TEST(test_each_fault_is_caught) {
    bool seen[2][64] = {{[BAD_NOTHING] = true},
                        {[KIND_RIGHT] = true, [KIND_SPINS] = true, [KIND_CRASHES] = true}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        must_catch(faults[i].lock, faults[i].fault, faults[i].check);
        if (!shows(faults[i].shows))
            fail_msg("%s, fault %d: '%s' does not show it: %s", faults[i].lock->name,
                     faults[i].fault, faults[i].check, result.failure);
        seen[faults[i].lock != &lock_bad][faults[i].fault] = true;
    }
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < (kind ? (int)KIND_FAULTS : (int)BAD_FAULTS); i++)
            if (!seen[kind][i]) fail_msg("fault %d of %s is not tried", i, kind ? "kinds" : "bad");
    }
}

/* A key that a failed check left locked does not block the next checks, which otherwise would all
 * wait until their limits. */
TEST(test_one_failed_check_does_not_stop_the_others) {
    struct place *place = open_fault(&bad_mutex, KIND_ONE_KEY);
    trial_patience_ns = LB_S_NS;
    assert_false(passes(&bad_mutex, fault_sets, &place, check_of("keys are independent")));
    if (!passes(&bad_mutex, fault_sets, &place, check_of("a waiter gets what is freed")))
        fail_msg("the next check failed, too: %s", result.failure);
    trial_patience_ns = 30 * LB_S_NS;
    place_close(place);
}

/* Runs a check of a lock with a fault that ends the process. Returns how it ended, and what it said. */
static int end_in(enum kind_fault fault, const char *check, char *said, size_t size) {
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGSEGV, SIG_DFL); /* cmocka has a handler of its own */
        struct place *place = open_fault(&bad_mutex, (int)fault);
        conform_limit_s = 1;
        passes(&bad_mutex, fault_sets, &place, check_of(check));
        _exit(0);
    }
    close(ends[1]);
    ssize_t length = 0, more;
    while ((more = read(ends[0], said + length, size - 1 - (size_t)length)) > 0) length += more;
    close(ends[0]);
    said[length] = '\0';
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* A call that neither returns nor waits ends the process, which says whose call it was. */
TEST(test_a_call_that_spins_is_named) {
    char said[600];
    int status = end_in(KIND_SPINS, "a waiter gets what is freed", said, sizeof said);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || !strstr(said, bad_mutex.name) ||
        !strstr(said, "'a waiter gets what is freed' did not end in 1 s"))
        fail_msg("status %d, and it said: %s", status, said);
}

#if !defined(__SANITIZE_ADDRESS__) &&                                                              \
    !defined(__SANITIZE_THREAD__) /* which have words of their own */
/* So does a crash, which ends the process as it would without the words. */
TEST(test_a_call_that_crashes_is_named) {
    char said[600];
    int status = end_in(KIND_CRASHES, "a waiter gets what is freed", said, sizeof said);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV || !strstr(said, bad_mutex.name) ||
        !strstr(said, "'a waiter gets what is freed': SIGSEGV ended this process"))
        fail_msg("status %d, and it said: %s", status, said);
}
#endif

static void tell_nothing(void *arg, const struct conform_check *check,
                         const struct conform_result *told) {
    (void)arg;
    (void)check;
    (void)told;
}

/* A lock whose table lacks a function is refused before the function is called. */
TEST(test_a_table_that_is_not_whole_is_refused) {
    static const volatile sig_atomic_t none;
    struct lb_algorithm algorithm = *lock_bad.algorithm;
    struct lb_lock lock = lock_bad;
    struct lb_err err = {0};
    struct conform_ask ask = {.lock = &lock, .tell = tell_nothing, .interrupts = &none};
    lock.algorithm = &algorithm;
    algorithm.renew = NULL;
    assert_int_equal(conform_suite(&ask, &err), -1);
    assert_string_equal(err.text,
                        "bad-lock is not whole: its table has LB_CAP_RENEW, but no .renew");
}

/* A failure is a sentence; its place in lockbench's sources comes last. */
TEST(test_a_failure_says_who_did_what) {
    static const struct {
        int fault;
        const char *check, *says;
    } cases[] = {
        {BAD_LEASE_UNKNOWN, "a lease ends, not too early",
         "a release by client 0 (holder) after its lease had ended gave ok; it must give lost "
         "(conform_lease.c:"},
        {BAD_TOKEN_REPEATS, "eight clients exclude each other", "its tokens do not grow: "},
        {BAD_TRY_TIMES_OUT, "busy while another holds it",
         "a try that does not wait by client 1 (other) where another holds gave timeout; it must "
         "give busy (conform_basic.c:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        must_catch(&lock_bad, cases[i].fault, cases[i].check);
        if (strncmp(result.failure, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("'%s', not '%s'", result.failure, cases[i].says);
    }
}

/* A real lock's server. Skips, or fails in CI, if it is missing. */
static struct place *open_real(const struct lb_lock *lock) {
    char why[512];
    if (conform_lacks(lock, NULL, why, sizeof why)) skip_for("%s", why);
    return open_bad(lock, NULL);
}

/* A lock without PX fails check after check; after the first failures the others must not wait
 * until their limits. */
TEST(test_a_lock_that_has_failed_is_not_waited_for) {
    const struct bad_real *fault = bad_reals;
    while (strcmp(fault->check, BAD_ENDLESS) != 0) fault++;
    struct lb_lock wrong = bad_real_lock(fault);
    struct place *place = open_real(&wrong);
    must_fail(&wrong, NULL, &place, BAD_ENDLESS, 0);
    conform_note_failed(&wrong);
    conform_limit_s = 29; /* less than the usual patience: it would end this program */
    must_fail(&wrong, NULL, &place, "renewal of what is lost says so", 0);
    conform_limit_s = 200;
    conform_note_failed(NULL);
    assert_int_equal(trial_patience_ns, 30 * LB_S_NS);
    place_close(place);
}

/* Little patience is no failure of a lock whose lease has to end first. */
TEST(test_a_right_lock_passes_with_little_patience) {
    const struct lb_lock *right = registry_lock("redis-setnx");
    struct place *place = open_real(right);
    trial_patience_ns = LB_S_NS; /* less than the lease of the check */
    if (!passes(right, NULL, &place, check_of("a vanished holder's lock is freed")))
        fail_msg("%s", result.failure);
    trial_patience_ns = 30 * LB_S_NS;
    place_close(place);
}

/* Whether the check fails, in the way that the fault asks for. A server starts in 4 s, and a session ends in 8. */
static bool is_caught(const struct bad_real *fault, const struct lb_lock *wrong,
                      struct place **place) {
    trial_patience_ns = fault->lock ? 8 * LB_S_NS : 4 * LB_S_NS;
    bool failed = !passes(wrong, NULL, place, check_of(fault->check));
    trial_patience_ns = 30 * LB_S_NS;
    bool yes = result.shown == TRIAL_GRANTED || result.shown == TRIAL_OVERLAP;
    return failed && (!fault->says_yes || yes);
}

TEST(test_what_is_lost_on_the_way_is_caught) {
    const struct lb_lock *right = NULL;
    struct place *place = NULL;
    bool passed[128] = {false}; /* by the check's place: the right lock of each check does, too */
    for (const struct bad_real *fault = bad_reals; fault->check; fault++) {
        const struct conform_check *check = check_of(fault->check);
        struct lb_lock wrong = bad_real_lock(fault);
        const struct lb_lock *next = registry_lock(wrong.name);
        /* A failed check may leave the server in an unknown state: a fresh one is started. */
        if (next != right || (check_of(fault[-1].check)->needs & CONFORM_OWNED)) {
            place_close(place);
            place = open_real(right = next);
        }
        if (!passed[check - conform_checks] && !passes(right, NULL, &place, check))
            fail_msg("'%s' failed: %s", fault->check, result.failure);
        passed[check - conform_checks] = true;
        if (!is_caught(fault, &wrong, &place)) {
            /* A busy machine may have been later than the mistake: once more, on a fresh server. */
            print_message("fault %d: '%s': once more\n", (int)(fault - bad_reals), fault->check);
            place_close(place);
            place = open_real(right);
            if (!is_caught(fault, &wrong, &place))
                fail_msg("fault %d: '%s' does not show it: %s", (int)(fault - bad_reals),
                         fault->check, result.failure);
        }
        caught[check - conform_checks] = true;
    }
    place_close(place);
}

/* Runs after the other tests: fails for each check that has caught no wrong lock. */
TEST(test_every_check_was_seen_to_fail) {
    for (int i = 0; conform_checks[i].name; i++) {
        if (caught[i]) continue;
        if (conform_checks[i].needs & (CONFORM_FAR | CONFORM_OWNED | CONFORM_TELLS)) {
            printf("not seen to fail, perhaps for want of a server: %s\n", conform_checks[i].name);
            if (!in_ci()) continue;
        }
        fail_msg("'%s' was never seen to fail", conform_checks[i].name);
    }
}

FIXTURE(free_arena) {
    arena_done(&arena);
    return 0;
}

TEST_MAIN(NULL, free_arena)
