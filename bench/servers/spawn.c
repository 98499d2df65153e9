/* spawn: see spawn.h. If a script names an account, its servers and actions never run as root; only `info` does. */
#define _GNU_SOURCE
#include "bench/servers/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/process.h"
#include "bench/servers/folder.h"
#include "bench/servers/janitor.h"
#include "bench/servers/proc.h"

#define TEXT_MAX 65536
#define GONE_NS (10 * LB_S_NS) /* limit of the wait for the end of killed processes */

int account_find(const char *name, struct account *ret_account, struct lb_err *err) {
    struct account account = {0};
    if (geteuid() == 0 && *name) {
        const struct passwd *entry = getpwnam(name);
        if (!entry) entry = getpwnam("nobody");
        if (!entry)
            return err_set(
                err, LB_EXIT_MACHINE,
                "there is no account \"%s\": install the server's package, or run as another user than root",
                name);
        account.change = 1;
        account.uid = entry->pw_uid;
        account.gid = entry->pw_gid;
        account.group_count = SPAWN_GROUPS_MAX;
        if (getgrouplist(entry->pw_name, entry->pw_gid, account.groups, &account.group_count) < 0)
            account.group_count =
                SPAWN_GROUPS_MAX; /* more groups than fit: the first ones are enough */
    }
    *ret_account = account;
    return 0;
}

/* Makes the environment of a script: PATH, with the folders where Debian installs servers; the variables for a
 * JVM or a library in an unusual place, and two of the tests: they may be long, and leave room for the script's own. */
static void fill_environment(struct vars *env, const char *dir, const char *const *more) {
    static const char *const passed_on[] = {"LB_POSTGRES_LOGIN", "LB_INITDB", "JAVA_HOME",
                                            "LD_LIBRARY_PATH"};
    const char *path = getenv("PATH");
    vars_add(env, "LC_ALL=C");
    vars_add(env, "HOME=%s", dir);
    vars_add(env, "TMPDIR=%s", dir);
    for (int i = 0; more && more[i]; i++) vars_add(env, "%s", more[i]);
    vars_add(env, "PATH=%s:/usr/local/sbin:/usr/sbin:/sbin",
             path ? path : "/usr/local/bin:/usr/bin:/bin");
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        const char *value = getenv(passed_on[i]);
        if (value) vars_add(env, "%s=%s", passed_on[i], value);
    }
}

/* Reads fd to its end, or until the deadline, into text (TEXT_MAX bytes). Returns 0, or -1 with
 * err. */
static int read_text(int fd, char *text, int64_t deadline_ns, struct lb_err *err) {
    size_t used = 0;
    for (;;) {
        int64_t left_ns = deadline_ns - lb_now();
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (left_ns < 0 || poll(&ready, 1, (int)(left_ns / LB_MS_NS) + 1) == 0)
            return err_set(err, LB_EXIT_MACHINE, "gave no answer");
        ssize_t len = read(fd, text + used, TEXT_MAX - 1 - used);
        if (len < 0 && errno == EINTR) continue;
        if (len < 0) return err_set(err, LB_EXIT_MACHINE, "%s", strerror(errno));
        if (len == 0) break;
        used += (size_t)len;
        if (used == TEXT_MAX - 1) return err_set(err, LB_EXIT_MACHINE, "is too long");
    }
    text[used] = '\0';
    return 0;
}

/* What runs in the child, between fork and exec: only async-signal-safe calls. */

static void write_error(const char *what) {
    const char *why = strerror(errno);
    (void)!write(2, what, strlen(what));
    (void)!write(2, ": ", 2);
    (void)!write(2, why, strlen(why));
    (void)!write(2, "\n", 1);
}

/* Detaches the process from the terminal. Otherwise a tool that asks for a password would be stopped, because
 * its group may not read the terminal; without a terminal the tool fails. */
static void leave_terminal(void) {
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return;
    ioctl(terminal, TIOCNOTTY);
    close(terminal);
}

static cpu_set_t servers_on;
static bool servers_bound;

void spawn_on(const cpu_set_t *set) {
    servers_on = *set;
    servers_bound = true;
}

/* Runs in the child: makes a process group that the janitor knows, changes to the account, and sets the limits
 * and the folder that the script expects. Exits on failure. */
