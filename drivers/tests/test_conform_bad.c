/* test_conform_bad: locks that are wrong on purpose: each must be caught by the check that is there
 * for it. A check that no mistake makes fail is useless.
 * Needs: servers, 3 minutes. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/conform/conform.h"
#include "bench/conform/conform_place.h"
#include "bench/tests/unit.h"
#include "drivers/tests/bad_kinds.h"
#include "drivers/tests/bad_lock.h"

static const struct {
    int fault; /* enum bad_fault */
    const char *check;
} faults[] = {
    {BAD_GRANTS_TWICE, "eight clients exclude each other"},
    {BAD_GRANTS_TWICE, "busy while another holds it"},
    {BAD_FORGETS_RELEASE, "taken and freed, again and again"},
    {BAD_TOKEN_REPEATS, "tokens grow"},
    {BAD_TOKEN_REPEATS, "eight clients exclude each other"},
    {BAD_TOKEN_ZERO, "tokens grow"},
    {BAD_TRY_TIMES_OUT, "busy while another holds it"},
    {BAD_TRY_GETS_NOTHING, "busy while another holds it"},
    {BAD_TIMES_OUT_EARLY, "a timed wait ends in time and leaves nothing"},
    {BAD_LEAVES_TRACE, "a timed wait ends in time and leaves nothing"},
    {BAD_LEAVES_TRACE, "eight clients that give up leave it whole"},
    {BAD_WAITER_GETS_IT, "a waiter gets what is freed"},
    {BAD_WAITER_GETS_IT, "the cut-off ends a wait"},
    {BAD_WAITER_SLEEPS, "a waiter gets what is freed"},
    {BAD_DEAF, "the cut-off ends a wait"},
    {BAD_TRY_POLLS, "a try returns at once, a timed wait by its deadline"},
    {BAD_WAITS_ON, "a try returns at once, a timed wait by its deadline"},
    {BAD_OLD_WORD, "an earlier grant's word frees no later grant"},
    {BAD_CUTS_NAME, "names that differ in one byte or bit are two locks"},
    {BAD_CUTS_NUMBER, "names that differ in one byte or bit are two locks"},
    {BAD_FOLDS_CASE, "names that differ in case are two locks"},
    {BAD_ONE_KEY, "keys are independent"},
    {BAD_FREES_ANYBODYS, "a release by one who does not hold is refused"},
    {BAD_RELEASE_IS_OK, "a release by one who does not hold is refused"},
    {BAD_SESSION_STAYS, "the end of a session frees"},
    {BAD_LEASE_NEVER_ENDS, "a lease ends, not too early"},
    {BAD_LEASE_ENDS_EARLY, "a lease ends, not too early"},
    {BAD_LEASE_ENDS_EARLY, "a lease lasts until its stated end"},
    {BAD_LEASE_UNKNOWN, "a lease ends, not too early"},
    {BAD_RENEWS_NOTHING, "renewal keeps"},
    {BAD_RENEWS_ANYBODYS, "renewal keeps"},
    {BAD_RENEWS_ANYBODYS, "renewal of what is lost says so"},
    {BAD_NAME_BREAKS, "names of odd bytes work or are refused"},
    {BAD_NAME_SILENT, "long names work or are refused"},
    {BAD_NO_VERSION, "says what it is, answers a ping"},
};

