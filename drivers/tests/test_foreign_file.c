/* test_foreign_file: file-flock against flock(1): each excludes the other, on the file that the documentation
 * names; and a killed holder's lock is free. */
#include "drivers/tests/live_help.h"

#include "drivers/tests/conform_actor.h"
#include "drivers/tests/conform_place.h"

static struct arena arena;
static struct plan_lock lock;
static struct place *place;

/* "DIR/KEY.lock" */
static const char *file_of(const struct trial_key *key) {
    static char path[LB_KEY_MAX + 600];
    snprintf(path, sizeof path, "%s/%s.lock", place->dir, key->name);
    return path;
}

/* Whether flock(1) gets it at once. */
static bool flock_gets(const struct trial_key *key) {
    char command[LB_KEY_MAX + 700];
    snprintf(command, sizeof command, "flock --nonblock '%s' true", file_of(key));
    return system(command) == 0;
}

/* flock(1) takes it and holds it until foreign_end. */
static void hold(struct foreign *foreign, const struct trial_key *key) {
    foreign_start(foreign, (const char *const[]){"flock", file_of(key), "sh", "-c", "echo held; cat", NULL});
}

static void theirs_excludes_ours(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    struct foreign foreign;
    if (!ours) return;
    hold(&foreign, &key);
    bool held = strcmp(foreign_hear(&foreign), "held") == 0;
    enum lb_outcome tried = actor_acquire(ours, &key, TRIAL_TRY);
    enum lb_outcome timed = actor_acquire(ours, &key, lb_now() + 100 * LB_MS_NS);
    actor_begin_acquire(ours, &key, trial_soon());
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    bool waited = actor_is_busy(ours);
    close(foreign.to); /* `cat` ends, and flock(1) with it */
    enum lb_outcome got = actor_end(ours);
    foreign.to = -1;
    foreign_end(&foreign);
    MUST(trial, held, "flock(1) did not get it");
    MUST_GIVE(ours, tried, LB_BUSY);
    MUST_GIVE(ours, timed, LB_TIMEOUT);
    MUST(trial, waited, "ours did not wait for flock(1)");
    MUST_GIVE(ours, got, LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
}

static void ours_excludes_theirs(struct trial *trial) {
    struct trial_key key = trial_key(), other = trial_key();
    struct actor *ours = actor_new(trial);
    struct foreign foreign;
    if (!ours) return;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST(trial, access(file_of(&key), F_OK) == 0, "there is no %s", file_of(&key));
    MUST(trial, !flock_gets(&key), "flock(1) gets what ours holds");
    MUST(trial, flock_gets(&other), "flock(1) does not get another key");
    hold(&foreign, &key);
    struct pollfd quiet = {.fd = foreign.from, .events = POLLIN};
    bool waited = poll(&quiet, 1, 100) == 0;
    enum lb_outcome released = actor_release(ours);
    bool got = strcmp(foreign_hear(&foreign), "held") == 0;
    foreign_end(&foreign);
    MUST(trial, waited, "flock(1) does not wait for ours");
    MUST_GIVE(ours, released, LB_OK);
    MUST(trial, got, "flock(1) was not woken");
}

/* foreign_end kills: `flock` dies, but what it ran keeps the file open, as people have found out. */
static void killed_holder(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    struct foreign foreign;
    if (!ours) return;
    /* --close: the command does not inherit the file. */
    foreign_start(&foreign, (const char *const[]){"flock", "--close", file_of(&key), "sh", "-c",
                                                  "echo held; cat", NULL});
    bool held = strcmp(foreign_hear(&foreign), "held") == 0;
    enum lb_outcome tried = actor_acquire(ours, &key, TRIAL_TRY);
    foreign_end(&foreign);
    MUST(trial, held, "flock(1) did not get it");
    MUST_GIVE(ours, tried, LB_BUSY);
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
}

static int set_up(void **state) {
    (void)state;
    struct lb_err err = {0};
    signal(SIGPIPE, SIG_IGN);
    if (conform_lock(registry_lock("file-flock"), NULL, &arena, &lock, &err) == 0 &&
        (place = conform_open(&lock, &err))) {
        return 0;
    }
    print_error("%s\n", err.text);
    return -1;
}

static int tear_down(void **state) {
    (void)state;
    place_close(place);
    arena_done(&arena);
    return 0;
}

static void run(void **state) {
    void (*script)(struct trial *) = *(void (**)(struct trial *)) * state;
    if (system("command -v flock >/dev/null") != 0) {
        if (getenv("CI")) fail_msg("flock is missing: install util-linux");
        printf("skipped: flock is missing: install util-linux\n");
        skip();
    }
    struct trial trial = {.lock = &lock, .place = place};
    trial_run(&trial, script);
    if (trial.failure[0]) fail_msg("%s", trial.failure);
}

static void (*const scripts[])(struct trial *) = {theirs_excludes_ours, ours_excludes_theirs, killed_holder};
#define SCRIPT(n, what)                                                                                      \
    { what, run, NULL, NULL, (void *)(uintptr_t)&scripts[n] }

int main(void) {
    const struct CMUnitTest tests[] = {
        SCRIPT(0, "flock(1) excludes ours"),
        SCRIPT(1, "ours excludes flock(1)"),
        SCRIPT(2, "a killed flock(1) frees it"),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
