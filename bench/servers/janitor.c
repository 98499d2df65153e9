/* janitor: see janitor.h. It does not wait for ever: it gives up on processes that SIGKILL does not
 * stop. */
#include "bench/servers/janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/servers/folder.h"
#include "bench/servers/helper.h"
#include "bench/servers/proc.h"
#include "bench/servers/shm.h"

#define PATIENCE_NS (30 * LB_S_NS) /* for killed processes to end, on a machine that stands still */
#define JANITOR_ITEMS_MAX 256      /* groups and folders together; a run has a few */

/* Each that adds is followed by the one that drops the same. */
enum janitor_verb { ADD_GROUP, DROP_GROUP, ADD_FOLDER, DROP_FOLDER, ADD_WORDS, DROP_WORDS };

struct janitor_message {
    enum janitor_verb verb;
    int stop_signal;
    pid_t group;
    char path[512]; /* or words */
};

static int janitor_fd = -1;
static pid_t janitor_process;
static bool keep_over_fork;

/* --- in the janitor --- */

static struct janitor_message items[JANITOR_ITEMS_MAX];
static int item_count;

static void record_message(const struct janitor_message *message) {
    enum janitor_verb added = message->verb & ~1u;
    for (int i = 0; i < item_count; i++) {
        if (items[i].verb != added) continue;
        if (added == ADD_GROUP ? items[i].group != message->group
                               : strcmp(items[i].path, message->path) != 0)
            continue;
        items[i] = items[--item_count];
        break;
    }
    if (message->verb == added && item_count < JANITOR_ITEMS_MAX) items[item_count++] = *message;
}

static bool any_runs(void) {
    for (int i = 0; i < item_count; i++) {
        if (items[i].verb == ADD_GROUP && proc_group_runs(items[i].group)) return true;
    }
    return false;
}

static void signal_groups(int signal) {
    for (int i = 0; i < item_count; i++) {
        if (items[i].verb != ADD_GROUP) continue;
        int send_signal = signal ? signal : items[i].stop_signal;
        /* In its first moment the process does not lead its group yet. */
        if (kill(-items[i].group, send_signal) != 0) kill(items[i].group, send_signal);
        kill(-items[i].group, SIGCONT); /* a stopped process reacts to no signal but SIGKILL */
    }
}

/* Says what was to be said, and lets go of standard error: somebody may wait for its end. */
static void say_words(int fd) {
    for (int i = 0; i < item_count && fd >= 0; i++) {
        if (items[i].verb == ADD_WORDS) dprintf(fd, "%s\n", items[i].path);
    }
    if (fd >= 0) close(fd);
}

static void clean_up(void) {
    /* First the stop signal: only then PostgreSQL frees its System V shared memory. */
    signal_groups(0);
    for (int64_t until_ns = lb_now() + 3 * LB_S_NS; any_runs() && lb_now() < until_ns;)
        lb_nap(5 * LB_MS_NS);
    signal_groups(SIGKILL);
    for (int64_t until_ns = lb_now() + PATIENCE_NS; any_runs() && lb_now() < until_ns;)
        lb_nap(5 * LB_MS_NS);
    for (int i = 0; i < item_count; i++) {
        if (items[i].verb == ADD_GROUP) shm_remove_of(items[i].group);
        if (items[i].verb != ADD_FOLDER) continue;
        int64_t until_ns = lb_now() + PATIENCE_NS;
        while (folder_remove(items[i].path) != 0 && lb_now() < until_ns) lb_nap(10 * LB_MS_NS);
    }
}

static void janitor_main(int fd, pid_t program) {
    setsid();
    int voice = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int keep[] = {fd, voice < 0 ? fd : voice};
    helper_begin("lockbench-janitor", keep, 2);
    struct janitor_message message;
    /* A server that was stopped before it executed its program still has the socket; then only its
     * new parent shows that this program has ended. */
    struct timeval look = {.tv_usec = 200000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof look);
    for (;;) {
        ssize_t len = recv(fd, &message, sizeof message, 0);
        if (len < 0 && errno == EINTR) continue;
        if (len < 0 && errno == EAGAIN && getppid() == program) continue;
        if (len != sizeof message) break;
        record_message(&message);
    }
    say_words(voice);
    clean_up();
    _exit(0);
}

/* --- in the program --- */

static void forked_child(void) {
    if (keep_over_fork) return;
    if (janitor_fd >= 0) close(janitor_fd);
    janitor_fd = -1;
    janitor_process = 0;
}

int janitor_start(struct lb_err *err) {
    static bool hooked;
    if (janitor_fd >= 0) return 0;
    if (!hooked && pthread_atfork(NULL, NULL, forked_child) == 0) hooked = true;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return err_set(err, LB_EXIT_MACHINE, "janitor process: %s", strerror(errno));
    pid_t program = getpid(), pid = fork();
    if (pid < 0) {
        err_set(err, LB_EXIT_MACHINE, "janitor process: %s", strerror(errno));
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    if (pid == 0) {
        close(pair[0]);
        janitor_main(pair[1], program);
    }
    close(pair[1]);
    janitor_fd = pair[0];
    janitor_process = pid;
    return 0;
}

void janitor_fork_begin(void) {
    keep_over_fork = true;
}

void janitor_fork_end(void) {
    keep_over_fork = false;
}

static void send_message(enum janitor_verb verb, pid_t group, int stop_signal, const char *path) {
    struct janitor_message message = {.verb = verb, .group = group, .stop_signal = stop_signal};
    for (size_t i = 0; path && path[i] && i < sizeof message.path - 1; i++)
        message.path[i] = path[i];
    while (janitor_fd >= 0 && send(janitor_fd, &message, sizeof message, MSG_NOSIGNAL) < 0 &&
           errno == EINTR) {
    }
}

void janitor_add_group(pid_t group, int stop_signal) {
    send_message(ADD_GROUP, group, stop_signal, NULL);
}

void janitor_drop_group(pid_t group) {
    send_message(DROP_GROUP, group, 0, NULL);
}

void janitor_add_folder(const char *path) {
    send_message(ADD_FOLDER, 0, 0, path);
}

void janitor_drop_folder(const char *path) {
    send_message(DROP_FOLDER, 0, 0, path);
}

void janitor_add_words(const char *line) {
    send_message(ADD_WORDS, 0, 0, line);
}

void janitor_drop_words(const char *line) {
    send_message(DROP_WORDS, 0, 0, line);
}

void janitor_finish(void) {
    if (janitor_fd < 0) return;
    int saved = errno;
    close(janitor_fd);
    janitor_fd = -1;
    while (waitpid(janitor_process, NULL, 0) < 0 && errno == EINTR) {
    }
    janitor_process = 0;
    errno = saved;
}

pid_t janitor_pid(void) {
    return janitor_process;
}
