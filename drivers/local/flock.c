/* flock: locks that the kernel keeps on an open file description, on <dir>/<key>.lock: file-flock
 * by flock(2), as flock(1) takes it, and file-ofd by fcntl(2)'s F_OFD_SETLKW, the form of POSIX
 * record locks that belongs to the description and not to the process (where any close of the file
 * drops the lock, and threads do not exclude each other). Each session opens the files itself. The
 * kernel frees the lock of a dead holder. The waits block the thread. The two kinds of locks do not
 * exclude each other on a local file system; on NFS both become byte-range locks and do. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "drivers/local/file.h"
#include "drivers/wait.h"

enum kernel_call { CALL_TRY, CALL_WAIT, CALL_FREE };

/* Returns 0 or an errno; EWOULDBLOCK = another
 * client holds the lock. */
typedef int kernel_fn(int fd, enum kernel_call call);

/* A lock's recipe: the call that it is made of. */
struct kernel_recipe {
    kernel_fn *kernel;
};

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
    const struct kernel_recipe *recipe = session->lock->recipe;
    return recipe->kernel;
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
    char path[FILE_PATH];
    int failed = file_path(session, request->key, request->key_len, path);
    if (failed) return failed;
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
    grant->token = 0;
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
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

const struct lb_lock lock_file_flock = {
    .name = "file-flock",
    .summary = "flock(2) on one file for each key, as flock(1) does",
    .backend = &backend_file,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "kernel",
    .keeps = "an empty file for each key: without it, two clients could lock two files of the "
             "same name",
    .about =
        {.compatible = "flock(1), and every program that calls flock(2) on the same file",
         .order = KERNEL_ORDER,
         .hazards =
             "a child that inherits the open file keeps the lock; some network file systems do not "
             "pass it on",
         .guarantee = LB_ON_ONE_HOST,
         .crash = LB_CRASH_AT_ONCE},
    .algorithm = &algorithm,
    .recipe = &(const struct kernel_recipe){by_flock},
};

const struct lb_lock lock_file_ofd = {
    .name = "file-ofd",
    .summary = "fcntl(2) F_OFD_SETLKW on one file for each key: a record lock of the open file",
    .backend = &backend_file,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "kernel",
    .keeps = "an empty file for each key: without it, two clients could lock two files of the "
             "same name",
    .about =
        {.compatible =
             "POSIX record locks (fcntl F_SETLK, lockf) of other processes on the same file",
         .order = KERNEL_ORDER,
         .hazards =
             "a child that inherits the open file keeps the lock; Linux only; deadlocks are not "
             "detected",
         .guarantee = LB_ON_ONE_HOST,
         .crash = LB_CRASH_AT_ONCE},
    .algorithm = &algorithm,
    .recipe = &(const struct kernel_recipe){by_ofd},
};
