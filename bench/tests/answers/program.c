/* program: see program.h. */
#define _GNU_SOURCE
#include "bench/tests/answers/program.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void program_add(struct program_arguments *arguments, const char *format, ...) {
    va_list values;
    if (arguments->count == PROGRAM_ARGUMENTS_MAX) abort();
    char *text = arguments->text[arguments->count];
    va_start(values, format);
    vsnprintf(text, sizeof arguments->text[0], format, values);
    va_end(values);
    arguments->list[arguments->count++] = text;
    arguments->list[arguments->count] = NULL;
}

void program_be_urgent(void) {
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
}

pid_t program_start(const char *program, const struct program_arguments *arguments,
                    const char *output) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (arguments->is_urgent) program_be_urgent();
    int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    execv(program, arguments->list);
    _exit(127);
}

int program_wait(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