static void enter_child(const struct spawn *spawn, pid_t parent) {
    /* Ctrl-C at the terminal must reach lockbench alone, so the group is separate. But there is no
     * separate session, because Linux may schedule by sessions (autogroups): with busy clients in one
     * session, a server in another session got no processor for up to 12 s at a time (Linux 6.18, two
     * processors); in the same session for 0.05 to 0.5 s. */
    setpgid(0, 0);
    leave_terminal();
    janitor_group(JANITOR_ADD, getpid());
    const struct account *account = spawn->account;
    if (account->change && (setgroups((size_t)account->group_count, account->groups) != 0 ||
                            setgid(account->gid) != 0 || setuid(account->uid) != 0)) {
        write_error("change of account");
        _exit(127);
    }
    /* After the change of account, which clears this setting. The parent may already have ended. */
    prctl(PR_SET_PDEATHSIG, spawn->stop_signal);
    if (getppid() != parent) _exit(127);
    /* Linux's default: lockbench may use a finer one, but the server must run as it normally does */
    prctl(PR_SET_TIMERSLACK, 50000UL);
    if (servers_bound) sched_setaffinity(0, sizeof servers_on, &servers_on);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* enough descriptors for all clients */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    umask(077);
    if (spawn->dir && chdir(spawn->dir) != 0) {
        write_error(spawn->dir);
        _exit(127);
    }
    syscall(SYS_close_range, 3U, ~0U, 0U); /* some libraries open sockets without close-on-exec */
}

/* The files and arguments with which a script is started. */
struct start {
    char copy[LOG_PATH_MAX];
    struct vars env;
    int null, log;
};

/* Copies the script and opens its log (flags: O_APPEND or O_TRUNC), if it has a folder. Returns 0, or -1 with err; the
 * files must be closed in either case. */
static int prepare_start(const struct spawn *spawn, struct start *start, int flags,
                         struct lb_err *err) {
    char log_path[LOG_PATH_MAX], library[LOG_PATH_MAX];
    start->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (start->null < 0) return err_set(err, LB_EXIT_MACHINE, "/dev/null: %s", strerror(errno));
    if (!spawn->dir) {
        snprintf(start->copy, sizeof start->copy, "%s", spawn->script);
        fill_environment(&start->env, "/", NULL);
        return 0;
    }
    snprintf(start->copy, sizeof start->copy, "%s.run", spawn->dir);
    snprintf(library, sizeof library, "%s.library", spawn->dir);
    /* The account may not be able to reach the originals, for example below /root; it can only read the copies. */
    if (janitor_start(err) != 0 || file_copy(spawn->script, start->copy, 0555, err) != 0) return -1;
    if (spawn->library && file_copy(spawn->library, library, 0555, err) != 0) return -1;
    fill_environment(&start->env, spawn->dir, spawn->vars);
    if (spawn->library) vars_add(&start->env, "LB_LIBRARY=%s", library);
    server_log_path(spawn->dir, log_path);
    start->log = open(log_path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    if (start->log < 0) return err_set(err, LB_EXIT_MACHINE, "%s: %s", log_path, strerror(errno));
    return 0;
}

static void close_start(const struct start *start) {
    if (start->null >= 0) close(start->null);
    if (start->log >= 0) close(start->log);
}

/* Starts the script with `words`; out < 0: its output goes to the log. log < 0: its errors go to `out`. Returns its
 * pid, or -1 with err. */
static pid_t fork_script(const struct spawn *spawn, const struct start *start, int out,
                         const char *const words[3], struct lb_err *err) {
    pid_t parent = getpid();
    janitor_fork_begin();
    pid_t pid = fork();
    if (pid == 0) {
        child_streams(start->null, out < 0 ? start->log : out, start->log < 0 ? out : start->log);
        enter_child(spawn, parent);
        const char *const argv[] = {"sh", start->copy, words[0], words[1], words[2], NULL};
        execve("/bin/sh", (char *const *)argv, (char *const *)start->env.list);
        write_error("/bin/sh");
        _exit(127);
    }
    janitor_fork_end();
    if (pid < 0)
        err_set(err, LB_EXIT_MACHINE, "no new process: %s%s", strerror(errno),
                too_many_remedy(errno));
    else
        janitor_group(JANITOR_ADD, pid); /* also here, in case the child does not get that far */
    return pid;
}

pid_t spawn_server(const struct spawn *spawn, struct lb_err *err) {
    struct start start = {.null = -1, .log = -1};
    pid_t pid = -1;
    if (prepare_start(spawn, &start, O_APPEND, err) == 0)
        pid = fork_script(spawn, &start, -1, (const char *const[]){"run", NULL, NULL}, err);
    close_start(&start);
    return pid;
}

/* Reads what the process prints until it ends, and ends what it has started. 0, or -1 with err. */
static int read_to_end(pid_t pid, int fd, char *text, int64_t limit_ns, int *ret_status,
                       struct lb_err *err) {
    /* The output ends only when every process that the script started, and that can still print, has
     * ended. */
    int64_t until_ns = lb_now() + limit_ns;
    int failed = read_text(fd, text, until_ns, err);
    siginfo_t ended = {0}; /* the script may have closed its output and still run */
    while (!failed && waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT | WNOHANG) == 0 &&
           !ended.si_pid) {
        if (lb_now() >= until_ns) failed = err_set(err, LB_EXIT_MACHINE, "did not end");
        lb_nap(LB_MS_NS);
    }
    kill(-pid, SIGKILL);
    while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR) {
    }
    for (int64_t gone_ns = lb_now() + GONE_NS; proc_group_runs(pid) && lb_now() < gone_ns;)
        lb_nap(LB_MS_NS);
    janitor_group(JANITOR_DROP, pid);
    return failed;
}

