/* test_foreign_file: the file locks against the real programs: file-flock and flock(1), file-ofd
 * and another process's fcntl(F_SETLK), file-lockfile and dotlockfile(1): each excludes the other,
 * on the file that the documentation names. Lock files that are stale, and those that are not or in doubt. */
#define _GNU_SOURCE /* for RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>

#include "drivers/tests/live_help.h"

#include "bench/conform/conform_place.h"
#include "bench/conform/conform_trial.h"

static struct arena arena;
static struct place *place;

/* "DIR/KEY.lock", "DIR/KEY.lockfile" */
static const char *path_of(const struct trial_key *key, const char *suffix) {
    static char path[LB_KEY_MAX + 600];
    snprintf(path, sizeof path, "%s/%s%s", place->dir, key->name, suffix);
    return path;
}

/* A program that takes a key's $FILE if nobody has it, says "held", and keeps it until its input ends. */
static const struct way {
    const char *lock, *suffix, *take;
    const char *needs, *install;
} ways[] = {
    {"file-flock", ".lock", "exec flock --nonblock \"$FILE\" sh -c 'echo held; cat'", "flock",
     "util-linux"},
    {"file-ofd", ".lock",
     "exec python3 -c 'import fcntl, os, sys; file = open(os.environ[\"FILE\"], \"a+\"); "
     "fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB); print(\"held\", flush=True); "
     "sys.stdin.read()' 2>/dev/null",
     "python3", "python3"},
    {"file-lockfile", ".lockfile",
     "exec dotlockfile -l -p -q -r 0 \"$FILE\" sh -c 'echo held; cat'", "dotlockfile",
     "liblockfile-bin"},
};
static const struct way *now; /* the one that is played */

static bool they_take(struct foreign *foreign, const struct trial_key *key) {
    setenv("FILE", path_of(key, now->suffix), 1);
    foreign_start(foreign, (const char *const[]){"sh", "-c", now->take, NULL});
    return strcmp(foreign_hear(foreign), "held") == 0;
}

/* Each excludes the other; the second time theirs is killed. */
static void both_ways(struct trial *trial) {
    struct trial_key key = trial_key(), other = trial_key();
    struct actor *ours = actor_new(trial);
    struct foreign foreign;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST(trial, access(path_of(&key, now->suffix), F_OK) == 0, "there is no such file");
    bool took = they_take(&foreign, &key);
    foreign_end(&foreign);
    MUST(trial, !took, "theirs gets what ours holds");
    took = they_take(&foreign, &other);
    foreign_end(&foreign);
    MUST(trial, took, "theirs does not get another key");
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    for (int killed = 0; killed < 2; killed++) {
        took = they_take(&foreign, &key);
        enum lb_outcome tried = actor_acquire(ours, &key, TRIAL_TRY);
        enum lb_outcome timed = actor_acquire(ours, &key, lb_now() + 100 * LB_MS_NS);
        actor_begin_acquire(ours, &key, trial_soon());
        trial_sleep_until(lb_now() + 50 * LB_MS_NS);
        bool waited = actor_is_busy(ours);
        if (killed)
            foreign_end(&foreign);
        else
            close(foreign.to); /* its input ends */
        enum lb_outcome got = actor_end(ours);
        foreign.to = -1;
        if (!killed) foreign_end(&foreign);
        MUST(trial, took, "theirs does not get what is free");
        MUST_GIVE(ours, tried, LB_BUSY);
        MUST_GIVE(ours, timed, LB_TIMEOUT);
        MUST(trial, waited, "ours did not wait for theirs");
        MUST_GIVE(ours, got, LB_OK);
        MUST_GIVE(ours, actor_release(ours), LB_OK);
    }
}

static bool leave_file(const struct trial_key *key, const char *host, long pid,
                       unsigned long long start) {
    FILE *file = fopen(path_of(key, ".lockfile"), "w");
    if (!file) return false;
    fprintf(file, "%ld %s %llu\n", pid, host, start);
    return fclose(file) == 0;
}

