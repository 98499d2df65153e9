/* file: locks by files of this machine, or of a network file system: --url file=file:///mnt/dir. The
 * kernel keeps them on an open file description, on <dir>/<key>.lock: file-flock
 * by flock(2), as flock(1) takes it, and file-ofd by fcntl(2)'s F_OFD_SETLKW, the form of POSIX
 * record locks that belongs to the description and not to the process (where any close of the file
 * drops the lock, and threads do not exclude each other). Each session opens the files itself. The
 * kernel frees the lock of a dead holder. The waits block the thread. The two kinds of locks do not
 * exclude each other on a local file system; on NFS both become byte-range locks and do. */
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "drivers/clean.h"
#include "drivers/key_names.h"
#include "drivers/url.h"
#include "drivers/wait.h"

/* the files that a session keeps open; a key beyond them takes the place of an older key that is
 * not held */
#define FILE_OPEN 16
#define FILE_NAME 256
#define FILE_PATH (sizeof(((struct file_server *)0)->dir) + FILE_NAME)
#define SUFFIX ".lock"

struct file_server {
    char dir[256];
};

struct file_session {
    struct {
        uint32_t key_index;
        int fd; /* -1 = none */
        bool held;
    } file[FILE_OPEN];
    bool ready, has_timer;
    timer_t timer; /* its signal ends a blocking wait */
};

static int file_open(struct lb_server *server, struct lb_err *err) {
    struct file_server *state = server->state;
    if (server->url_count == 0) {
        snprintf(state->dir, sizeof state->dir, "%s", server->dir);
        return 0;
    }
    const char *path = server->urls[0] + strlen("file://");
    if (strncmp(server->urls[0], "file:///", 8) != 0 || strlen(path) >= sizeof state->dir) {
        char shown[512];
        return err_set(err, LB_EXIT_USAGE, "URL '%s' is not of the form file:///absolute/folder",
                       url_public(server->urls[0], shown, sizeof shown));
    }
    if (access(path, W_OK | X_OK) != 0) {
        return err_set(err, LB_EXIT_MACHINE, "folder '%s': %s", path, strerror(errno));
    }
    snprintf(state->dir, sizeof state->dir, "%s", path);
    return 0;
}

static void nothing(int signal_number) {
    (void)signal_number; /* its only effect is that flock(2) ends with EINTR */
}

static int file_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    (void)deadline_ns;
    struct file_session *state = session->state;
    for (int i = 0; i < FILE_OPEN; i++) state->file[i].fd = -1;
    state->ready = true;
    struct sigaction action = {.sa_handler = nothing}; /* no SA_RESTART */
    sigaction(SIGRTMIN, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &state->timer) != 0) {
        return err_set(err, LB_EXIT_MACHINE, "timer_create: %s", strerror(errno));
    }
    state->has_timer = true;
    return 0;
}

static void file_disconnect(struct lb_session *session) {
    struct file_session *state = session->state;
    if (!state->ready) return;
    for (int i = 0; i < FILE_OPEN; i++) {
        if (state->file[i].fd >= 0) close(state->file[i].fd);
        state->file[i].fd = -1;
        state->file[i].held = false;
    }
    if (state->has_timer) timer_delete(state->timer);
    state->has_timer = false;
}

static int file_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    (void)session;
    (void)err;
    struct utsname system;
    lb_fact(facts, "version", "%s", uname(&system) == 0 ? system.release : "unknown");
    return 0;
}

/* Writes the name of the key's file. In the key, "/" is written %2F and "%" is written %25: so a
 * simple name stays as it is, and no two keys have the same file. 0, or -ENAMETOOLONG (a name has
 * at most 255 bytes). */
static int name_file(const char *key, size_t key_len, char name[FILE_NAME]) {
    size_t used = 0;
    for (size_t i = 0; i < key_len; i++) {
        bool odd = key[i] == '/' || key[i] == '%';
        if (used + (odd ? 3 : 1) + strlen(SUFFIX) >= FILE_NAME) return -ENAMETOOLONG;
        if (odd)
            used += (size_t)sprintf(name + used, "%%%02X", (unsigned char)key[i]);
        else
            name[used++] = key[i];
    }
    strcpy(name + used, SUFFIX);
    return 0;
}

static void file_names(const struct lb_session *session, const struct lb_request *request,
                       struct lb_names *names) {
    char name[FILE_NAME];
    (void)session;
    if (name_file(request->key, request->key_len, name) == 0)
        lb_names_add(names, "file, in the URL's folder", "%s", name);
}

static const char *const file_schemes[] = {"file", NULL};

