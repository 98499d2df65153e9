/* hold_child: see hold_child.h. */
#define _GNU_SOURCE
#include "bench/cli/hold_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/too_many.h"
#include "bench/cli/exit_codes.h"

static const int handed_on[] = {SIGINT, SIGTERM, SIGHUP};
#define HANDED_ON (sizeof handed_on / sizeof *handed_on)

static int wake_pipe[2] = {-1, -1};
static volatile sig_atomic_t child; /* its process; 0 = none */
static volatile sig_atomic_t interrupts;
static void (*on_interrupt)(void);

static void on_signal(int number, siginfo_t *info, void *context) {
    int kept = errno;
    (void)context;
    if (number != SIGCHLD && child > 0) {
        /* The terminal sends Ctrl-C to the command itself. */
        if (info->si_code != SI_KERNEL) kill((pid_t)child, number);
    } else if (number != SIGCHLD) {
        interrupts = interrupts + 1;
        if (on_interrupt) on_interrupt();
        if (interrupts > 1) _exit(LB_EXIT_INTERRUPTED);
    }
    ssize_t ignored = write(wake_pipe[1], "", 1);
    (void)ignored; /* a full pipe is readable as well */
    errno = kept;
}

int hold_child_watch(void (*interrupted)(void), struct lb_err *err) {
    if (pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return err_set(err, LB_EXIT_MACHINE, "hold: pipe: %s", strerror(errno));
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART}, old;
    sigfillset(&action.sa_mask);
    on_interrupt = interrupted;
    sigaction(SIGCHLD, &action, NULL);
    for (size_t i = 0; i < HANDED_ON; i++) {
        /* If nohup(1) made this process ignore a signal, the command ignores it too. */
        if (sigaction(handed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(handed_on[i], &action, NULL);
    }
    return wake_pipe[0];
}

const volatile sig_atomic_t *hold_child_interrupts(void) {
    return &interrupts;
}

static _Noreturn void run_child(const char *const *command, const char *const *variables,
                                const sigset_t *mask, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(HOLD_CANNOT_RUN); /* the parent has died before */
    /* the default handling of signals, as a program expects it */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    for (size_t i = 0; i < HANDED_ON; i++) {
        struct sigaction old;
        if (sigaction(handed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            signal(handed_on[i], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, mask, NULL);
    for (; *variables; variables++) putenv((char *)(uintptr_t)*variables);
    /* A socket or a locked file that the command inherits would outlive this process's session. */
    close_range(3, ~0U, 0);
    execvp(command[0], (char *const *)(uintptr_t)command);
    int why = errno;
    fprintf(stderr, "lockbench: hold: %s: %s\n", command[0], strerror(why));
    _exit(why == ENOENT ? HOLD_NO_COMMAND : HOLD_CANNOT_RUN);
}

int hold_child_start(const char *const *command, const char *const *variables, struct lb_err *err) {
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old); /* no signal may come between fork and setting `child` */
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) run_child(command, variables, &old, parent);
    if (pid > 0) child = (sig_atomic_t)pid;
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (pid < 0)
        return err_set(err, LB_EXIT_MACHINE, "hold: fork: %s%s", strerror(errno),
                       too_many_remedy(errno));
    return 0;
}

void hold_child_signal(int number) {
    if (child > 0) kill((pid_t)child, number);
}

bool hold_child_ended(int *ret_code) {
    char bytes[64];
    int status;
    while (read(wake_pipe[0], bytes, sizeof bytes) > 0) {
    }
    if (child <= 0 || waitpid((pid_t)child, &status, WNOHANG) <= 0) return false;
    child = 0;
    *ret_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}
