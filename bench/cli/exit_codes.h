/* exit_codes: what each exit code of the program means. Help, man pages and the table in
 * bench/README.md have these words. */
#ifndef BENCH_CLI_EXIT_CODES_H
#define BENCH_CLI_EXIT_CODES_H

struct exit_code {
    int code; /* enum lb_exit */
    const char *meaning;
};

extern const struct exit_code exit_codes[]; /* ends with a NULL meaning */

#endif