static int file_descriptors(const struct lb_session *session, uint32_t keys) {
    (void)session;
    return keys < FILE_OPEN ? (int)keys : FILE_OPEN;
}

/* True if a file of the folder is to be removed. key: the file of the named key. */
static bool is_file_wanted(const struct lb_cleaning *cleaning, const char *name, const char *key) {
    size_t len = strlen(name), end = strlen(SUFFIX);
    if (cleaning->scope == LB_CLEAN_EMPTY || cleaning->scope == LB_CLEAN_SHARED) return false;
    if (cleaning->scope == LB_CLEAN_KEY) return strcmp(name, key) == 0;
    return len > end && strcmp(name + len - end, SUFFIX) == 0 &&
           lb_clean_wants(cleaning, name, len);
}

/* Removes the files that lockbench left in the URL's folder; see drivers/clean.h. This includes files
 * of locks that are held, so no program may be using the folder's locks. */
static int file_clean(struct lb_session *session, struct lb_cleaning *cleaning,
                      struct lb_err *err) {
    const struct file_server *server = session->server->state;
    char key[FILE_NAME] = "", path[FILE_PATH];
    bool named = cleaning->scope == LB_CLEAN_KEY;
    if (named && name_file(cleaning->name, strlen(cleaning->name), key) != 0) return 0;
    DIR *dir = opendir(server->dir);
    if (!dir) return err_set(err, LB_EXIT_MACHINE, "%s: %s", server->dir, strerror(errno));
    int failed = 0;
    for (struct dirent *entry; !failed && (entry = readdir(dir));) {
        if (!is_file_wanted(cleaning, entry->d_name, key)) continue;
        snprintf(path, sizeof path, "%s/%s", server->dir, entry->d_name);
        if (cleaning->scope != LB_CLEAN_STAGE && !lb_clean_found(cleaning, "file", "%s", path))
            continue;
        if (unlink(path) != 0 && errno != ENOENT)
            failed = err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
    }
    closedir(dir);
    return failed;
}

static const struct lb_connector connector = {
    .server_bytes = sizeof(struct file_server),
    .session_bytes = sizeof(struct file_session),
    .open = file_open,
    .connect = file_connect,
    .disconnect = file_disconnect,
    .describe = file_describe,
    .clean = file_clean,
    .descriptors = file_descriptors,
};

const struct lb_backend backend_file = {
    .name = "file",
    .summary = "files of this machine, no server",
    .durability_class = "none",
    .schemes = file_schemes,
    .connector = &connector,
};

enum kernel_call { CALL_TRY, CALL_WAIT, CALL_FREE };

/* A lock's recipe: the call that it is made of. Returns 0 or an errno; EWOULDBLOCK = another client
 * holds the lock. */
typedef int kernel_fn(int fd, enum kernel_call call);

static int by_flock(int fd, enum kernel_call call) {
    int how = call == CALL_FREE ? LOCK_UN : call == CALL_TRY ? LOCK_EX | LOCK_NB : LOCK_EX;
    return flock(fd, how) == 0 ? 0 : errno;
}

static int by_ofd(int fd, enum kernel_call call) {
    struct flock all = {.l_type = call == CALL_FREE ? F_UNLCK : F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, call == CALL_WAIT ? F_OFD_SETLKW : F_OFD_SETLK, &all) == 0) return 0;
    return errno == EACCES ? EWOULDBLOCK : errno;
}

static kernel_fn *kernel_of(const struct lb_session *session) {
    kernel_fn *const *recipe = session->lock->recipe;
    return *recipe;
}

/* Finds or opens the key's file. 0 with its place; -EBUSY if another key has the place and is held,
 * so that its file can't be closed; another -errno on failure. */
