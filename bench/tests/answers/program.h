/* program: starts lockbench as a user would, and waits for its end. */
#ifndef BENCH_ANSWERS_PROGRAM_H
#define BENCH_ANSWERS_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#define PROGRAM_ARGUMENTS_MAX 60

struct program_arguments {
    char text[PROGRAM_ARGUMENTS_MAX][300];
    char *list[PROGRAM_ARGUMENTS_MAX + 1];
    int count;
    bool is_urgent; /* see program_be_urgent */
};

/* Adds one. All zero is an empty list; lockbench's own name is the first argument. */
void program_add(struct program_arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Gives this process real-time priority, where the system allows it, so that other programs do not delay the process.
 * Only for a process that sleeps nearly all the time. */
void program_be_urgent(void);

/* Starts it with both outputs in a file. Its pid, or -1. */
pid_t program_start(const char *program, const struct program_arguments *arguments,
                    const char *output);
/* Its exit code; -1 if a signal ended it. */
int program_wait(pid_t pid);

#endif
