/* test_example: the worked example of drivers/README.md, done to a copy of the project: one file
 * and one line, taken from the page itself, and the lock is there, documented, and passes for a
 * lock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/registry.h"

/* of this program: ROOT/.build/VARIANT/drivers/tests/test_example */
static char root[PATH_MAX], variant[64];
static char copy[] = "/tmp/lockbench-example-XXXXXX";
static char page[256 * 1024];

/* Runs a shell command in a folder, away from the make and the home that may have started this
 * test. What it printed is in `said`. */
static char said[64 * 1024];

__attribute__((format(printf, 2, 3))) static int shell(const char *folder, const char *format,
                                                       ...) {
    char command[8192], inner[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(inner, sizeof inner, format, args);
    va_end(args);
    snprintf(
        command, sizeof command,
        "cd '%s' && unset MAKEFLAGS MAKELEVEL MFLAGS LOCKBENCH_HOME LOCKBENCH_PROGRAM && { %s ; } 2>&1",
        folder, inner);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    said[fread(said, 1, sizeof said - 1, out)] = '\0';
    char rest[4096];
    while (fread(rest, 1, sizeof rest, out) > 0) continue;
    int status = pclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void read_page(void) {
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/drivers/README.md", root);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("no %s", path);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
}

/* The text between two marks of the page, from `at` on. */
static char *between(const char *at, const char *before, const char *after) {
    const char *from = at ? strstr(at, before) : NULL;
    const char *to = from ? strstr(from + strlen(before), after) : NULL;
    if (!to) fail_msg("drivers/README.md has no \"%s ... %s\" in its example", before, after);
    from += strlen(before);
    return strndup(from, (size_t)(to - from));
}

static void append(const char *name, const char *text, const char *mode) {
    char path[PATH_MAX + 160];
    snprintf(path, sizeof path, "%s/%s", copy, name);
    FILE *file = fopen(path, mode);
    if (!file) fail_msg("can't write %s", path);
    fprintf(file, "%s\n", text);
    assert_int_equal(fclose(file), 0);
}

static void one_file_and_one_line_make_a_lock(void **state) {
    (void)state;
    if (registry_backend("redis")->unavailable) {
        print_message("SKIP: redis: %s\n", registry_backend("redis")->unavailable);
        skip();
    }
    if (shell("/", "command -v redis-server cc make >/dev/null") != 0) {
        print_message("SKIP: redis-server, cc and make are needed\n");
        skip();
    }
    read_page();
    const char *example = strstr(page, "## Adding a lock");
    char *file = between(example, "the file, `", "`"), *code = between(example, "```c\n", "```");
    char *line = between(example, "in `drivers/list.h`: `", "`");
    /* What was built comes along, programs excepted, so that make has little to do. */
    int code_of_copy = shell(
        root,
        "{ find Makefile bench drivers workloads compose results/format results/stats report -name "
        "node_modules "
        "-prune -o -type f -print; find .build/%s -type f ! -perm -100; } | tar -cf - -T - | "
        "tar -xf - -C '%s'",
        variant, copy);
    if (code_of_copy != 0) fail_msg("%s", said);
    append(file, code, "wx"); /* a new file: the example must not be there already */
    append("drivers/list.h", line, "a");
    char target[200];
    snprintf(target, sizeof target, ".build/%s", variant);
    if (shell(
            copy,
            "make VARIANT=%s %s/lockbench %s/drivers/tests/test_registry %s/drivers/tests/test_conform",
            variant, target, target, target) != 0)
        fail_msg("%s", said);
    if (strstr(said, "warning:")) fail_msg("%s", said);
    if (shell(
            copy,
            "%s/lockbench run contended --lock redis-counted --set load.clients=4 --set run.warmup=50ms "
            "--set run.duration=300ms --out '%s/out'",
            target, copy) != 0)
        fail_msg("%s", said);
    assert_non_null(strstr(said, "redis-counted excluded"));
    /* Its row is missing in the page until make table is run, and the tests say so. */
    assert_int_not_equal(shell(copy, "%s/drivers/tests/test_registry", target), 0);
    assert_non_null(strstr(said, "make table"));
    if (shell(copy, "make -s VARIANT=%s table && %s/drivers/tests/test_registry", variant,
              target) != 0)
        fail_msg("%s", said);
    /* The suite tries it because it is in the list. */
    if (shell(copy, "%s/drivers/tests/test_conform redis-counted token", target) != 0)
        fail_msg("%s", said);
    assert_non_null(strstr(said, "redis-counted"));
    free(file);
    free(code);
    free(line);
}

static int find_root(void **state) {
    (void)state;
    ssize_t len = readlink("/proc/self/exe", root, sizeof root - 1);
    char *build = len > 0 ? strstr(root, "/.build/") : NULL;
    if (!build || sscanf(build, "/.build/%63[^/]", variant) != 1) return -1;
    *build = '\0';
    return mkdtemp(copy) ? 0 : -1;
}

static int remove_copy(void **state) {
    (void)state;
    return shell("/", "rm -rf '%s'", copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_file_and_one_line_make_a_lock),
    };
    return cmocka_run_group_tests(tests, find_root, remove_copy);
}
