/* exit_codes: the meanings of the program's exit codes, for help, man pages and the table of
 * bench/README.md. */
#ifndef BENCH_CLI_EXIT_CODES_H
#define BENCH_CLI_EXIT_CODES_H

/* The exit codes of `hold` besides those of its command, as in timeout(1) and env(1). */
enum hold_exit {
    HOLD_LOST = 123,
    HOLD_NOT_GRANTED = 124,
    HOLD_FAILED = 125,
    HOLD_CANNOT_RUN = 126,
    HOLD_NO_COMMAND = 127
};

struct exit_code {
    int code; /* enum lb_exit or hold_exit */
    const char *meaning;
};

extern const struct exit_code exit_codes[]; /* ends with a NULL meaning */

#endif
