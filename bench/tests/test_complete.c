/* What bash offers behind `lockbench`, with the script that is installed. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

/* The words of `line` (the last one is being typed) offer `wanted`, alone on a line, and not `unwanted`. */
static const struct offer {
    const char *line, *wanted, *unwanted;
} offers[] = {
    {"lockbench ", "run", "--lock"},
    {"lockbench ru", "run", "report"},
    {"lockbench help c", "capacity", "doctor"},
    {"lockbench run con", "contended", "run"},
    {"lockbench run --d", "--dry-run", "--json"},
    {"lockbench run --lock redis-set", "redis-setnx", "redis-fair"},
    {"lockbench run --lock=redis-set", "redis-setnx", "redis-fair"},
    {"lockbench run --lock mem-mutex,nu", "mem-mutex,null", "null"},
    {"lockbench run --set load.cl", "load.clients=", "load.keys="},
    {"lockbench run --out a-", "a-run", "b-run"},
    {"lockbench run --out=a-", "a-run", "b-run"},
    {"lockbench report a-r", "a-run", "b-run"},
    {"lockbench hold redis-set", "redis-setnx", "hold"},
    {"lockbench no-such-command --", NULL, "--help"},
};

static bool has_line(const char *text, const char *wanted) {
    size_t length = strlen(wanted);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strcspn(line, "\n") == length && strncmp(line, wanted, length) == 0) return true;
    return false;
}

TEST(bash_completes) {
    need_program("bash", "bash");
    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++) {
        const struct offer *offer = &offers[i];
        char script[1000];
        snprintf(script, sizeof script,
                 "cd %s && touch a-run b-run && . $ROOT/compose/completion/lockbench.bash && "
                 "complete -p lockbench >/dev/null && COMP_LINE='%s' && "
                 "COMP_POINT=${#COMP_LINE} && _lockbench $PROGRAM && "
                 "printf '%%s\\n' \"${COMPREPLY[@]}\"",
                 cli_folder, offer->line);
        struct cli cli = cli_shell("bash", script);
        assert_string_equal(cli.err, "");
        if (offer->wanted && !has_line(cli.out, offer->wanted))
            fail_msg("'%s' lacks '%s': %s", offer->line, offer->wanted, cli.out);
        if (has_line(cli.out, offer->unwanted))
            fail_msg("'%s' offers '%s'", offer->line, offer->unwanted);
    }
}

TEST_MAIN(cli_setup, cli_teardown)
