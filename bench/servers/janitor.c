/* janitor: see janitor.h. It does not wait for ever: it gives up on processes that SIGKILL does not
 * stop. */
#define _GNU_SOURCE
#include "bench/servers/janitor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/process.h"
#include "bench/servers/folder.h"
#include "bench/servers/proc.h"
#include "bench/servers/shm.h"

#define PATIENCE_NS                                                                                \
    (30 * LB_S_NS) /* limit of each wait; a busy machine may stand still for a while */

/* Each verb that adds is followed by the verb that drops the same kind of item. */
enum janitor_verb { ADD_GROUP, DROP_GROUP, ADD_FOLDER, DROP_FOLDER, ADD_WORDS, DROP_WORDS, FINISH };

struct janitor_message {
    enum janitor_verb verb;
    pid_t group;
    char path[512]; /* the folder's path, or the line to print */
};

#define JANITOR_MARK "LOCKBENCH_JANITOR=%d"

static int janitor_fd = -1;
static pid_t janitor_process;
static bool keep_over_fork;

/* --- in the janitor --- */

/* The registered groups, folders and lines. */
static struct janitor_item {
    struct janitor_message added;
    uint64_t start_ticks; /* when the group's leader started; 0 = the leader had already ended */
} * items;
static int item_count, item_room;

static bool same_thing(const struct janitor_message *a, const struct janitor_message *b) {
    return a->verb == b->verb &&
           (a->verb == ADD_GROUP ? a->group == b->group : strcmp(a->path, b->path) == 0);
}

static void add_item(const struct janitor_message *message) {
    if (item_count == item_room) {
        int room = item_room ? 2 * item_room : 64;
        struct janitor_item *more = realloc(items, (size_t)room * sizeof *items);
        if (!more) return;
        items = more;
        item_room = room;
    }
    items[item_count++] = (struct janitor_item){
        .added = *message,
        .start_ticks = message->verb == ADD_GROUP ? proc_start_ticks(message->group) : 0};
}

static void record_message(const struct janitor_message *message) {
    struct janitor_message added = *message;
    added.verb &= ~1u;
    int i = 0;
    while (i < item_count && !same_thing(&items[i].added, &added)) i++;
    /* A group is registered twice, by its leader and by the leader's parent. The first message counts, because
     * the leader may have ended before the second one arrives. */
    if (message->verb == added.verb && i == item_count) add_item(message);
    if (message->verb != added.verb && i < item_count) items[i] = items[--item_count];
}

/* Whether the group still runs. A later process that got the leader's pid leads another group. */
static bool group_runs(const struct janitor_item *item) {
    if (item->added.verb != ADD_GROUP) return false;
    pid_t group = item->added.group;
    uint64_t start_ticks = proc_start_ticks(group);
    if (start_ticks && start_ticks != item->start_ticks) return false;
    /* A leader that was just forked is not in its group yet. */
    return (start_ticks && proc_runs(group)) || proc_group_runs(group);
}

static bool any_runs(void) {
    bool any = false;
    for (int i = 0; i < item_count && !any; i++) any = group_runs(&items[i]);
    return any;
}

/* Prints the registered lines, and closes standard error, because a reader may wait for its end. */
static void say_words(int fd) {
    for (int i = 0; i < item_count && fd >= 0; i++) {
        if (items[i].added.verb == ADD_WORDS) dprintf(fd, "%s\n", items[i].added.path);
    }
    if (fd >= 0) close(fd);
}

/* Whether the process was started with janitor_mark in its environment. */
static bool has_mark(const char *pid) {
    char path[64], *variable = NULL;
    size_t room = 0;
    bool has = false;
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    FILE *file = fopen(path, "re");
    while (file && !has && getdelim(&variable, &room, '\0', file) > 0)
        has = strcmp(variable, janitor_mark) == 0;
    free(variable);
    if (file) fclose(file);
    return has;
}

/* Kills what the program's client programs have started and what left their groups, as setsid does. */
static void end_marked(void) {
    snprintf(janitor_mark, sizeof janitor_mark, JANITOR_MARK, (int)getpid());
    bool any = true;
    for (int64_t until_ns = lb_now() + PATIENCE_NS; any && lb_now() < until_ns;) {
        DIR *dir = opendir("/proc");
        any = false;
        for (struct dirent *entry; dir && (entry = readdir(dir));) {
            pid_t pid = atoi(entry->d_name);
            if (pid > 0 && has_mark(entry->d_name) && proc_runs(pid))
                any |= kill(pid, SIGKILL) == 0;
        }
        if (dir) closedir(dir);
        if (any) lb_nap(LB_MS_NS);
    }
}

