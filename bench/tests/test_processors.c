/* test_processors: how many processors we may use, by affinity and by the quota of control groups. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/stat.h>

#include "bench/base/processors.h"
#include "bench/servers/folder.h"
#include "bench/tests/unit.h"

static char folder[128];

/* "<folder>/<name>", with this content; good until the next call. */
static const char *make_file(const char *name, const char *text) {
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void assert_quota(const char *cgroup, double quota) {
    const char *path = make_file("self-cgroup", cgroup);
    double seen = processors_quota(path, folder);
    if (seen < quota - 1e-9 || seen > quota + 1e-9) fail_msg("quota %g, not %g", seen, quota);
}

TEST(a_quota_of_version_2) {
    make_file("work/job/cpu.max", "max 100000\n");
    assert_quota("0::/work/job\n", 0);
    make_file("work/job/cpu.max", "250000 100000\n");
    assert_quota("0::/work/job\n", 2.5);
    make_file("work/cpu.max", "50000 100000\n"); /* what is above limits, too */
    assert_quota("0::/work/job\n", 0.5);
    make_file("cpu.max", "20000 100000\n"); /* in a container the mount itself is the group */
    assert_quota("0::/\n", 0.2);
    assert_quota("0::/gone\n", 0.2);
}

TEST(a_quota_of_version_1) {
    make_file("cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
    make_file("cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
    assert_quota("4:memory:/x\n1:cpu,cpuacct:/box\n", 0);
    make_file("cpu,cpuacct/box/cpu.cfs_quota_us", "150000\n");
    assert_quota("4:memory:/x\n1:cpu,cpuacct:/box\n", 1.5);
    assert_quota("2:cpuacct:/box\n", 0);
    assert_quota("", 0);
    assert_quota("nonsense\n1:\n", 0);
    assert_int_equal((int)processors_quota("/nowhere", folder), 0);
}

static void assert_divided(const char *all, const char *clients, const char *servers) {
    cpu_set_t set, halves[2];
    char text[100];
    CPU_ZERO(&set);
    for (const char *at = all; *at; at += strspn(at, ",")) {
        CPU_SET((int)strtol(at, (char **)(uintptr_t)&at, 10), &set);
    }
    processors_divide(&set, folder, &halves[0], &halves[1]);
    assert_string_equal(processors_text(&halves[0], text, sizeof text), clients);
    assert_string_equal(processors_text(&halves[1], text, sizeof text), servers);
}

/* Of eight, 0 and 4 are one core, as 1 and 5, ...; of others nothing is known. */
TEST(halves_have_whole_cores) {
    for (int i = 0; i < 8; i++) {
        char name[100], text[20];
        snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 i);
        snprintf(text, sizeof text, "%d,%d\n", i % 4, i % 4 + 4);
        make_file(name, text);
    }
    assert_divided("0,1,2,3,4,5,6,7", "0-1,4-5", "2-3,6-7");
    assert_divided("1,2,5,6,7", "1,5", "2,6-7");
    assert_divided("10,11,12,13,14,20", "10-12", "13-14,20");
}

TEST(the_least_of_all_counts) {
    assert_int_equal(processors_usable(&(struct processors){64, 64, 0}), 64);
    assert_int_equal(processors_usable(&(struct processors){64, 2, 0}), 2);
    assert_int_equal(processors_usable(&(struct processors){64, 64, 2.5}), 3);
    assert_int_equal(processors_usable(&(struct processors){64, 64, 0.5}), 1);
    assert_int_equal(processors_usable(&(struct processors){64, 2, 8}), 2);
}

TEST(an_affinity_counts) {
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    struct processors seen = processors_look();
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(seen.allowed, 1);
    assert_int_equal(processors_usable(&seen), 1);
}

FIXTURE(make_folder) {
    struct lb_err err = {0};
    return folder_make("/tmp", "processors-test", folder, sizeof folder, &err);
}

FIXTURE(remove_folder) {
    return folder_remove(folder);
}

TEST_MAIN(make_folder, remove_folder)