/* A pid that was somebody's and is nobody's. */
static long dead_pid(void) {
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

static void set_up_again(struct actor *client) {
    client->failed = client->session.lock->algorithm->setup(&client->session, &client->err);
}

static void stale_files(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    char host[64] = "";
    MUST(trial, gethostname(host, sizeof host - 1) == 0, "no host name");
    MUST(trial, leave_file(&key, host, dead_pid(), 1), "can't write");
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    /* A pid that lives, but began at another time: it is not that owner. */
    MUST(trial, leave_file(&key, host, getpid(), 1), "can't write");
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    /* Another host's can't be judged. */
    MUST(trial, leave_file(&key, "elsewhere.example", dead_pid(), 1), "can't write");
    MUST_GIVE(ours, actor_acquire(ours, &key, lb_now() + 200 * LB_MS_NS), LB_TIMEOUT);
    MUST(trial, unlink(path_of(&key, ".lockfile")) == 0, "the other host's file is gone");
    /* The next setup removes the files of sessions that died, and keeps those of living ones. */
    char dead[640], alive[640];
    snprintf(dead, sizeof dead, "%s/.lockbench-%ld-0-%s.owner", place->dir, dead_pid(), host);
    snprintf(alive, sizeof alive, "%s/.lockbench-%ld-9999-%s.owner", place->dir, (long)getpid(),
             host);
    MUST(trial, close(creat(dead, 0600)) == 0 && close(creat(alive, 0600)) == 0, "can't write");
    actor_do(ours, set_up_again);
    MUST(trial, access(dead, F_OK) != 0 && access(alive, F_OK) == 0, "%s is there, or %s is not",
         dead, alive);
    unlink(alive);
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
    char host[64] = "";
    MUST(trial, gethostname(host, sizeof host - 1) == 0, "no host name");
    for (int i = 0; i < FINDERS; i++) {
        finders[i] = actor_new(trial);
        actor_use_key(finders[i], &key);
    }
    long dead = dead_pid();
    for (int round = 0; round < ROUNDS && !trial_failed(trial); round++) {
        MUST(trial, leave_file(&key, host, dead, 1), "can't write");
        for (int i = 0; i < FINDERS; i++) actor_begin(finders[i], hold_briefly);
        for (int i = 0; i < FINDERS; i++) MUST_GIVE(finders[i], actor_end(finders[i]), LB_OK);
    }
}

/* Names that would look alike as file names are still different locks. */
static void names_apart(struct trial *trial) {
    static const char *const names[] = {"a/b", "a_b", "a%2Fb", "a%2fb", "a//b"};
    struct actor *clients[5];
    for (int i = 0; i < 5; i++) {
        struct trial_key key = trial_key_named(names[i], strlen(names[i]));
        clients[i] = actor_new(trial);
        MUST_GIVE(clients[i], actor_acquire(clients[i], &key, TRIAL_TRY), LB_OK);
    }
    for (int i = 0; i < 5; i++) MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
    struct trial_key plain = trial_key_named("a_b", 3);
    MUST(trial, access(path_of(&plain, ".lock"), F_OK) == 0, "a simple name is not its file's");
}

static void run(const char *name, void (*script)(struct trial *trial)) {
    struct lb_err err = {0};
    struct plan_lock lock;
    assert_int_equal(conform_lock(registry_lock(name), NULL, &arena, &lock, &err), 0);
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

static void meet(const struct way *way) {
    need_program(way->needs, way->install);
    now = way;
    run(way->lock, both_ways);
}

TEST(flock_and_ours_exclude_each_other) {
    meet(&ways[0]);
}
TEST(fcntl_and_ours_exclude_each_other) {
    meet(&ways[1]);
}
TEST(dotlockfile_and_ours_exclude_each_other) {
    meet(&ways[2]);
}
TEST(names_have_files_of_their_own) {
    run("file-flock", names_apart);
}
TEST(stale_files_are_found_and_others_left) {
    run("file-lockfile", stale_files);
}
TEST(an_owner_of_whom_nothing_can_be_found_out_lives) {
    run("file-lockfile", owner_in_doubt_lives);
}
TEST(many_find_a_file_stale) {
    run("file-lockfile", many_find_it_stale);
}

FIXTURE(tear_down) {
    arena_done(&arena);
    return 0;
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    return run_all_tests(NULL, tear_down);
}
