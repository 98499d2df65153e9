/* test_machine: conditions that spoil measurements, in made-up copies of /proc and /sys: each check
 * warns about a bad one, and is silent about a good one. How many processors we may use, by affinity and by the quota of
 * control groups. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/stat.h>

#include "bench/base/processors.h"
#include "bench/servers/folder.h"
#include "bench/stage/machine.h"
#include "bench/tests/unit.h"

static char root[128];

static void make_file(const char *name, const char *text) {
    char path[400];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static struct machine_fact look(const char *key) {
    const struct machine_check *check = machine_checks;
    while (check->name && strcmp(check->key, key) != 0) check++;
    if (!check->name) fail_msg("no check %s", key);
    return machine_look(check, root);
}

#define GOVERNOR "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"

TEST(each_check_warns_and_is_content) {
    static const struct {
        const char *key, *file, *bad, *good, *words;
    } cases[] = {
        {"governor", GOVERNOR, "powersave\n", "performance\n", "powersave: the clock rate"},
        {"turbo", "/sys/devices/system/cpu/cpufreq/boost", "1\n", "0\n", "on: the clock rate"},
        {"turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n", "1\n", "on: the clock"},
        {"cpu_quota", "/sys/fs/cgroup/cpu.max", "150000 100000\n", "max 100000\n",
         "1.5 processors"},
        {"sched_autogroup", "/proc/sys/kernel/sched_autogroup_enabled", "1\n", "0\n", "sessions"},
        {"load_before", "/proc/loadavg", "9000.5 1 1 1/1 1\n", "0.00 1 1 1/1 1\n", "was busy"},
    };
    make_file("/proc/self/cgroup", "0::/\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int bad = 1; bad >= 0; bad--) {
            make_file(cases[i].file, bad ? cases[i].bad : cases[i].good);
            struct machine_fact fact = look(cases[i].key);
            if (fact.spoils != bad) fail_msg("%s: %s", cases[i].key, fact.detail);
            if (bad && !strstr(fact.detail, cases[i].words))
                fail_msg("%s: %s", cases[i].key, fact.detail);
            assert_int_equal(*fact.advice != '\0', bad);
            json_decref(fact.value);
        }
    }
}

TEST(what_is_not_visible_is_null_and_no_warning) {
    json_t *environment = json_object();
    machine_describe(environment, "/nowhere");
    for (const struct machine_check *check = machine_checks; check->name; check++) {
        assert_non_null(json_object_get(environment, check->key));
        if (strcmp(check->key, "cpus_allowed") == 0) continue; /* the kernel says it */
        assert_true(json_is_null(json_object_get(environment, check->key)));
        assert_false(machine_look(check, "/nowhere").spoils);
    }
    json_decref(environment);
}

TEST(a_result_has_a_sentence_for_each) {
    json_t *environment = json_object();
    make_file(GOVERNOR, "powersave\n");
    machine_describe(environment, root);
    const json_t *advice = json_object_get(environment, "advice");
    assert_true(json_array_size(advice) >= 1);
    assert_string_equal(json_string_value(json_array_get(advice, 0)),
                        "cpu governor: powersave: the clock rate follows the load, so light load "
                        "looks slow: as root: cpupower frequency-set -g performance");
    json_decref(environment);
}

FIXTURE(make_root) {
    struct lb_err err = {0};
    return folder_make("/tmp", "machine-test", root, sizeof root, &err);
}

FIXTURE(remove_root) {
    return folder_remove(root);
}

/* ---- stolen time: a line of /proc/stat, whole and cut, and the threshold from which it shows ---- */

TEST(the_eighth_number_is_steal) {
    const char *line = "cpu  2510652 561949 1115231 2942995 23607 0 110172 306922 0 0\n";
    assert_int_equal(steal_read_ns(line, 100), 306922 * 10 * LB_MS_NS);
    assert_int_equal(steal_read_ns(line, 1000), 306922 * LB_MS_NS);
}

TEST(what_is_no_such_line_is_not_known) {
    assert_int_equal(steal_read_ns("", 100), -1);
    assert_int_equal(steal_read_ns("cpu  1 2 3 4\n", 100), -1); /* kernels before 2.6.11 */
    assert_int_equal(steal_read_ns("intr 1 2 3 4 5 6 7 8 9\n", 100), -1);
    assert_int_equal(steal_read_ns("cpu  1 2 3 4 5 6 7 8\n", 0), -1);
}

TEST(between_two_readings_time_never_goes_back) {
    assert_int_equal(steal_between_ns(LB_S_NS, 2 * LB_S_NS), LB_S_NS);
    assert_int_equal(steal_between_ns(2 * LB_S_NS, LB_S_NS), 0);
    assert_int_equal(steal_between_ns(-1, LB_S_NS), -1);
    assert_int_equal(steal_between_ns(LB_S_NS, -1), -1);
}

/* ---- processors ---- */

static void assert_quota(const char *cgroup, double quota) {
    char path[200];
    make_file("/self-cgroup", cgroup);
    snprintf(path, sizeof path, "%s/self-cgroup", root);
    double seen = processors_quota(path, root);
    if (seen < quota - 1e-9 || seen > quota + 1e-9) fail_msg("quota %g, not %g", seen, quota);
}

TEST(the_least_quota_of_the_groups_counts) {
    make_file("/work/job/cpu.max", "max 100000\n");
    assert_quota("0::/work/job\n", 0);
    make_file("/work/job/cpu.max", "250000 100000\n");
    assert_quota("0::/work/job\n", 2.5);
    make_file("/work/cpu.max", "50000 100000\n"); /* what is above limits, too */
    assert_quota("0::/work/job\n", 0.5);
    make_file("/cpu.max", "20000 100000\n"); /* in a container the mount itself is the group */
    assert_quota("0::/\n", 0.2);
    assert_quota("0::/gone\n", 0.2);
    assert_quota("", 0);
    assert_quota("nonsense\n1:\n", 0);
    assert_int_equal((int)processors_quota("/nowhere", root), 0);
}

static void assert_divided(const char *all, const char *clients, const char *servers) {
    cpu_set_t set, halves[2];
    char text[100];
    CPU_ZERO(&set);
    for (const char *at = all; *at; at += strspn(at, ",")) {
        CPU_SET((int)strtol(at, (char **)(uintptr_t)&at, 10), &set);
    }
    processors_divide(&set, root, &halves[0], &halves[1]);
    assert_string_equal(processors_text(&halves[0], text, sizeof text), clients);
    assert_string_equal(processors_text(&halves[1], text, sizeof text), servers);
}

/* Of eight, 0 and 4 are one core, as 1 and 5, ...; of others nothing is known. */
TEST(halves_have_whole_cores) {
    for (int i = 0; i < 8; i++) {
        char name[100], text[20];
        snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
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

TEST_MAIN(make_root, remove_root)
