/* process: see process.h. */
#include "bench/base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char janitor_mark[48] = "";

#define STACK_BYTES (32 * 1024) /* more than any processor's registers take on it */

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGABRT, "SIGABRT"}};

#define SIGNALS (sizeof signals / sizeof *signals)

static struct sigaction before[SIGNALS];
static char lines[SIGNALS][1200]; /* made beforehand, since a handler may only write */

/* Writes the line, puts the former handler back, and raises the signal again for that handler. */
static void last_words(int number) {
    for (size_t i = 0; i < SIGNALS; i++) {
        if (signals[i].number != number) continue;
        ssize_t written = write(STDERR_FILENO, lines[i], strlen(lines[i]));
        (void)written;
        sigaction(number, &before[i], NULL);
    }
    raise(number);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

static const char *usual; /* the command that runs */

void crash_expect(const char *what, const char *after) {
    static bool expected;
    if (!what && usual) {
        what = usual;
        after = "A server that breaks its protocol may be the cause.";
    }
    struct sigaction action = {.sa_handler = last_words, .sa_flags = SA_ONSTACK};
    for (size_t i = 0; i < SIGNALS && !sanitized; i++) {
        if (expected) sigaction(signals[i].number, &before[i], NULL);
        if (!what) continue;
        snprintf(
            lines[i], sizeof lines[i],
            "ERROR: %s: %s ended this process, in a call of the driver or in lockbench itself. %s\n",
            what, signals[i].name, after);
        sigaction(signals[i].number, &action, &before[i]);
    }
    expected = what != NULL;
}

void crash_always(const char *command) {
    usual = command;
    crash_expect(NULL, NULL);
}

void crash_stack(void) {
    static __thread char bytes[STACK_BYTES];
    stack_t stack;
    if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_DISABLE)) return;
    stack = (stack_t){.ss_sp = bytes, .ss_size = sizeof bytes};
    sigaltstack(&stack, NULL);
}

void child_streams(int in, int out, int errors) {
    sigset_t none;
    sigemptyset(&none);
    for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(errors, 2) < 0) _exit(127);
    /* the descriptors may have been in place already */
    for (int fd = 0; fd < 3; fd++) fcntl(fd, F_SETFD, 0);
}
