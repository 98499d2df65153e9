/* test_stale_file: lock files of file-lockfile of whose owner nothing can be found out, or that many find stale at once. */
#define _GNU_SOURCE /* for RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>

#include "drivers/tests/live_help.h"

#include "bench/conform/conform_place.h"
#include "bench/conform/conform_trial.h"

static struct arena arena;
static struct place *place;

/* Leaves a lock file of a process that is gone. */
static bool leave_file(const struct trial_key *key) {
    char path[LB_KEY_MAX + 600], host[64] = "";
    snprintf(path, sizeof path, "%s/%s.lockfile", place->dir, key->name);
    FILE *file = fopen(path, "w");
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    waitpid(pid, NULL, 0);
    if (!file || gethostname(host, sizeof host - 1) != 0) return false;
    fprintf(file, "%ld %s 1\n", (long)pid, host);
    return fclose(file) == 0;
}

static _Atomic bool proc_is_closed;

/* In place of libc's, for this program and the drivers in it: while proc_is_closed, /proc can't be read, as in a
 * process that has no descriptor left. */
int open(const char *path, int flags, ...) {
    static int (*libc_open)(const char *, int, ...);
    if (!libc_open) *(void **)&libc_open = dlsym(RTLD_NEXT, "open");
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (proc_is_closed && strncmp(path, "/proc/", 6) == 0) {
        errno = EMFILE;
        return -1;
    }
    return libc_open(path, flags, mode);
}

static void owner_in_doubt_lives(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    MUST_GIVE(holder, actor_acquire(holder, &key, TRIAL_TRY), LB_OK);
    proc_is_closed = true;
    enum lb_outcome tried = actor_acquire(other, &key, TRIAL_TRY);
    proc_is_closed = false;
    MUST_GIVE(other, tried, LB_BUSY);
    MUST_GIVE(holder, actor_release(holder), LB_OK);
}

#define FINDERS 8
#define ROUNDS 150

static _Atomic int inside;

static void hold_briefly(struct actor *client) {
    const struct lb_lock *lock = client->session.lock;
    client->request.deadline_ns = trial_soon();
    client->outcome = lock->algorithm->acquire(&client->session, &client->request, &client->grant);
    if (client->outcome != LB_OK) return;
    if (atomic_fetch_add(&inside, 1) != 0)
        trial_fail(client->trial, "two took a stale file's place");
    lb_yield();
    atomic_fetch_sub(&inside, 1);
    client->outcome = lock->algorithm->release(&client->session, &client->request, &client->grant);
}

/* All clients find the file stale at the same time: each may remove that file, but not the one that
 * replaced it. */
static void many_find_it_stale(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *finders[FINDERS];
    for (int i = 0; i < FINDERS; i++) {
        finders[i] = actor_new(trial);
        actor_use_key(finders[i], &key);
    }
    for (int round = 0; round < ROUNDS && !trial_failed(trial); round++) {
        MUST(trial, leave_file(&key), "can't write");
        for (int i = 0; i < FINDERS; i++) actor_begin(finders[i], hold_briefly);
        for (int i = 0; i < FINDERS; i++) MUST_GIVE(finders[i], actor_end(finders[i]), LB_OK);
    }
}

static void run(void (*script)(struct trial *trial)) {
    struct lb_err err = {0};
    struct plan_lock lock;
    assert_int_equal(conform_lock(registry_lock("file-lockfile"), NULL, &arena, &lock, &err), 0);
    place = conform_open(&lock, NULL, &err);
    if (!place) fail_msg("%s", err.text);
    /* Clients on threads of their own, where two must be in the middle of it at once. */
    struct lb_lock threaded = *lock.lock;
    threaded.caps |= script == many_find_it_stale ? LB_CAP_BLOCKS_THREAD : 0;
    lock.lock = &threaded;
    struct trial trial = {.lock = &lock, .place = place};
    trial_run(&trial, script);
    place_close(place);
    if (trial.failure[0]) fail_msg("%s", trial.failure);
}

TEST(an_owner_of_whom_nothing_can_be_found_out_lives) {
    run(owner_in_doubt_lives);
}
TEST(many_find_a_file_stale) {
    run(many_find_it_stale);
}

FIXTURE(tear_down) {
    arena_done(&arena);
    return 0;
}

TEST_MAIN(NULL, tear_down)