static int find_file(struct lb_session *session, const struct lb_request *request, int *ret_place) {
    struct file_session *state = session->state;
    int place = (int)(request->key_index % FILE_OPEN);
    *ret_place = place;
    if (state->file[place].fd >= 0 && state->file[place].key_index == request->key_index) return 0;
    if (state->file[place].held) return -EBUSY;
    if (state->file[place].fd >= 0) close(state->file[place].fd);
    state->file[place].fd = -1;
    const struct file_server *server = session->server->state;
    char name[FILE_NAME], path[FILE_PATH];
    if (name_file(request->key, request->key_len, name) != 0) return -ENAMETOOLONG;
    snprintf(path, sizeof path, "%s/%s", server->dir, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return -errno;
    state->file[place].fd = fd;
    state->file[place].key_index = request->key_index;
    return 0;
}

/* Waits until the deadline or until the run is cut off. The timer sends its signal again and again,
 * so that a signal which arrives between the check and the call does no harm. */
static int wait_until(struct file_session *state, kernel_fn *kernel, int fd, int64_t deadline_ns) {
    int64_t look_ns = lb_now() + 100 * LB_MS_NS;
    if (look_ns > deadline_ns) look_ns = deadline_ns;
    struct itimerspec when = {
        .it_value = {.tv_sec = look_ns / LB_S_NS, .tv_nsec = look_ns % LB_S_NS},
        .it_interval = {.tv_nsec = 20 * LB_MS_NS},
    };
    timer_settime(state->timer, TIMER_ABSTIME, &when, NULL);
    int failed;
    do {
        failed = kernel(fd, CALL_WAIT);
        if (failed == EINTR && (lb_now() >= deadline_ns || lb_stopping())) failed = ETIMEDOUT;
    } while (failed == EINTR);
    timer_settime(state->timer, 0, &(struct itimerspec){0}, NULL);
    return failed;
}

static enum lb_outcome kernel_acquire(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct file_session *state = session->state;
    kernel_fn *kernel = kernel_of(session);
    bool once = request->deadline_ns <= lb_now();
    int place;
    int failed = -find_file(session, request, &place);
    if (failed == EBUSY)
        return lb_fail(session, LB_REFUSED,
                       "file: more keys held at once than one session keeps open");
    if (failed == ENAMETOOLONG)
        return lb_fail(session, LB_REFUSED, "file: key too long for a file name");
    if (failed) return lb_fail(session, LB_BROKEN, "file: %s", strerror(failed));
    /* The kernel would grant the lock to its holder again, and one release would free both. */
    if (state->file[place].held) return LB_BUSY;
    int fd = state->file[place].fd;
    failed = kernel(fd, CALL_TRY);
    if (failed == EWOULDBLOCK) {
        if (once) return LB_BUSY;
        failed = wait_until(state, kernel, fd, request->deadline_ns);
    }
    if (failed == ETIMEDOUT) return LB_TIMEOUT;
    if (failed) return lb_fail(session, LB_BROKEN, "file: %s", strerror(failed));
    state->file[place].held = true;
    return lb_granted(grant, 0, LB_NEVER);
}

static enum lb_outcome kernel_release(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct file_session *state = session->state;
    int place;
    (void)grant;
    /* The kernel reports no error when a lock that is not held is released. */
    if (find_file(session, request, &place) != 0 || !state->file[place].held) return LB_LOST;
    state->file[place].held = false;
    int failed = kernel_of(session)(state->file[place].fd, CALL_FREE);
    return failed ? lb_fail(session, LB_BROKEN, "file: %s", strerror(failed)) : LB_OK;
}

/* The signal of wait_until takes the waiter out of the kernel's queue; the waiter then queues again
 * behind the others. */
#define KERNEL_ORDER                                                                                  \
    "none promised; the kernel wakes waiters in order, but a client that waits for more than 100 ms " \
    "queues again every 20 ms"

static const struct lb_algorithm algorithm = {
    .acquire = kernel_acquire,
    .release = kernel_release,
    .names = file_names,
};

#define KERNEL_FACTS                                                                               \
    .backend = &backend_file, .primitive = LB_MUTEX,                                               \
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD | LB_CAP_SESSION,                      \
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE, .waits = "kernel", \
    .keeps = "an empty file for each key: without it, two clients could lock two files of the "    \
             "same name",                                                                          \
    .algorithm = &algorithm

const struct lb_lock lock_file_flock = {
    .name = "file-flock",
    .summary = "flock(2) on one file for each key, as flock(1) does",
    KERNEL_FACTS,
    .about =
        {.compatible = "flock(1), and every program that calls flock(2) on the same file",
         .order = KERNEL_ORDER,
         .hazards =
             "a child that inherits the open file keeps the lock; some network file systems do not "
             "pass it on",
         LB_TERMS(0, 0, LB_ON_ONE_HOST, LB_CRASH_AT_ONCE)},
    .recipe = &(kernel_fn *const){by_flock},
};

const struct lb_lock lock_file_ofd = {
    .name = "file-ofd",
    .summary = "fcntl(2) F_OFD_SETLKW on one file for each key: a record lock of the open file",
    KERNEL_FACTS,
    .about =
        {.compatible =
             "POSIX record locks (fcntl F_SETLK, lockf) of other processes on the same file",
         .order = KERNEL_ORDER,
         .hazards =
             "a child that inherits the open file keeps the lock; Linux only; deadlocks are not "
             "detected",
         LB_TERMS(0, 0, LB_ON_ONE_HOST, LB_CRASH_AT_ONCE)},
    .recipe = &(kernel_fn *const){by_ofd},
};
