/* test_mutants: the mistakes of `make mutants` still apply, and each names a lock and a check of the conformance
 * suite, or test programs. That they are caught takes `make mutants`. */
#include <glob.h>
#include <string.h>

#include "bench/conform/conform.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"

static void assert_named(const char *path, char *line) {
    char *what = strstr(line, ": "), *check = strstr(line, " | ");
    const struct conform_check *at = conform_checks;
    if (!what || !check) fail_msg("%s: its first line is not 'LOCK: what is wrong | check'", path);
    *what = '\0';
    check += strlen(" | ");
    check[strcspn(check, "\n")] = '\0';
    while (at->name && strcmp(at->name, check) != 0) at++;
    if (!at->name) fail_msg("%s: there is no check '%s'", path, check);
    if (!registry_lock(line)) fail_msg("%s: there is no lock '%s'", path, line);
}

TEST(each_mistake_of_a_lock_names_its_check) {
    glob_t patches;
    assert_int_equal(glob("drivers/tests/mutants/*.patch", 0, NULL, &patches), 0);
    assert_true(patches.gl_pathc >= 16);
    for (size_t i = 0; i < patches.gl_pathc; i++) {
        char line[300] = "";
        FILE *patch = fopen(patches.gl_pathv[i], "r");
        assert_non_null(patch);
        if (!fgets(line, sizeof line, patch)) line[0] = '\0';
        fclose(patch);
        assert_named(patches.gl_pathv[i], line);
    }
    globfree(&patches);
}

TEST(each_mistake_applies) {
    assert_int_equal(system("bench/tests/mutants --check"), 0);
}

TEST_MAIN(NULL, NULL)
