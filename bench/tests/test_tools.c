/* Each folder of bench/tools can be removed: without it the program builds, has no such command, and measures.
 * Needs: servers. It starts none, but it builds for half a minute. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

static char copy[200], variant[40];

static int shell(const char *format, ...) {
    char command[PATH_MAX * 3];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command);
}

/* A copy of the tree with what this build has compiled. */
static int copy_tree(void **state) {
    if (cli_setup(state)) return -1;
    snprintf(copy, sizeof copy, "%s/tree", cli_folder);
    const char *end = strrchr(cli_program, '/'), *begin = end;
    while (begin > cli_program && begin[-1] != '/') begin--;
    snprintf(variant, sizeof variant, "%.*s", (int)(end - begin), begin);
    return shell("cd '%s' && mkdir '%s' && "
                 "{ git -c safe.directory='*' ls-files -z; find .build/config.mk .build/with "
                 ".build/%s -name tests -prune -o -type f -print0; } | "
                 "xargs -0 cp -a --parents -t '%s' && "
                 "ln -s '%s/report/node_modules' '%s/report/node_modules'",
                 cli_root, copy, variant, copy, cli_root, copy);
}

static void build_without(const char *tool) {
    char program[300];
    assert_int_equal(shell("rm -r '%s/bench/tools/%s' && make -s -C '%s' VARIANT=%s lockbench >&2",
                           copy, tool, copy, variant),
                     0);
    snprintf(program, sizeof program, "%s/lockbench", copy);
    const struct cli_how how = {.program = program};
    struct cli gone = cli_ends_with(1, &how, ARGS(tool, "--help"));
    assert_has(gone.err, "unknown command");
    cli_ends_with(0, &how,
                  ARGS("run", "smoke", "--lock", "sim", "--out", cli_path("without-%s", tool)));
    assert_int_equal(shell("cp -a '%s/bench/tools/%s' '%s/bench/tools'", cli_root, tool, copy), 0);
}

TEST(each_can_be_removed) {
    struct dirent **tools;
    char path[PATH_MAX + 20];
    snprintf(path, sizeof path, "%s/bench/tools", cli_root);
    int count = scandir(path, &tools, NULL, alphasort), built = 0;
    for (int i = 0; i < count; i++) {
        if (tools[i]->d_name[0] != '.') {
            print_message("without %s\n", tools[i]->d_name);
            build_without(tools[i]->d_name);
            built++;
        }
        free(tools[i]);
    }
    free(tools);
    assert_true(built >= 10);
}

TEST_MAIN(copy_tree, cli_teardown)