static const struct {
    const struct lb_lock *lock;
    enum kind_fault fault;
    const char *check;
} kind_faults[] = {
    {&bad_mutex, KIND_STARVES, "64 clients all get it"},
    {&bad_mutex, KIND_OVERTAKES, "first come, first served"},
    {&bad_mutex, KIND_FORGETS_DEAD, "killed clients stop nobody"},
    {&bad_mutex, KIND_TRUSTS_DEAD, "killed clients stop nobody"},
    {&bad_mutex, KIND_BLIND, "nothing is left on the server"},
    {&bad_mutex, KIND_LEAVES, "nothing is left on the server"},
    {&bad_mutex, KIND_LEAVES, "a timed wait ends in time and leaves nothing"},
    {&bad_mutex, KIND_FREES_AT_ONCE, "held until it was released as often as taken"},
    {&bad_mutex, KIND_NOT_TWICE, "held until it was released as often as taken"},
    {&bad_mutex, KIND_ONE_KEY, "keys are independent"},
    {&bad_mutex, KIND_HOARDS, "opens no more files than it says"},
    {&bad_rwlock, KIND_HOARDS, "opens no more files than it says"},
    {&bad_semaphore, KIND_HOARDS, "opens no more files than it says"},
    {&bad_latch, KIND_HOARDS, "opens no more files than it says"},
    {&bad_optimistic, KIND_HOARDS, "opens no more files than it says"},
    {&bad_mutex, KIND_OWNER_IS_SESSION, "clients that share a session exclude each other"},
    {&bad_rwlock, KIND_READS_ALONE, "readers hold together, writers alone"},
    {&bad_rwlock, KIND_READS_ALONE, "readers and writers wait for each other"},
    {&bad_rwlock, KIND_WRITES_AMONG, "readers hold together, writers alone"},
    {&bad_rwlock, KIND_WRITES_AMONG, "readers and writers wait for each other"},
    {&bad_rwlock, KIND_WRITES_AMONG, "eight readers and writers never overlap"},
    {&bad_rwlock, KIND_FORGETS_LATE, "a reader that comes while a writer waits never overlaps it"},
    {&bad_rwlock, KIND_POLLS, "a try returns at once, a timed wait by its deadline"},
    {&bad_latch, KIND_POLLS, "a try returns at once, a timed wait by its deadline"},
    {&bad_rwlock, KIND_READER_FREES, "readers hold together, writers alone"},
    {&bad_rwlock, KIND_READER_FREES, "eight readers and writers never overlap"},
    {&bad_rwlock, KIND_READER_STAYS, "a reader's lease is its own"},
    {&bad_rwlock, KIND_READER_STAYS, "a reader's session is its own"},
    {&bad_rwlock, KIND_ENDS_ALL, "a reader's lease is its own"},
    {&bad_rwlock, KIND_ENDS_ALL, "a reader's session is its own"},
    {&bad_semaphore, KIND_ONE_MORE, "as many permits as there are"},
    {&bad_semaphore, KIND_ONE_MORE, "eight clients keep to the bound"},
    {&bad_semaphore, KIND_ONE_MORE, "nothing is left on the server"},
    {&bad_semaphore, KIND_GIVES_TWO, "as many permits as there are"},
    {&bad_semaphore, KIND_GIVES_TWO, "eight clients keep to the bound"},
    {&bad_semaphore, KIND_TAKES_PART, "several permits at once, or none"},
    {&bad_semaphore, KIND_ARMS_ANEW, "armed twice is armed once"},
    {&bad_semaphore, KIND_KEEPS_ARMED, "nothing is left on the server"},
    {&bad_latch, KIND_OPENS_EARLY, "opens at the count, for all"},
    {&bad_latch, KIND_OPENS_ONCE, "opens at the count, for all"},
    {&bad_latch, KIND_KEEPS_ARMED, "what was armed is gone when disarmed"},
    {&bad_latch, KIND_BLIND, "what was armed is gone when disarmed"},
    {&bad_optimistic, KIND_WRITES_ANYWAY, "a write after another's is refused"},
    {&bad_optimistic, KIND_WRITES_ANYWAY, "eight writers lose no update"},
    {&bad_optimistic, KIND_SAME_VERSION, "a write makes a version"},
    {&bad_atomic, KIND_WRITES_ANYWAY, "eight writers lose no update"},
    {&bad_atomic, KIND_SAME_VERSION, "a statement makes the next version"},
    {&bad_multi, KIND_KEEPS_SOME, "several keys, all or none"},
    {&bad_multi, KIND_LOCKS_UP, "overlapping sets of keys do not deadlock"},
    {&bad_slots, KIND_SAME_SLOT, "each part of a key has one holder"},
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
    assert_true(pass_all(&lock_bad) >= 20);
    assert_true(pass_all(&bad_mutex) >= 18);
    assert_true(pass_all(&bad_rwlock) >= 16);
    assert_true(pass_all(&bad_semaphore) >= 16);
    assert_true(pass_all(&bad_latch) >= 5);
    assert_true(pass_all(&bad_optimistic) >= 5);
    assert_true(pass_all(&bad_atomic) >= 5);
    assert_true(pass_all(&bad_multi) >= 15);
    assert_true(pass_all(&bad_slots) >= 14);
}

