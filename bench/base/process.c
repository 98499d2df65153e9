/* process: see process.h. */
#define _GNU_SOURCE
#include "bench/base/process.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
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

/* --- the limit on stacks --- */

#define KIB 1024
#define LEAST_BYTES (512 * KIB) /* doctor has frames of 110 KiB, and libraries have theirs */
#define USUAL_BYTES (8192 * KIB)

/* The C library took the size of new threads' stacks from the limit when the program began. */
static void enlarge_threads(size_t bytes) {
    pthread_attr_t attr;
    if (pthread_getattr_default_np(&attr) != 0) return;
    if (pthread_attr_setstacksize(&attr, bytes) == 0) pthread_setattr_default_np(&attr);
    pthread_attr_destroy(&attr);
}

int stack_limit_ensure(struct lb_err *err) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST_BYTES) return 0;
    unsigned long long found_bytes = limit.rlim_cur;
    rlim_t highest = limit.rlim_max;
    limit.rlim_cur = USUAL_BYTES;
    if (highest < USUAL_BYTES) limit.rlim_max = USUAL_BYTES;
    if (setrlimit(RLIMIT_STACK, &limit) != 0) { /* only root may raise the higher one */
        limit = (struct rlimit){.rlim_cur = highest, .rlim_max = highest};
        if (highest < LEAST_BYTES || setrlimit(RLIMIT_STACK, &limit) != 0)
            return err_set(
                err, LB_EXIT_MACHINE,
                "a stack may have %llu KiB here, and lockbench needs %d: raise the hard limit (as root: `ulimit -s %d`), or use a new shell",
                found_bytes / KIB, LEAST_BYTES / KIB, USUAL_BYTES / KIB);
    }
    enlarge_threads(limit.rlim_cur);
    return 0;
}
