/* commands: see cli.h. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/err.h"
#include "bench/base/nearest.h"
#include "bench/base/output.h"
#include "bench/base/process.h"
#include "bench/cli/cli.h"
#include "drivers/registry.h"
#include "drivers/url.h"
#include "report/doc/screen.h"

/* For the help; bench/README.md has the same table. */
static const struct {
    enum lb_exit code;
    const char *meaning;
} exit_codes[] = {
    {LB_EXIT_OK, "fine"},
    {LB_EXIT_USAGE, "usage or input, also a password that the server refuses"},
    {LB_EXIT_MACHINE,
     "a server or the machine; a run without a grant in a measured window; a control that was not "
     "caught; a real lock that got stuck or starved its clients"},
    {LB_EXIT_VIOLATED,
     "exclusion violated, or a lease outlived; `check`: a cell is worse than its driver states"},
    {LB_EXIT_REGRESSION,
     "`compare`, `history --gate`: a figure or a lock got worse; `plan`: no lock carries the load; "
     "`run --slo`: a promise is broken"},
    {LB_EXIT_INCONCLUSIVE,
     "`compare`, `history --gate`, `plan`, `capacity`, `run --slo`: the measurements are too few or "
     "too noisy to say"},
    {LB_EXIT_INTERRUPTED, "interrupted; what was measured is saved"},
};

static char **words; /* kept reachable until the end, for leak checkers */

static char *public_copy(const char *word) {
    size_t size =
        strlen(word) + sizeof "******"; /* two stretches, which may be shorter than "***" */
    char *copy = malloc(size);
    return copy ? url_public(word, copy, size) : NULL;
}

/* Returns copies of the words, ended by NULL: the values of --url as they are, all others
 * without their secrets. In argv itself the secrets of all words are overwritten,
 * since everybody on the machine can read a program's arguments. The copies live until the program
 * ends. NULL when out of memory. */
static char **secrets_take(int argc, char **argv) {
    words = calloc((size_t)argc + 1, sizeof *words);
    if (!words) return NULL;
    for (int i = 0; i < argc; i++) {
        bool is_url = (i > 0 && strcmp(words[i - 1], "--url") == 0) ||
                      strncmp(argv[i], "--url=", strlen("--url=")) == 0;
        bool shown = is_url || !strstr(argv[i], "://");
        words[i] = shown ? strdup(argv[i]) : public_copy(argv[i]);
        if (!words[i]) return NULL;
        if (strstr(argv[i], "://")) url_hide(argv[i]);
    }
    return words;
}

/* In the order of the help; NULL = its folder was removed. The last one is for `check` only, and has no help. */
static const struct command *const commands[] = {
    &command_run,      &command_check,  &command_plan,    &command_compare,
    &command_capacity, &command_report, &command_history, &command_list,
    &command_doctor,   &command_up,     &command_clean,   &command_check_suite,
};

#define COMMANDS (sizeof commands / sizeof *commands)

/* The command of a name; NULL with err, which has the nearest name. */
static const struct command *command_find(const char *name, struct lb_err *err) {
    struct nearest nearest;
    char hint[100];
    nearest_init(&nearest, name);
    nearest_offer(&nearest, "help");
    for (size_t i = 0; i < COMMANDS; i++) {
        if (!commands[i]) continue;
        if (strcmp(name, commands[i]->name) == 0) return commands[i];
        if (commands[i]->summary) nearest_offer(&nearest, commands[i]->name);
    }
    err_set(err, LB_EXIT_USAGE, "unknown command '%.60s'%s; see lockbench --help", name,
            nearest_hint(&nearest, hint, sizeof hint));
    return NULL;
}

static struct peers *joined; /* set once, before any command */

void cli_join(struct peers *peers) {
    joined = peers;
}

struct peers *cli_peers(void) {
    return joined;
}

static void help(FILE *out) {
    const struct screen screen = screen_of(out, false);
    char line[200];
    screen_lines(&screen, "lockbench " LOCKBENCH_VERSION
                          ": which distributed lock to use, how fast it is here, and whether it is "
                          "really a lock\n\n"
                          "Usage: lockbench COMMAND [OPTIONS]\n\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        if (!commands[i] || !commands[i]->summary) continue;
        snprintf(line, sizeof line, "  %-8s  %s", commands[i]->name, commands[i]->summary);
        screen_lines(&screen, line);
    }
    fprintf(out, "\n`lockbench help COMMAND` tells more. Exit codes:\n");
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++)
        screen_say(&screen, 8, TONE_PLAIN, "  %4d  %s", exit_codes[i].code, exit_codes[i].meaning);
}

/* `lockbench help [COMMAND]`. */
static int help_main(const char *name) {
    struct lb_err err = {0};
    if (!name) {
        help(stdout);
        return LB_EXIT_OK;
    }
    const struct command *command = command_find(name, &err);
    if (!command) return args_fail(&err);
    args_help(command, stdout);
    return LB_EXIT_OK;
}

/* Returns the exit code; a failed write to standard output is an error. */
static int flushed(int code) {
    struct lb_err err = {0};
    if (output_check(stdout, "to standard output", &err) == 0 || code != LB_EXIT_OK) return code;
    return args_fail(&err);
}

/* If descriptor 0, 1 or 2 was closed at the start, the next file or socket would get its number,
 * and the program's output would go there. /dev/null takes its place; it is opened for reading, so
 * a write still fails and is reported. */
static void reserve_standard_descriptors(void) {
    int fd;
    while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd < 3) {
    }
    if (fd >= 3) close(fd);
}

int cli_main(int argc, char **argv) {
    reserve_standard_descriptors();
    /* A reader that goes away, or a limit on the size of files, must not kill the program before
     * the servers are stopped: both become errors of a write. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        help(stderr);
        return LB_EXIT_USAGE;
    }
    argv = secrets_take(argc, argv);
    if (!argv) {
        struct lb_err err = {0};
        err_set(&err, LB_EXIT_MACHINE, "out of memory");
        return args_fail(&err);
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return flushed(help_main(argv[2]));
    if (strcmp(word, "--version") == 0 || strcmp(word, "-v") == 0) {
        version_write(stdout);
        return flushed(LB_EXIT_OK);
    }
    struct lb_err err = {0};
    const struct command *command = command_find(word, &err);
    if (!command || registry_check(&err) != 0) return args_fail(&err);
    return flushed(command_main(command, argc - 1, argv + 1));
}
