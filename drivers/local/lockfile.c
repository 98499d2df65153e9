/* lockfile: a lock is held while its file exists: <dir>/<key>.lockfile, whose text names its owner,
 * "PID HOST START".
 *
 * Each session writes that text once into a file of its own (O_EXCL) and takes a lock by giving
 * this file the lock's name as well: link(2) fails if the name exists, as O_EXCL does, but the file
 * appears whole. If O_EXCL made the lock's file, it would be empty at first, and a client that
 * finds an empty file can't tell a slow owner from a dead one. The inode is the proof of ownership
 * for the release.
 *
 * A file whose owner is dead (its pid is gone on this host, or was given to a process that started
 * at another time) is stale, and the client that finds it removes it. If two clients find it, the
 * slower one could remove the file of the next owner. So a client that removes a file holds
 * flock(2) on <dir>/.lockbench-guard and looks again. Meanwhile no other client removes files, and
 * the dead owner can't either, so the file is still the stale one. Owners on other hosts are never
 * taken for dead. A waiter polls, because nothing reports that a file is gone. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/backoff.h"
#include "drivers/local/file.h"
#include "drivers/wait.h"

#define HELD 16 /* keys that a session may hold at once */
#define SUFFIX ".lockfile"
#define LOOK_NS (50 * LB_MS_NS) /* how often a waiter looks whether the owner lives */

struct lockfile_options {
    struct backoff_options poll;
};

struct lockfile_session {
    char own[FILE_PATH], guard[FILE_PATH], host[64];
    ino_t inode; /* the inode of `own` */
    char held[HELD][FILE_PATH];
};

struct lockfile_grant {
    uint32_t held; /* its place in held + 1; 0 = nothing */
};

/* Finds when a process started, in clock ticks since the boot. 0 = the process has ended, or is a
 * zombie. Returns false if that is not known: there are no descriptors left, or /proc hides the
 * processes of others. */
static bool find_start(long pid, unsigned long long *ret_start) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0) return false;
    text[got] = '\0';
    /* The second field is the program's name in parentheses, and may contain parentheses and
     * blanks. */
    const char *at = strrchr(text, ')');
    unsigned long long start = 0;
    char state = 'Z';
    if (!at ||
        sscanf(at + 1,
               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &state, &start) != 2)
        return false;
    *ret_start = state == 'Z' || state == 'X' ? 0 : start;
    return true;
}

