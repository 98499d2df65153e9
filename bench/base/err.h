/* err: one error with its place, passed down by the caller and printed once, at the top.
 *
 * The first error is the one that explains the rest, so err_set keeps it and drops later ones.
 * Library code fills it and returns a negative number; it never prints and never exits. */
#ifndef BENCH_BASE_ERR_H
#define BENCH_BASE_ERR_H

/* The program's exit codes; an error carries the one that it should end the program with. */
enum lb_exit {
    LB_EXIT_OK = 0,
    LB_EXIT_USAGE = 1,        /* bad option, workload file, URL or result file */
    LB_EXIT_MACHINE = 2,      /* a server or the machine: missing, unreachable, full, refused */
    LB_EXIT_VIOLATED = 3,     /* a lock let two clients in */
    LB_EXIT_REGRESSION = 4,   /* a comparison found something worse */
    LB_EXIT_INCONCLUSIVE = 5, /* ... or too few or too noisy runs to say */
    LB_EXIT_INTERRUPTED = 130 /* Ctrl-C; what was measured is saved */
};

struct lb_err {
    int code;         /* enum lb_exit; 0 = no error yet */
    int line;         /* source line that set it, for LOCKBENCH_DEBUG */
    const char *file; /* source file that set it; static storage */
    char text[512];   /* what, where and what to do: one line, no full stop, no newline */
};

/* Sets err unless it already holds an error (or is NULL). Always returns -1, so that callers can
 * `return err_set(err, LB_EXIT_USAGE, "...")`. */
#define err_set(err, code, ...)                                                                    \
    ({                                                                                             \
        err_set_at((err), (code), __FILE__, __LINE__, __VA_ARGS__);                                \
        -1; /* said here, so that compilers and analyzers see it too */                            \
    })

void err_set_at(struct lb_err *err, int code, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Puts "prefix: " before the text of an error that is set; no effect on one that is not. */
void err_prefix(struct lb_err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
