/* shell: command lines that can be typed into a shell again: quoted, and without passwords. */
#ifndef BENCH_CLI_SHELL_H
#define BENCH_CLI_SHELL_H

struct place_url;

/* The name of the program and its arguments, without those that only say where to save and what to
 * show: --out, --no-page. The URLs stand behind them: "--url" and their words. Owned by the caller; NULL when out of
 * memory. */
char *shell_command(const char *program, int argc, char **argv, const struct place_url *urls,
                    int url_count);

/* " --set VALUE" for each, then the URLs, as above. Owned by the caller; NULL when out of memory. */
char *shell_options(const char *const *sets, int set_count, const struct place_url *urls,
                    int url_count);

#endif