char *spawn_act(const struct spawn *spawn, const char *const words[3], int64_t limit_ns,
                struct lb_err *err) {
    struct start start = {.null = -1, .log = -1};
    int pipe_fds[2] = {-1, -1}, status = 0, failed = -1;
    pid_t pid = -1;
    char *text = malloc(TEXT_MAX);
    if (!text || pipe2(pipe_fds, O_CLOEXEC) != 0)
        err_set(err, LB_EXIT_MACHINE, "%s", strerror(errno));
    else if (prepare_start(spawn, &start, O_TRUNC, err) == 0)
        pid = fork_script(spawn, &start, pipe_fds[1], words, err);
    if (pipe_fds[1] >= 0) close(pipe_fds[1]);
    if (pid > 0) failed = read_to_end(pid, pipe_fds[0], text, limit_ns, &status, err);
    if (!failed && status != 0) {
        char how[64], said[320];
        snprintf(said, sizeof said, "%s", text);
        if (spawn->dir) last_words(spawn->dir, said, sizeof said);
        failed = err_set(err, LB_EXIT_MACHINE, "%s",
                         *said ? said : status_text(status, how, sizeof how));
    }
    if (pipe_fds[0] >= 0) close(pipe_fds[0]);
    close_start(&start);
    if (!failed) return text;
    free(text);
    return NULL;
}

/* --- environment variables --- */

void vars_add(struct vars *vars, const char *format, ...) {
    char *var = vars->text + vars->used;
    size_t room = sizeof vars->text - vars->used;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(var, room, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= room || vars->count == VARS_MAX) return;
    vars->used += (size_t)len + 1;
    vars->list[vars->count++] = var;
}

/* --- last words --- */

#define TAIL_BYTES 8192
#define LINES 3

char *server_log_path(const char *dir, char path[LOG_PATH_MAX]) {
    snprintf(path, LOG_PATH_MAX, "%s.log", dir);
    return path;
}

/* Reads the end of the log into tail (TAIL_BYTES). Returns its length: 0 also where there is no log. */
static size_t read_tail(const char *dir, char *tail) {
    char path[LOG_PATH_MAX];
    int fd = open(server_log_path(dir, path), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    tail[0] = '\0';
    if (fd < 0) return 0;
    off_t end = lseek(fd, 0, SEEK_END);
    ssize_t len =
        pread(fd, tail, TAIL_BYTES - 1, end > TAIL_BYTES - 1 ? end - (TAIL_BYTES - 1) : 0);
    close(fd);
    if (len < 0) len = 0;
    tail[len] = '\0';
    for (ssize_t i = 0; i < len; i++) {
        if (tail[i] == '\0') tail[i] = ' ';
    }
    return (size_t)len;
}

char *last_words(const char *dir, char *text, size_t size) {
    char tail[TAIL_BYTES];
    read_tail(dir, tail);
    const char *lines[LINES] = {0};
    char *rest = tail;
    for (char *line; (line = strsep(&rest, "\r\n"));) {
        line += strspn(line, " \t");
        if (!*line || strncmp(line, "at ", 3) == 0)
            continue; /* a stack frame of Java: the lines before it have the message */
        memmove(lines, lines + 1, (LINES - 1) * sizeof *lines);
        lines[LINES - 1] = line;
    }
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < LINES; i++) {
        if (!lines[i] || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " / " : "", lines[i]);
    }
    return text;
}

bool last_words_blame_port(const char *dir) {
    char tail[TAIL_BYTES];
    read_tail(dir, tail);
    return strcasestr(tail, "address already in use") != NULL;
}

char *status_text(int status, char *text, size_t size) {
    if (WIFSIGNALED(status))
        snprintf(text, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
    return text;
}
