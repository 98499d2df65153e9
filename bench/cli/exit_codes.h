/* exit_codes: what each exit code of the program means. Help, man pages and the table in
 * bench/README.md have these words. */
#ifndef BENCH_CLI_EXIT_CODES_H
#define BENCH_CLI_EXIT_CODES_H

/* Of `hold`, beside those of its command: as timeout(1) and env(1) have them. */
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
