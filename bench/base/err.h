/* err: one error, passed down by the caller and printed once, by the
 * command.
 *
 * The first error explains the ones after it, so err_set keeps it and drops later ones. Library
 * code fills it and returns a negative number; it never prints and never exits. */
#ifndef BENCH_BASE_ERR_H
#define BENCH_BASE_ERR_H

/* The program's exit codes. An error carries the code with which the program should end. */
enum lb_exit {
    LB_EXIT_OK = 0,
    LB_EXIT_USAGE = 1,        /* bad option, workload file, URL (its password too) or result file */
    LB_EXIT_MACHINE = 2,      /* a server or the machine: missing, unreachable, full */
    LB_EXIT_VIOLATED = 3,     /* a lock failed: see bench/cli/commands.c */
    LB_EXIT_REGRESSION = 4,   /* a comparison found something worse */
    LB_EXIT_INCONCLUSIVE = 5, /* ... or its runs are too few or too noisy to decide */
    LB_EXIT_INTERRUPTED = 130 /* Ctrl-C; what was measured is saved */
};

struct lb_err {
    int code; /* enum lb_exit; 0 = no error yet */
    /* what happened, where, and what to do: one line without full stop and newline */
    char text[512];
};

/* Sets err unless it already holds an error (or is NULL). Always returns -1, so that callers can
 * `return err_set(err, LB_EXIT_USAGE, "...")`. */
#define err_set(err, code, ...)                                                                    \
    ({                                                                                             \
        err_set_to((err), (code), __VA_ARGS__);                                                    \
        -1; /* here, so that compilers and analyzers see the value */                              \
    })

void err_set_to(struct lb_err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets err to an error that may be none. -1 if it is one, else 0. */
int err_pass(struct lb_err *err, const struct lb_err *from);

/* Puts "prefix: " before the text of an error; no effect if none is set. Always -1, likewise. */
#define err_prefix(err, ...)                                                                       \
    ({                                                                                             \
        err_prefix_with((err), __VA_ARGS__);                                                       \
        -1;                                                                                        \
    })
void err_prefix_with(struct lb_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