static bool caught[128]; /* by the check's place in conform_checks: it was seen to fail */

/* Fails unless the check does. */
static void must_fail(const struct lb_lock *lock, const char *const *sets, struct place **place,
                      const char *name, int fault) {
    if (passes(lock, sets, place, check_of(name)))
        fail_msg("%s: fault %d passed '%s'", lock->name, fault, name);
    caught[check_of(name) - conform_checks] = true;
}

/* One wrong lock and the check that is there for it. */
static void must_catch(const struct lb_lock *lock, int fault, const char *check) {
    char set[32];
    const char *sets[] = {set, NULL};
    snprintf(set, sizeof set, "fault=%d", fault);
    struct place *place = open_bad(lock, sets);
    must_fail(lock, sets, &place, check, fault);
    place_close(place);
}

TEST(test_each_fault_is_caught) {
    bool seen[BAD_FAULTS] = {[BAD_NOTHING] = true},
         kinds_seen[KIND_FAULTS] = {
             [KIND_RIGHT] = true, [KIND_SPINS] = true, [KIND_CRASHES] = true};
    trial_patience_ns = LB_S_NS; /* checks of wrong locks wait until the limit */
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        must_catch(&lock_bad, faults[i].fault, faults[i].check);
        seen[faults[i].fault] = true;
    }
    for (size_t i = 0; i < sizeof kind_faults / sizeof *kind_faults; i++) {
        must_catch(kind_faults[i].lock, (int)kind_faults[i].fault, kind_faults[i].check);
        kinds_seen[kind_faults[i].fault] = true;
    }
    trial_patience_ns = 30 * LB_S_NS;
    for (int i = 0; i < BAD_FAULTS; i++) {
        if (!seen[i]) fail_msg("fault %d is not tried", i);
    }
    for (int i = 0; i < KIND_FAULTS; i++) {
        if (!kinds_seen[i]) fail_msg("fault %d of the kinds is not tried", i);
    }
}

/* True if a failed check says that two clients held at once; only then the check is not tried once
 * more. */
static bool overlaps(const struct lb_lock *lock, int fault, const char *check) {
    must_catch(lock, fault, check);
    return result.overlap;
}

/* A key that a failed check left locked does not block the next checks, which otherwise would all
 * wait until their limits. */
