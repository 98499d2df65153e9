/* flock: locks by files of this machine (or of a network file system: --url file=file:///mnt/dir).
 *
 * file-flock is flock(2) on <dir>/<key>.lock, as flock(1) takes it. The lock belongs to the open file
 * description, so each session opens for itself. The kernel frees a dead holder's. Its waits block the
 * thread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "drivers/driver.h"
#include "drivers/url.h"
#include "drivers/wait.h"

#define OPEN_FILES 16 /* kept open a session; a further key takes the place of an older one that is free */

struct file_server {
    char dir[256];
};

struct file_session {
    struct {
        uint32_t key_index;
        int fd; /* -1 = none */
        bool held;
    } file[OPEN_FILES];
    bool ready, has_timer;
    timer_t timer;
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
    (void)signal_number; /* its arrival ends flock(2) with EINTR: that is all */
}

static int file_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    (void)deadline_ns;
    struct file_session *state = session->state;
    for (int i = 0; i < OPEN_FILES; i++) state->file[i].fd = -1;
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
    for (int i = 0; i < OPEN_FILES; i++) {
        if (state->file[i].fd >= 0) close(state->file[i].fd);
        state->file[i].fd = -1;
        state->file[i].held = false;
    }
    if (state->has_timer) timer_delete(state->timer);
    state->has_timer = false;
}

static int file_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    const struct file_server *server = session->server->state;
    struct statfs fs;
    if (statfs(server->dir, &fs) != 0)
        return err_set(err, LB_EXIT_MACHINE, "%s: %s", server->dir, strerror(errno));
    lb_fact(facts, "version", "flock(2)");
    lb_fact(facts, "file_system_magic", "0x%lx", (unsigned long)fs.f_type);
    return 0;
}

/* Finds or opens the key's file. 0 with its place; -EBUSY if the place is another key's, which is held and so
 * can't be closed; another -errno on failure. */
static int find(struct lb_session *session, const struct lb_request *request, int *ret_place) {
    struct file_session *state = session->state;
    int place = (int)(request->key_index % OPEN_FILES);
    *ret_place = place;
    if (state->file[place].fd >= 0 && state->file[place].key_index == request->key_index) return 0;
    if (state->file[place].held) return -EBUSY;
    if (state->file[place].fd >= 0) close(state->file[place].fd);
    state->file[place].fd = -1;
    const struct file_server *server = session->server->state;
    char path[sizeof server->dir + LB_KEY_MAX + 8];
    int used = snprintf(path, sizeof path, "%s/", server->dir);
    for (size_t i = 0; i < request->key_len; i++) {
        char c = request->key[i];
        path[used++] = c == '/' || c == '\0' ? '_' : c;
    }
    snprintf(path + used, sizeof path - (size_t)used, ".lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return -errno;
    state->file[place].fd = fd;
    state->file[place].key_index = request->key_index;
    return 0;
}

/* flock(2) that gives up at the deadline or when the run is cut off: the timer's signal ends the call again
 * and again until we have seen why, so none is lost between the look and the call. */
static int flock_until(struct file_session *state, int fd, int64_t deadline_ns) {
    int64_t look_ns = lb_now() + 100 * LB_MS_NS;
    if (look_ns > deadline_ns) look_ns = deadline_ns;
    struct itimerspec when = {
        .it_value = {.tv_sec = look_ns / LB_S_NS, .tv_nsec = look_ns % LB_S_NS},
        .it_interval = {.tv_nsec = 20 * LB_MS_NS},
    };
    timer_settime(state->timer, TIMER_ABSTIME, &when, NULL);
    int failed;
    do {
        failed = flock(fd, LOCK_EX) == 0 ? 0 : errno;
        if (failed == EINTR && (lb_now() >= deadline_ns || lb_stopping())) failed = ETIMEDOUT;
    } while (failed == EINTR);
    timer_settime(state->timer, 0, &(struct itimerspec){0}, NULL);
    return failed;
}

static enum lb_outcome flock_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    struct file_session *state = session->state;
    bool once = request->deadline_ns <= lb_now();
    int place;
    int failed = -find(session, request, &place);
    if (failed == EBUSY)
        return lb_fail(session, LB_REFUSED, "file: more keys held at once than one session keeps open");
    if (failed == ENAMETOOLONG) return lb_fail(session, LB_REFUSED, "file: key too long for a file name");
    if (failed) return lb_fail(session, LB_BROKEN, "file: %s", strerror(failed));
    /* For the kernel it is ours already: taking it again would succeed, and one release would free both. */
    if (state->file[place].held) return LB_BUSY;
    int fd = state->file[place].fd;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return lb_fail(session, LB_BROKEN, "flock: %s", strerror(errno));
        if (once) return LB_BUSY;
        failed = flock_until(state, fd, request->deadline_ns);
        if (failed == ETIMEDOUT) return LB_TIMEOUT;
        if (failed) return lb_fail(session, LB_BROKEN, "flock: %s", strerror(failed));
    }
    state->file[place].held = true;
    grant->token = 0;
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static enum lb_outcome flock_release(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    (void)grant;
    struct file_session *state = session->state;
    int place;
    /* flock(2) frees what is not held without a word. */
    if (find(session, request, &place) != 0 || !state->file[place].held) return LB_LOST;
    state->file[place].held = false;
    if (flock(state->file[place].fd, LOCK_UN) == 0) return LB_OK;
    return lb_fail(session, LB_BROKEN, "flock: %s", strerror(errno));
}

static const char *const file_schemes[] = {"file", NULL};

const struct lb_backend backend_file = {
    .name = "file",
    .summary = "files of this machine, no server",
    .schemes = file_schemes,
    .server_bytes = sizeof(struct file_server),
    .session_bytes = sizeof(struct file_session),
    .open = file_open,
    .connect = file_connect,
    .disconnect = file_disconnect,
    .describe = file_describe,
};

const struct lb_lock lock_file_flock = {
    .name = "file-flock",
    .summary = "flock(2) on one file a key, as flock(1) takes it",
    .backend = &backend_file,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "kernel",
    .acquire = flock_acquire,
    .release = flock_release,
};
