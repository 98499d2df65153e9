/* test_home: where the program finds its folders. */

#include <limits.h>
#include <sys/stat.h>

#include "bench/base/home.h"
#include "bench/tests/unit.h"

TEST(a_test_finds_the_project_from_its_build_folder) {
    char path[PATH_MAX];
    struct lb_err err = {0};
    unsetenv("LOCKBENCH_HOME");
    assert_int_equal(home_path("workloads/compare.ini", path, sizeof path, &err), 0);
    assert_int_equal(path[0], '/');
    assert_int_equal(access(path, R_OK), 0);
    assert_int_equal(home_path("", path, sizeof path, &err), 0);
    assert_int_not_equal(path[strlen(path) - 1], '/');
}

TEST(the_environment_overrides) {
    char folder[] = "/tmp/lockbench-test-XXXXXX", path[PATH_MAX], marker[PATH_MAX],
         wanted[PATH_MAX];
    struct lb_err err = {0};
    assert_non_null(mkdtemp(folder));
    setenv("LOCKBENCH_HOME", folder, 1);
    int without = home_path("compose", path, sizeof path, &err);
    snprintf(marker, sizeof marker, "%s/workloads", folder);
    mkdir(marker, 0700);
    snprintf(marker, sizeof marker, "%s/workloads/compare.ini", folder);
    fclose(fopen(marker, "w"));
    struct lb_err none = {0};
    int with = home_path("compose", path, sizeof path, &none);
    unlink(marker);
    snprintf(marker, sizeof marker, "%s/workloads", folder);
    rmdir(marker);
    rmdir(folder);
    unsetenv("LOCKBENCH_HOME");

    assert_int_equal(without, -1);
    assert_int_equal(err.code, LB_EXIT_MACHINE);
    assert_non_null(strstr(err.text, "LOCKBENCH_HOME"));
    assert_int_equal(with, 0);
    snprintf(wanted, sizeof wanted, "%s/compose", folder);
    assert_string_equal(path, wanted);
}

TEST(a_short_buffer_is_an_error) {
    char path[8] = "before";
    struct lb_err err = {0};
    assert_int_equal(home_path("workloads", path, sizeof path, &err), -1);
    assert_string_equal(path, "before");
}

TEST_MAIN(NULL, NULL)