TEST(test_one_failed_check_does_not_stop_the_others) {
    char set[32];
    const char *sets[] = {set, NULL};
    snprintf(set, sizeof set, "fault=%d", KIND_ONE_KEY);
    struct place *place = open_bad(&bad_mutex, sets);
    trial_patience_ns = LB_S_NS;
    assert_false(passes(&bad_mutex, sets, &place, check_of("keys are independent")));
    if (!passes(&bad_mutex, sets, &place, check_of("a waiter gets what is freed")))
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
        char set[32];
        const char *sets[] = {set, NULL};
        snprintf(set, sizeof set, "fault=%d", (int)fault);
        dup2(ends[1], STDERR_FILENO);
        signal(SIGSEGV, SIG_DFL); /* cmocka has a handler of its own */
        struct place *place = open_bad(&bad_mutex, sets);
        conform_limit_s = 1;
        passes(&bad_mutex, sets, &place, check_of(check));
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

TEST(test_an_overlap_is_told_from_slowness) {
    trial_patience_ns = LB_S_NS;
    assert_true(overlaps(&lock_bad, BAD_GRANTS_TWICE, "eight clients exclude each other"));
    assert_true(overlaps(&lock_bad, BAD_TOKEN_REPEATS, "eight clients exclude each other"));
    assert_true(
        overlaps(&bad_rwlock, KIND_WRITES_AMONG, "eight readers and writers never overlap"));
    assert_true(overlaps(&bad_semaphore, KIND_ONE_MORE, "eight clients keep to the bound"));
    assert_true(overlaps(&bad_optimistic, KIND_WRITES_ANYWAY, "eight writers lose no update"));
    assert_true(overlaps(&bad_mutex, KIND_OWNER_IS_SESSION,
                         "clients that share a session exclude each other"));
    assert_false(overlaps(&bad_mutex, KIND_STARVES, "64 clients all get it"));
    assert_false(overlaps(&bad_mutex, KIND_OVERTAKES, "first come, first served"));
    assert_false(overlaps(&lock_bad, BAD_WAITER_SLEEPS, "a waiter gets what is freed"));
    trial_patience_ns = 30 * LB_S_NS;
}

/* What a failed check shows about a lock. */
static enum trial_shown shown(const struct lb_lock *lock, int fault, const char *check) {
    must_catch(lock, fault, check);
    return result.shown;
}

TEST(test_a_yes_in_the_wrong_place_is_told_from_other_failures) {
    static const struct {
        const struct lb_lock *lock;
        int fault;
        const char *check;
    } yes[] = {
        {&lock_bad, BAD_TOKEN_REPEATS, "tokens grow"},
        {&lock_bad, BAD_TOKEN_ZERO, "tokens grow"},
        {&lock_bad, BAD_LEASE_ENDS_EARLY, "a lease ends, not too early"},
        {&lock_bad, BAD_LEASE_UNKNOWN, "a lease ends, not too early"},
        {&lock_bad, BAD_WAITER_GETS_IT, "a waiter gets what is freed"},
        {&lock_bad, BAD_WAITER_GETS_IT, "the cut-off ends a wait"},
        {&lock_bad, BAD_RELEASE_IS_OK, "a release by one who does not hold is refused"},
        {&lock_bad, BAD_RENEWS_ANYBODYS, "renewal keeps"},
        {&lock_bad, BAD_OLD_WORD, "an earlier grant's word frees no later grant"},
        {&bad_rwlock, KIND_FORGETS_LATE,
         "a reader that comes while a writer waits never overlaps it"},
        {&bad_rwlock, KIND_WRITES_AMONG, "readers and writers wait for each other"},
        {&bad_optimistic, KIND_SAME_VERSION, "a write makes a version"},
        {&bad_atomic, KIND_SAME_VERSION, "a statement makes the next version"},
        {&bad_slots, KIND_SAME_SLOT, "each part of a key has one holder"},
    };
    trial_patience_ns = LB_S_NS;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (shown(yes[i].lock, yes[i].fault, yes[i].check) != TRIAL_GRANTED)
            fail_msg("%s, fault %d: '%s' shows no yes: %s", yes[i].lock->name, yes[i].fault,
                     yes[i].check, result.failure);
    }
    assert_int_equal(shown(&lock_bad, BAD_TRY_GETS_NOTHING, "busy while another holds it"),
                     TRIAL_REFUSED);
    assert_int_equal(
        shown(&lock_bad, BAD_TIMES_OUT_EARLY, "a timed wait ends in time and leaves nothing"),
        TRIAL_WRONG);
    assert_int_equal(shown(&lock_bad, BAD_NO_VERSION, "says what it is, answers a ping"),
                     TRIAL_WRONG);
    trial_patience_ns = 30 * LB_S_NS;
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
    trial_patience_ns = LB_S_NS;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        must_catch(&lock_bad, cases[i].fault, cases[i].check);
        if (strncmp(result.failure, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("'%s', not '%s'", result.failure, cases[i].says);
    }
    trial_patience_ns = 30 * LB_S_NS;
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
    static const char check[] = "renewal of what is lost says so";
    struct lb_lock wrong = bad_redis_lock(BAD_REDIS_NO_LEASE);
    struct place *place = open_real(&wrong);
    must_fail(&wrong, NULL, &place, "a lease ends, not too early", BAD_REDIS_NO_LEASE);
    conform_note_failed(&wrong);
    conform_limit_s = 29; /* less than the usual patience: it would end this program */
    must_fail(&wrong, NULL, &place, check, BAD_REDIS_NO_LEASE);
    conform_limit_s = 200;
    conform_note_failed(NULL);
    assert_int_equal(trial_patience_ns, 30 * LB_S_NS);
    place_close(place);
}

/* Little patience is no failure of a lock whose lease has to end first. */
TEST(test_a_right_lock_passes_with_little_patience) {
    struct lb_lock right = bad_redis_lock(BAD_REDIS_NOTHING);
    struct place *place = open_real(&right);
    trial_patience_ns = LB_S_NS; /* less than the lease of the check */
    if (!passes(&right, NULL, &place, check_of("a vanished holder's lock is freed")))
        fail_msg("%s", result.failure);
    trial_patience_ns = 30 * LB_S_NS;
    place_close(place);
}

static const struct {
    enum bad_redis_fault fault;
    const char *check;
} redis_faults[] = {
    /* This one comes first, on a server without keys: a key of another wrong lock might expire between the two counts,
     * and so hide the additional key. */
    {BAD_REDIS_SIDE_KEY, "no more is on the server than before"},
    {BAD_REDIS_CERTAIN, "an answer cut off is in doubt, then settled"},
    {BAD_REDIS_CERTAIN, "an answer cut in the middle is in doubt, then settled"},
    {BAD_REDIS_CERTAIN, "a connection reset is in doubt, then settled"},
    {BAD_REDIS_CERTAIN, "an answer that never comes is in doubt, then settled"},
    {BAD_REDIS_CERTAIN, "a request that never arrives is in doubt, then settled"},
    {BAD_REDIS_CERTAIN, "a killed server ends every wait, and serves again"},
    {BAD_REDIS_UNSETTLED, "an answer cut off is in doubt, then settled"},
    {BAD_REDIS_UNSETTLED, "an answer that never comes is in doubt, then settled"},
    {BAD_REDIS_UNCOUNTED, "counts its commands, as many as it says"},
    {BAD_REDIS_HOARDS, "opens no more files than it says"},
    {BAD_REDIS_SURE, "a release cut off is in doubt, then settled"},
    {BAD_REDIS_HOLDS_ON, "a vanished holder's lock is freed"},
    {BAD_REDIS_NO_LEASE, "a lease ends, not too early"},
    {BAD_REDIS_SHORT, "a lease lasts until its stated end"},
    {BAD_REDIS_SECONDS, "a lease lasts until its stated end"},
    {BAD_REDIS_RENEWED_SHORT, "a lease lasts until its stated end"},
    {BAD_REDIS_FROM_ANSWER, "a lease counts from before the request"},
    {BAD_REDIS_RENEWED_FROM_ANSWER, "a lease counts from before the request"},
    {BAD_REDIS_RENEWS_NEVER, "a lease counts from before the request"},
    {BAD_REDIS_RENEWAL_SURE, "a renewal without an answer is in doubt, and extends nothing"},
    {BAD_REDIS_RENEWAL_LOST, "a renewal without an answer is in doubt, and extends nothing"},
    {BAD_REDIS_RENEWAL_COUNTS, "a renewal without an answer is in doubt, and extends nothing"},
    {BAD_REDIS_GET_SET, "each message of an acquire may be late"},
    {BAD_REDIS_SLEEPS, "each message of a wait may be late"},
    {BAD_REDIS_HASTY, "each message of a wait that times out may be late"},
    {BAD_REDIS_FREES_AGAIN, "each message of a release may be late"},
    {BAD_REDIS_RENEWS_ANEW, "each message of a renewal may be late"},
    {BAD_REDIS_GET_DEL, "a lease may end while a message is late"},
};

/* These tell a client that it holds, or has freed, what it may not. */
static bool says_yes(enum bad_redis_fault fault) {
    return fault == BAD_REDIS_SURE || fault == BAD_REDIS_FROM_ANSWER ||
           fault == BAD_REDIS_RENEWED_FROM_ANSWER || fault == BAD_REDIS_SHORT ||
           fault == BAD_REDIS_GET_DEL || fault == BAD_REDIS_SECONDS ||
           fault == BAD_REDIS_RENEWED_SHORT || fault == BAD_REDIS_RENEWAL_SURE ||
           fault == BAD_REDIS_RENEWAL_COUNTS || fault == BAD_REDIS_GET_SET ||
           fault == BAD_REDIS_FREES_AGAIN || fault == BAD_REDIS_RENEWS_ANEW;
}

/* Whether the check fails, in the way that the fault asks for. */
static bool is_caught(const struct lb_lock *wrong, struct place **place, const char *name,
                      enum bad_redis_fault fault) {
    bool failed = !passes(wrong, NULL, place, check_of(name));
    return failed && (!says_yes(fault) || result.shown == TRIAL_GRANTED);
}

TEST(test_what_is_lost_on_the_way_is_caught) {
    struct lb_lock right = bad_redis_lock(BAD_REDIS_NOTHING);
    struct place *place = open_real(&right);
    for (size_t i = 0; i < sizeof redis_faults / sizeof *redis_faults; i++) {
        struct lb_lock wrong = bad_redis_lock(redis_faults[i].fault);
        const char *name = redis_faults[i].check;
        trial_patience_ns = 30 * LB_S_NS;
        if (!passes(&right, NULL, &place, check_of(name)))
            fail_msg("'%s' failed: %s", name, result.failure);
        trial_patience_ns = 4 * LB_S_NS; /* a server starts in that */
        if (!is_caught(&wrong, &place, name, redis_faults[i].fault)) {
            /* A busy machine may have been later than the mistake: once more, on a fresh server. */
            print_message("fault %d: '%s': once more\n", (int)redis_faults[i].fault, name);
            place_close(place);
            place = open_real(&right);
            if (!is_caught(&wrong, &place, name, redis_faults[i].fault))
                fail_msg("fault %d: '%s' does not show it: %s", (int)redis_faults[i].fault, name,
                         result.failure);
        }
        caught[check_of(name) - conform_checks] = true;
        /* The failed check left the server in an unknown state, so a fresh one is started. */
        if (check_of(name)->needs & CONFORM_OWNED) {
            place_close(place);
            place = open_real(&right);
        }
    }
    trial_patience_ns = 30 * LB_S_NS;
    place_close(place);
}

/* One wrong lock on a server of its own. */
static void must_fail_there(struct lb_lock wrong, const char *name, int64_t patience_ns) {
    struct place *place = open_real(&wrong);
    trial_patience_ns = patience_ns;
    must_fail(&wrong, NULL, &place, name, 0);
    trial_patience_ns = 30 * LB_S_NS;
    place_close(place);
}

TEST(test_a_session_that_ends_unsaid_is_caught) {
    must_fail_there(bad_zk_lock(), "a session that ends tells its holder", 8 * LB_S_NS);
}

TEST(test_no_answer_taken_for_no_is_caught) {
    must_fail_there(bad_redis_latch(), "an await cut off does not open", 4 * LB_S_NS);
    must_fail_there(bad_pg_optimistic(), "a write cut off is in doubt", 4 * LB_S_NS);
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
