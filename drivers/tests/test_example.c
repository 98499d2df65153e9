/* test_example: the worked examples, done to a copy of the project: a lock is one file and one line
 * (drivers/README.md), a topology is a script and its name (compose/README.md), a backend is a
 * folder, a line and a script (drivers/tests/example). Nothing else is touched, and each is listed,
 * runs and passes.
 * Needs: servers. */

#include <limits.h>
#include <sys/wait.h>

#include "bench/tests/unit.h"
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

static void read_page(const char *name) {
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("no %s", path);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
}

/* The text between two marks of the page, from `at` on. */
static char *between(const char *at, const char *before, const char *after) {
    const char *from = at ? strstr(at, before) : NULL;
    const char *to = from ? strstr(from + strlen(before), after) : NULL;
    if (!to) fail_msg("the page has no \"%s ... %s\" in its example", before, after);
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

/* Runs a command in the copy; anything but success is a failure. */
#define MUST(...)                                                                                  \
    do {                                                                                           \
        if (shell(copy, __VA_ARGS__) != 0) fail_msg("%s", said);                                   \
    } while (0)

/* Builds programs (blank-separated, below .build/VARIANT) in the copy. */
static void build(const char *programs) {
    MUST("make VARIANT=%s $(printf '.build/%s/%%s ' %s)", variant, variant, programs);
    if (strstr(said, "warning:")) fail_msg("%s", said);
}

/* A short run of a lock with four clients. */
static void run_lock(const char *lock, const char *more) {
    MUST(".build/%s/lockbench run contended --lock %s --set load.clients=4 "
         "--set run.warmup=50ms --set run.duration=300ms --out out-%s %s",
         variant, lock, lock, more);
    char words[128];
    snprintf(words, sizeof words, "%s excluded", lock);
    if (!strstr(said, words)) fail_msg("no \"%s\" in: %s", words, said);
}

static void skip_without(const char *programs) {
    if (shell("/", "command -v cc make %s >/dev/null", programs) == 0) return;
    skip_for("cc, make or %s is missing", programs);
}

TEST(one_file_and_one_line_make_a_lock) {
    need(!lb_unavailable(registry_backend("redis")), "the redis backend", "libhiredis-dev");
    skip_without("redis-server");
    read_page("drivers/README.md");
    const char *example = strstr(page, "## Adding a lock");
    char *file = between(example, "the file, `", "`"), *code = between(example, "```c\n", "```");
    char *line = between(example, "in `drivers/list.h`: `", "`");
    append(file, code, "wx"); /* a new file: the example must not be there already */
    append("drivers/list.h", line, "a");
    build(
        "lockbench drivers/tests/test_registry drivers/tests/test_expected drivers/tests/test_conform");
    run_lock("redis-counted", "");
    /* It tells every key that it makes. */
    MUST(".build/%s/lockbench list redis-counted --key orders", variant);
    assert_non_null(strstr(said, "{orders}:count"));
    /* Its row is missing in the page until make table is run, and the tests say so. */
    assert_int_not_equal(shell(copy, ".build/%s/drivers/tests/test_registry", variant), 0);
    assert_non_null(strstr(said, "make table"));
    MUST("make -s VARIANT=%s table && .build/%s/drivers/tests/test_registry", variant, variant);
    MUST(".build/%s/drivers/tests/test_expected", variant); /* the backend's statements fit it */
    /* The suite tries it because it is in the list. */
    MUST(".build/%s/drivers/tests/test_conform redis-counted token", variant);
    assert_non_null(strstr(said, "redis-counted"));
    free(file);
    free(code);
    free(line);
}

/* The class that results rank by, what `list` shows and what is installed come from the script. */
TEST(a_script_and_its_name_make_a_topology) {
    need(!lb_unavailable(registry_backend("redis")), "the redis backend", "libhiredis-dev");
    skip_without("redis-server");
    read_page("compose/README.md");
    const char *example = strstr(page, "## Adding a topology");
    char *file = between(example, "the script, `", "`"), *code = between(example, "```sh\n", "```");
    char *line = between(example, "in `backend_redis`'s table: `", "`");
    append(file, code, "wx");
    MUST("chmod +x %s && sed -i 's/\"redis-cluster\", NULL},/\"redis-cluster\", %s, NULL},/' "
         "$(grep -l 'backend backend_redis = ' drivers/redis/*.c)",
         file, line);
    build("lockbench");
    run_lock("redis-setnx", "--set servers.topology=redis-everysec");
    assert_non_null(strstr(said, "log, not flushed"));
    MUST("grep '\"durability_class\": *\"log\"' out-redis-setnx/run.json");
    MUST(".build/%s/lockbench list redis", variant);
    assert_non_null(strstr(said, "redis-everysec"));
    free(file);
    free(code);
    free(line);
}

TEST(a_folder_a_line_and_a_script_make_a_backend) {
    skip_without("python3");
    MUST("mkdir drivers/tiny && cp drivers/tests/example/tiny.c drivers/tiny/ && "
         "cp drivers/tests/example/tiny compose/local/");
    append("drivers/list.h", "LB_LOCK(tiny, tiny_lock)", "a");
    build("lockbench drivers/tests/test_conform");
    run_lock("tiny-lock", "");
    assert_non_null(strstr(said, "in memory"));
    MUST(".build/%s/drivers/tests/test_conform tiny-lock killed", variant);
    assert_non_null(strstr(said, "tiny-lock: killed clients stop nobody"));
}

FIXTURE(copy_project) {
    ssize_t len = readlink("/proc/self/exe", root, sizeof root - 1);
    char *build = len > 0 ? strstr(root, "/.build/") : NULL;
    if (!build || sscanf(build, "/.build/%63[^/]", variant) != 1) return -1;
    *build = '\0';
    if (!mkdtemp(copy)) return -1;
    /* What was built comes along, programs excepted, so that make has little to do. */
    int code =
        shell(root,
              "{ find Makefile bench drivers workloads compose results/format results/stats report "
              "-name node_modules -prune -o -type f -print; "
              "find .build/%s -type f ! -perm -100; } | tar -cf - -T - | tar -xf - -C '%s'",
              variant, copy);
    if (code != 0) print_error("%s", said);
    return code;
}

FIXTURE(remove_copy) {
    return shell("/", "rm -rf '%s'", copy);
}

TEST_MAIN(copy_project, remove_copy)