static bool is_gone(long pid) {
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* True if the lock's file exists and its owner is certainly dead; an owner that cannot be examined
 * counts as alive. A file without a start time (dotlockfile -p writes the pid alone) is judged by
 * the pid. */
static bool is_stale(const struct lockfile_session *mine, const char *path) {
    char text[160], host[64] = "";
    unsigned long long start = 0, found = 0;
    long pid = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    int fields = sscanf(text, "%ld %63s %llu", &pid, host, &start);
    if (fields < 1 || pid <= 0 || (fields >= 2 && strcmp(host, mine->host) != 0)) return false;
    if (is_gone(pid)) return true;
    return fields >= 3 && find_start(pid, &found) && found != start;
}

/* Removes a stale file, unless another client is removing one at this moment. */
static void remove_stale(const struct lockfile_session *mine, const char *path) {
    if (!is_stale(mine, path)) return;
    int guard = open(mine->guard, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (guard < 0) return;
    if (flock(guard, LOCK_EX | LOCK_NB) == 0 && is_stale(mine, path)) unlink(path);
    close(guard);
}

/* Frees this client's lock. LB_LOST if another client has removed the file. */
static enum lb_outcome free_file(struct lb_session *session, const char *path) {
    const struct lockfile_session *mine = session->lock_state;
    struct stat now;
    if (lstat(path, &now) != 0)
        return errno == ENOENT ? LB_LOST
                               : lb_fail(session, LB_BROKEN, "%s: %s", path, strerror(errno));
    if (now.st_ino != mine->inode) return LB_LOST;
    return unlink(path) == 0 ? LB_OK : lb_fail(session, LB_BROKEN, "%s: %s", path, strerror(errno));
}

static void end(struct lb_session *session) {
    struct lockfile_session *mine = session->lock_state;
    for (int i = 0; i < HELD; i++) {
        if (mine->held[i][0]) free_file(session, mine->held[i]);
    }
    if (mine->own[0]) unlink(mine->own);
}

static int lockfile_prepare(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    (void)deadline_ns;
    static _Atomic unsigned made;
    const struct file_server *server = session->server->state;
    struct file_session *state = session->state;
    struct lockfile_session *mine = session->lock_state;
    if (gethostname(mine->host, sizeof mine->host - 1) != 0 || strpbrk(mine->host, " \n") ||
        !mine->host[0])
        return err_set(err, LB_EXIT_MACHINE, "file: this host has no name");
    char text[160], own[FILE_PATH];
    unsigned long long start;
    if (!find_start(getpid(), &start))
        return err_set(err, LB_EXIT_MACHINE, "file: /proc does not tell when this process started");
    int len = snprintf(text, sizeof text, "%ld %s %llu\n", (long)getpid(), mine->host, start);
    snprintf(mine->guard, sizeof mine->guard, "%s/" FILE_OURS "guard", server->dir);
    snprintf(own, sizeof own, "%s/" FILE_OURS "%ld-%u-%s.owner", server->dir, (long)getpid(),
             made++, mine->host);
    unlink(own); /* the file of a process that had the same pid and died */
    int fd = open(own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return err_set(err, LB_EXIT_MACHINE, "%s: %s", own, strerror(errno));
    struct stat now = {0};
    bool written = write(fd, text, (size_t)len) == len && fstat(fd, &now) == 0;
    int failed = errno;
    close(fd);
    snprintf(mine->own, sizeof mine->own, "%s", own);
    mine->inode = now.st_ino;
    state->end = end;
    return written ? 0 : err_set(err, LB_EXIT_MACHINE, "%s: %s", own, strerror(failed));
}

/* Removes the sessions' own files whose processes have died. Nothing else would remove them. */
static int lockfile_setup(struct lb_session *session, struct lb_err *err) {
    const struct file_server *server = session->server->state;
    const struct lockfile_session *mine = session->lock_state;
    char path[2 * FILE_PATH], host[256];
    DIR *dir = opendir(server->dir);
    if (!dir) return err_set(err, LB_EXIT_MACHINE, "%s: %s", server->dir, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir));) {
        long pid;
        char *end_of_host;
        if (sscanf(entry->d_name, FILE_OURS "%ld-%*u-%255s", &pid, host) != 2 ||
            !(end_of_host = strstr(host, ".owner")))
            continue;
        *end_of_host = '\0';
        if (strcmp(host, mine->host) != 0 || !is_gone(pid)) continue;
        snprintf(path, sizeof path, "%s/%s", server->dir, entry->d_name);
        unlink(path);
    }
    closedir(dir);
    return 0;
}

static enum lb_outcome lockfile_acquire(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    const struct lockfile_options *options = session->options;
    struct lockfile_session *mine = session->lock_state;
    struct lockfile_grant *held = grant->data;
    struct backoff backoff;
    char path[FILE_PATH];
    uint32_t place = 0;
    bool once = request->deadline_ns <= lb_now();
    if (file_path(session, request->key, request->key_len, SUFFIX, path) != 0)
        return lb_fail(session, LB_REFUSED, "file: key too long for a file name");
    while (place < HELD && mine->held[place][0]) place++;
    if (place == HELD)
        return lb_fail(session, LB_REFUSED, "file: more than %d keys held at once", HELD);
    backoff_start(&backoff, &options->poll);
    int64_t look_ns = lb_now(); /* at once, so that a try also finds the lock of a dead owner */
    for (;;) {
        if (link(mine->own, path) == 0) break;
        if (errno != EEXIST) return lb_fail(session, LB_BROKEN, "%s: %s", path, strerror(errno));
        if (lb_now() >= look_ns) {
            remove_stale(mine, path);
            look_ns = lb_now() + LOOK_NS;
            if (link(mine->own, path) == 0) break;
        }
        if (once) return LB_BUSY;
        if (!backoff_sleep(&backoff, session, request->deadline_ns)) return LB_TIMEOUT;
    }
    snprintf(mine->held[place], sizeof mine->held[place], "%s", path);
    held->held = place + 1;
    grant->token = 0;
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static enum lb_outcome lockfile_release(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    (void)request;
    struct lockfile_session *mine = session->lock_state;
    struct lockfile_grant *held = grant->data;
    if (held->held == 0) return LB_LOST;
    char *path = mine->held[held->held - 1];
    held->held = 0;
    if (!path[0]) return LB_LOST; /* the file was removed together with an earlier session */
    enum lb_outcome outcome = free_file(session, path);
    path[0] = '\0';
    return outcome;
}

static int lockfile_residue(struct lb_session *session, const char *prefix,
                            struct lb_residue *ret_residue, struct lb_err *err) {
    return file_count(session, prefix, SUFFIX, ret_residue, err);
}

static const struct lb_option lockfile_options[] = {
    BACKOFF_OPTIONS(struct lockfile_options, poll, "1ms", "50ms"),
    {0},
};

static void lockfile_names(const struct lb_session *session, const struct lb_request *request,
                           struct lb_names *names) {
    (void)session;
    file_names(request, SUFFIX, names);
}

static const struct lb_algorithm algorithm = {
    .options = lockfile_options,
    .causes = backoff_causes,
    .options_bytes = sizeof(struct lockfile_options),
    .session_bytes = sizeof(struct lockfile_session),
    .grant_bytes = sizeof(struct lockfile_grant),
    .setup = lockfile_setup,
    .prepare = lockfile_prepare,
    .acquire = lockfile_acquire,
    .release = lockfile_release,
    .residue = lockfile_residue,
    .names = lockfile_names,
};

const struct lb_lock lock_file_lockfile = {
    .name = "file-lockfile",
    .summary = "a file that exists or not, with its owner's pid and stale detection",
    .backend = &backend_file,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .keeps =
        "the file .lockbench-guard, and of a session that died its own file until the next begins",
    .about =
        {.compatible =
             "dotlockfile -p, and every program that makes the file with O_EXCL or link(2); only "
             "our own removes a stale one safely",
         .order = "none",
         .hazards =
             "a dead owner on another host is never detected; in a container pids differ; O_EXCL "
             "and link need a file system that implements them correctly",
         .guarantee = LB_ON_ONE_HOST,
         .crash = LB_CRASH_AT_ONCE,
         .crash_slack_ns = 200 * LB_MS_NS},
    .algorithm = &algorithm,
};
