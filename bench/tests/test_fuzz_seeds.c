/* test_fuzz_seeds: every fuzz target still handles every input that is stored for it; inputs that once broke it are
 * among them. The fuzzer itself is `make fuzz`. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>

#include "bench/base/home.h"
#include "bench/tests/unit.h"

/* The folder of this variant's programs that give a target its seeds. */
static void find_programs(char path[PATH_MAX]) {
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
    assert_true(len > 0);
    path[len] = '\0';
    char *end = strstr(path, "/tests/test_fuzz_seeds");
    assert_non_null(end);
    strcpy(end, "/tests/fuzz");
}

/* Gives a target its seeds. It prints the name of each input before it takes it. */
static void replay(const char *programs, const char *seeds, const char *target) {
    char command[3 * PATH_MAX], line[400], name[400] = "", last[400] = "";
    snprintf(command, sizeof command, "exec '%s/replay_%s' '%s/%s' 2>&1", programs, target, seeds,
             target);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    while (fgets(line, sizeof line, out)) {
        strcpy(name, last);
        strcpy(last, line);
    }
    int status = pclose(out);
    if (status != 0)
        fail_msg("%s ended with status %x, after\n%s%s", target, (unsigned)status, name, last);
}

TEST(every_target_takes_its_seeds) {
    char programs[PATH_MAX], seeds[PATH_MAX], program[PATH_MAX + 300];
    struct lb_err err = {0};
    struct dirent *entry;
    int count = 0;
    find_programs(programs);
    assert_int_equal(home_path("bench/tests/fuzz/seeds", seeds, sizeof seeds, &err), 0);
    DIR *folder = opendir(seeds);
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.') continue;
        snprintf(program, sizeof program, "%s/replay_%s", programs, entry->d_name);
        if (access(program, X_OK) != 0 && !in_ci()) {
            print_message("skipped: %s: built without its client library\n", entry->d_name);
            continue;
        }
        replay(programs, seeds, entry->d_name);
        count++;
    }
    closedir(folder);
    assert_true(count > 0);
}

TEST_MAIN(NULL, NULL)