static void clean_up(void) {
    struct shm_list shm = {0};
    end_marked();
    for (int i = 0; i < item_count; i++) {
        if (group_runs(&items[i])) end_group(items[i].added.group, &shm);
    }
    for (int64_t until_ns = lb_now() + PATIENCE_NS; any_runs() && lb_now() < until_ns;)
        lb_nap(5 * LB_MS_NS);
    shm_remove(&shm);
    for (int i = 0; i < item_count; i++) {
        if (items[i].added.verb != ADD_FOLDER) continue;
        int64_t until_ns = lb_now() + PATIENCE_NS;
        while (folder_remove(items[i].added.path) != 0 && lb_now() < until_ns)
            lb_nap(10 * LB_MS_NS);
    }
}

static void janitor_main(int fd, pid_t program) {
    setsid();
    int voice = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int keep[] = {fd, voice < 0 ? fd : voice};
    helper_begin("lockbench-janitor", keep, 2);
    struct janitor_message message;
    /* A child that was stopped between fork and exec keeps the socket open after the program's death. So the
     * janitor also looks regularly whether its own parent has changed. */
    struct timeval look = {.tv_usec = 200000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof look);
    bool asked = false;
    while (!asked) {
        ssize_t len = recv(fd, &message, sizeof message, 0);
        if (len < 0 && errno == EINTR) continue;
        if (len < 0 && errno == EAGAIN && getppid() == program) continue;
        if (len != sizeof message) break;
        asked = message.verb == FINISH;
        if (!asked) record_message(&message);
    }
    /* When a program dies, its socket closes before its children get a new parent. When they get one, Linux
     * ends the stopped processes of their groups (SIGHUP). So the cleaning begins only after that: otherwise
     * processes that were stopped to list their shared memory would end before it is listed. */
    for (int64_t until_ns = lb_now() + PATIENCE_NS;
         !asked && getppid() == program && lb_now() < until_ns;)
        lb_nap(LB_MS_NS);
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
        err_set(err, LB_EXIT_MACHINE, "janitor process: %s%s", strerror(errno),
                too_many_remedy(errno));
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    if (pid == 0) {
        close(pair[0]);
        janitor_main(pair[1], program);
    }
    snprintf(janitor_mark, sizeof janitor_mark, JANITOR_MARK, (int)pid);
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

static void send_message(enum janitor_verb verb, pid_t group, const char *path) {
    struct janitor_message message = {.verb = verb, .group = group};
    for (size_t i = 0; path && path[i] && i < sizeof message.path - 1; i++)
        message.path[i] = path[i];
    while (janitor_fd >= 0 && send(janitor_fd, &message, sizeof message, MSG_NOSIGNAL) < 0 &&
           errno == EINTR) {
    }
}

void janitor_group(enum janitor_act act, pid_t group) {
    send_message(ADD_GROUP + act, group, NULL);
}

void janitor_folder(enum janitor_act act, const char *path) {
    send_message(ADD_FOLDER + act, 0, path);
}

void janitor_words(enum janitor_act act, const char *line) {
    send_message(ADD_WORDS + act, 0, line);
}

void janitor_finish(void) {
    if (janitor_fd < 0) return;
    int saved = errno;
    send_message(FINISH, 0, NULL);
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

/* --- what helper processes begin with --- */

static int by_number(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}

/* Closes all other descriptors: another process may wait for the end of a file that the program has open. */
static void close_others(int *keep, int count) {
    int from = 3;
    qsort(keep, (size_t)count, sizeof *keep, by_number);
    for (int i = 0; i < count; i++) {
        if (keep[i] > from) syscall(SYS_close_range, (unsigned)from, (unsigned)keep[i] - 1, 0U);
        from = keep[i] + 1;
    }
    syscall(SYS_close_range, (unsigned)from, ~0U, 0U);
}

void helper_begin(const char *name, int *keep, int count) {
    static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                  SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2};
    prctl(PR_SET_NAME, name);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3 && null >= 0; i++) dup2(null, i);
    close_others(keep, count);
    /* so that the present folder can be unmounted; a failure does no other harm */
    if (chdir("/") != 0) {
    }
}
