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

static const char *file_of(const struct trial_key *key) {
    return path_of(key, ".lock");
}

/* Whether flock(1) gets it at once. */
static bool flock_gets(const struct trial_key *key) {
    char command[LB_KEY_MAX + 700];
    snprintf(command, sizeof command, "flock --nonblock '%s' true", file_of(key));
    return system(command) == 0;
}

/* flock(1) takes it and holds it until foreign_end. */
static void hold(struct foreign *foreign, const struct trial_key *key) {
    foreign_start(foreign,
                  (const char *const[]){"flock", file_of(key), "sh", "-c", "echo held; cat", NULL});
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

/* Another process tries fcntl(F_SETLK) and says whether it got it; keeps it until it reads a
 * byte. */
struct posix_holder {
    pid_t pid;
    int to, from;
};

static bool posix_takes(struct posix_holder *other, const char *path) {
    int to[2], from[2];
    char word = '-';
    if (pipe(to) != 0 || pipe(from) != 0 || (other->pid = fork()) < 0) return false;
    if (other->pid == 0) {
        struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        word = fd >= 0 && fcntl(fd, F_SETLK, &all) == 0 ? 'h' : 'n';
        close(to[1]);
        if (write(from[1], &word, 1) == 1 && read(to[0], &word, 1) >= 0) _exit(0);
        _exit(1);
    }
    close(to[0]);
    close(from[1]);
    other->to = to[1];
    other->from = from[0];
    return read(other->from, &word, 1) == 1 && word == 'h';
}

static void posix_ends(struct posix_holder *other) {
    close(other->to);
    close(other->from);
    waitpid(other->pid, NULL, 0);
}

static void posix_and_ours(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *ours = actor_new(trial);
    struct posix_holder other;
    if (!ours) return;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    bool took = posix_takes(&other, file_of(&key));
    posix_ends(&other);
    MUST(trial, !took, "fcntl(F_SETLK) gets what ours holds");
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    took = posix_takes(&other, file_of(&key));
    enum lb_outcome tried = actor_acquire(ours, &key, TRIAL_TRY);
    actor_begin_acquire(ours, &key, trial_soon());
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    bool waited = actor_is_busy(ours);
    posix_ends(&other);
    MUST(trial, took, "fcntl(F_SETLK) does not get what is free");
    MUST_GIVE(ours, tried, LB_BUSY);
    MUST(trial, waited, "ours did not wait for fcntl(F_SETLK)");
    MUST_GIVE(ours, actor_end(ours), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
}

static bool dotlockfile_gets(const char *path) {
    char command[LB_KEY_MAX + 700];
    snprintf(command, sizeof command, "dotlockfile -l -p -q -r 0 '%s' true", path);
    return system(command) == 0;
}

static void dotlockfile_and_ours(struct trial *trial) {
    struct trial_key key = trial_key();
    const char *path = path_of(&key, ".lockfile");
    struct actor *ours = actor_new(trial);
    struct foreign foreign;
    if (!ours) return;
    MUST_GIVE(ours, actor_acquire(ours, &key, trial_soon()), LB_OK);
    MUST(trial, !dotlockfile_gets(path), "dotlockfile gets what ours holds");
    MUST_GIVE(ours, actor_release(ours), LB_OK);
    MUST(trial, dotlockfile_gets(path), "dotlockfile does not get what is free");
    foreign_start(&foreign, (const char *const[]){"dotlockfile", "-l", "-p", "-r", "0", path, "sh",
                                                  "-c", "echo held; cat", NULL});
    bool held = strcmp(foreign_hear(&foreign), "held") == 0;
    enum lb_outcome tried = actor_acquire(ours, &key, TRIAL_TRY);
    foreign_end(&foreign); /* killed: its file stays */
    MUST(trial, held, "dotlockfile did not get it");
    MUST_GIVE(ours, tried, LB_BUSY);
    MUST_GIVE(ours, actor_acquire(ours, &key, TRIAL_TRY), LB_OK);
    MUST_GIVE(ours, actor_release(ours), LB_OK);
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
    if (!ours) return;
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
    if (!holder || !other) return;
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
        if (!finders[i] || !actor_use_key(finders[i], &key)) return;
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
        if (!clients[i]) return;
        MUST_GIVE(clients[i], actor_acquire(clients[i], &key, TRIAL_TRY), LB_OK);
    }
    for (int i = 0; i < 5; i++) MUST_GIVE(clients[i], actor_release(clients[i]), LB_OK);
    struct trial_key plain = trial_key_named("a_b", 3);
    MUST(trial, access(file_of(&plain), F_OK) == 0, "a simple name is not its file's");
}

struct scene {
    const char *name, *lock;
    const char *needs, *install; /* a program; NULL = none */
    void (*script)(struct trial *trial);
};

static const struct scene scenes[] = {
    {"flock(1) excludes ours", "file-flock", "flock", "util-linux", theirs_excludes_ours},
    {"ours excludes flock(1)", "file-flock", "flock", "util-linux", ours_excludes_theirs},
    {"names have files of their own", "file-flock", NULL, NULL, names_apart},
    {"fcntl(F_SETLK) and ours exclude each other", "file-ofd", NULL, NULL, posix_and_ours},
    {"dotlockfile and ours exclude each other", "file-lockfile", "dotlockfile", "liblockfile-bin",
     dotlockfile_and_ours},
    {"stale files are found, others left", "file-lockfile", NULL, NULL, stale_files},
    {"an owner of whom nothing can be found out lives", "file-lockfile", NULL, NULL,
     owner_in_doubt_lives},
    {"many find a file stale", "file-lockfile", NULL, NULL, many_find_it_stale},
};

static void run(void **state) {
    const struct scene *scene = *state;
    struct lb_err err = {0};
    struct plan_lock lock;
    if (scene->needs) need_program(scene->needs, scene->install);
    assert_int_equal(conform_lock(registry_lock(scene->lock), NULL, &arena, &lock, &err), 0);
    place = conform_open(&lock, &err);
    if (!place) fail_msg("%s", err.text);
    /* Clients on threads of their own, where two must be in the middle of it at once. */
    struct lb_lock threaded = *lock.lock;
    threaded.caps |= scene->script == many_find_it_stale ? LB_CAP_BLOCKS_THREAD : 0;
    lock.lock = &threaded;
    struct trial trial = {.lock = &lock, .place = place};
    trial_run(&trial, scene->script);
    place_close(place);
    if (trial.failure[0]) fail_msg("%s", trial.failure);
}

FIXTURE(tear_down) {
    arena_done(&arena);
    return 0;
}

#define SCENES (sizeof scenes / sizeof *scenes)

int main(void) {
    struct CMUnitTest tests[SCENES];
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < SCENES; i++)
        tests[i] =
            (struct CMUnitTest){scenes[i].name, run, NULL, NULL, (void *)(uintptr_t)&scenes[i]};
    return _cmocka_run_group_tests("foreign file locks", tests, SCENES, NULL, tear_down);
}
