/* machine: see machine.h. */
#define _GNU_SOURCE

#include "bench/stage/machine.h"

#include <gnu/libc-version.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/processors.h"

/* The first line of a small file; false if it can't be read. */
static bool first_line(const char *root, const char *path, char *line, size_t size) {
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    FILE *file = fopen(whole, "re");
    line[0] = '\0';
    bool got = file && fgets(line, (int)size, file);
    if (file) fclose(file);
    line[strcspn(line, "\n")] = '\0';
    return got && *line;
}

static json_t *line_of(const char *path) {
    char line[256];
    return first_line("", path, line, sizeof line) ? json_string(line) : json_null();
}

/* The value of the first "name : value" line of a /proc file, or null. */
static json_t *field_of(const char *path, const char *name) {
    char line[512];
    json_t *value = json_null();
    FILE *file = fopen(path, "re");
    if (!file) return value;
    while (json_is_null(value) && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, name, strlen(name)) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        value = json_string(colon + 1 + strspn(colon + 1, " \t"));
    }
    fclose(file);
    return value ? value : json_null();
}

/* Tells two machines apart without naming one: FNV-1a of the host's name. */
static json_t *host_hash(void) {
    char name[256] = "", text[20];
    gethostname(name, sizeof name - 1);
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    snprintf(text, sizeof text, "%08x", (unsigned)(hash ^ (hash >> 32)));
    return json_string(text);
}

json_t *environment_json(void) {
    struct utsname kernel;
    char text[sizeof kernel.sysname + sizeof kernel.release + sizeof kernel.machine + 4] = "";
    if (uname(&kernel) == 0)
        snprintf(text, sizeof text, "%s %s %s", kernel.sysname, kernel.release, kernel.machine);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const char *build = "sanitizer: figures mean nothing";
#elif defined(__OPTIMIZE__)
    const char *build = "optimized";
#else
    const char *build = "not optimized";
#endif
    struct processors processors = processors_look();
    json_t *environment = json_pack(
        "{s:o, s:s, s:o, s:i, s:i, s:I, s:o, s:s, s:s, s:s}", "hostname_hash", host_hash(),
        "kernel", text, "cpu_model", field_of("/proc/cpuinfo", "model name"), "cpus",
        processors.online, "cpus_usable", processors_usable(&processors), "memory_bytes",
        (json_int_t)sysconf(_SC_PHYS_PAGES) * (json_int_t)sysconf(_SC_PAGESIZE), "clock_source",
        line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"), "libc",
        gnu_get_libc_version(), "compiler", __VERSION__, "build", build);
    if (environment) machine_describe(environment, "");
    return environment;
}

#define SHARE 0.02
#define LEAST_NS (50 * LB_MS_NS)

int64_t steal_read_ns(const char *line, long ticks_per_s) {
    unsigned long long ticks;
    /* user nice system idle iowait irq softirq steal */
    if (ticks_per_s <= 0 || sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
        return -1;
    return (int64_t)((double)ticks / (double)ticks_per_s * 1e9);
}

int64_t steal_now_ns(void) {
    char line[256];
    if (!first_line("", "/proc/stat", line, sizeof line)) return -1;
    return steal_read_ns(line, sysconf(_SC_CLK_TCK));
}

int64_t steal_between_ns(int64_t begin_ns, int64_t end_ns) {
    if (begin_ns < 0 || end_ns < 0) return -1;
    return end_ns > begin_ns ? end_ns - begin_ns : 0; /* kernels have been seen to count back */
}

bool steal_shows(int64_t stolen_ns, int64_t took_ns) {
    return stolen_ns >= LEAST_NS && (double)stolen_ns > SHARE * (double)took_ns;
}

#define APART_NS (WALL_STEP_NS / 10) /* between the readings of a pair */

void wall_note(struct wall *wall, int64_t monotonic_ns, int64_t wall_ns) {
    int64_t offset_ns = wall_ns - monotonic_ns;
    int64_t step_ns = wall->offset_ns ? offset_ns - wall->offset_ns : 0;
    wall->offset_ns = offset_ns;
    if (llabs(step_ns) < WALL_STEP_NS) return;
    wall->step_ns += step_ns;
    if (llabs(step_ns) > wall->largest_ns) wall->largest_ns = llabs(step_ns);
}

void wall_look(struct wall *wall) {
    int64_t before_ns = lb_now(), wall_ns = lb_wall_now();
    if (lb_now() - before_ns < APART_NS) wall_note(wall, before_ns, wall_ns);
}

void server_use_begin(struct server_use *use, struct topo *topo) {
    *use = (struct server_use){.topo = topo, .alone_memory_bytes = -1};
    if (topo) use->alone_memory_bytes = topo_memory_bytes(topo);
}

/* NAN when one of the two is not known. */
static double growth(int64_t from, int64_t to) {
    return from < 0 || to < 0 ? NAN : (double)(to - from);
}

void server_use_ready(struct server_use *use, struct stage *stage) {
    if (!use->topo) return;
    topo_use_take(use->topo, &use->ready);
    stage->sessions_memory_bytes = growth(use->alone_memory_bytes, use->ready.memory_bytes);
}

void server_use_drained(const struct server_use *use, struct stage *stage) {
    struct topo_use now;
    if (!use->topo || stage->faults.servers_touched) return;
    topo_use_take(use->topo, &now);
    if (now.memory_bytes >= 0) stage->result.server_memory_bytes = (double)now.memory_bytes;
    stage->written_bytes = growth(use->ready.written_bytes, now.written_bytes);
    stage->fsyncs = growth(use->ready.fsyncs, now.fsyncs);
}

#define BUSY_BEFORE 0.3 /* of a processor: more than that was wanted by others */

/* Describes what was seen, with the arguments of printf. */
#define DETAIL(fact, ...) snprintf((fact)->detail, sizeof(fact)->detail, __VA_ARGS__)

__attribute__((format(printf, 2, 3))) static void advise(struct machine_fact *fact,
                                                         const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(fact->advice, sizeof fact->advice, format, args);
    va_end(args);
    fact->spoils = true;
}

static void look_governor(const char *root, struct machine_fact *fact) {
    char line[64];
    if (!first_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line,
                    sizeof line))
        return;
    fact->value = json_string(line);
    DETAIL(fact, "%s", line);
    if (strcmp(line, "performance") == 0) return;
    DETAIL(fact, "%s: the clock rate follows the load, so light load looks slow", line);
    advise(fact, "as root: cpupower frequency-set -g performance");
}

static void look_turbo(const char *root, struct machine_fact *fact) {
    static const char *const paths[] = {"/sys/devices/system/cpu/intel_pstate/no_turbo",
                                        "/sys/devices/system/cpu/cpufreq/boost"};
    char line[16];
    int which = first_line(root, paths[0], line, sizeof line) ? 0 : 1;
    if (which == 1 && !first_line(root, paths[1], line, sizeof line)) return;
    bool on = strcmp(line, which == 0 ? "0" : "1") == 0;
    fact->value = json_boolean(on);
    DETAIL(fact, "off");
    if (!on) return;
    DETAIL(fact, "on: the clock rate follows the heat and the number of busy cores");
    advise(fact, "as root: echo %d > %s", which == 0, paths[which]);
}

static void look_affinity(const char *root, struct machine_fact *fact) {
    struct processors seen = processors_look();
    (void)root; /* the affinity comes from the kernel, not from a file */
    fact->value = json_integer(seen.allowed);
    DETAIL(fact, "%d of %d processors may be used", seen.allowed, seen.online);
    if (seen.allowed > 1) return;
    DETAIL(fact, "1 of %d processors may be used: clients and servers take turns on it",
           seen.online);
    advise(
        fact,
        "allow two or more (taskset, cpusets, mpirun --bind-to none), or measure servers elsewhere: --url");
}

static void look_quota(const char *root, struct machine_fact *fact) {
    char cgroup[PATH_MAX], mount[PATH_MAX];
    snprintf(cgroup, sizeof cgroup, "%s/proc/self/cgroup", root);
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
    double quota = processors_quota(cgroup, mount);
    DETAIL(fact, "none");
    if (quota <= 0) return;
    fact->value = json_real(quota);
    DETAIL(fact, "the time of %.3g processors: beyond it everything stands still for up to 100 ms",
           quota);
    advise(fact, "lift the limit of the container or the service (cpu.max, CPUQuota=)");
}

/* Processes of other sessions (PostgreSQL's backends lead one each) may then wait for seconds while
 * others are busy: up to 12 s were seen with Linux 6.18 on two processors. */
static void look_autogroup(const char *root, struct machine_fact *fact) {
    char line[16];
    if (!first_line(root, "/proc/sys/kernel/sched_autogroup_enabled", line, sizeof line)) return;
    fact->value = json_string(line);
    DETAIL(fact, "by processes");
    if (strcmp(line, "1") != 0) return;
    DETAIL(fact,
           "by sessions (autogroups): on a busy machine processes may stand still for seconds");
    advise(fact, "as root: sysctl kernel.sched_autogroup_enabled=0");
}

static void look_load(const char *root, struct machine_fact *fact) {
    char line[100];
    struct processors seen = processors_look();
    if (!first_line(root, "/proc/loadavg", line, sizeof line)) return;
    double load = strtod(line, NULL);
    fact->value = json_real(load);
    bool busy = load > BUSY_BEFORE * seen.online;
    DETAIL(fact, "%.2f in the last minute, for %d processors%s", load, seen.online,
           busy ? ": something else was busy" : "");
    if (busy) advise(fact, "end the other programs, or measure later");
}

const struct machine_check machine_checks[] = {
    {"governor", "cpu governor", look_governor},
    {"turbo", "turbo", look_turbo},
    {"cpus_allowed", "affinity", look_affinity},
    {"cpu_quota", "cpu quota", look_quota},
    {"sched_autogroup", "scheduler", look_autogroup},
    {"load_before", "load", look_load},
    {NULL, NULL, NULL},
};

struct machine_fact machine_look(const struct machine_check *check, const char *root) {
    struct machine_fact fact = {0};
    DETAIL(&fact, "not visible (usual in virtual machines and containers)");
    check->look(root, &fact);
    return fact;
}

void machine_describe(json_t *environment, const char *root) {
    json_t *advice = json_array();
    for (const struct machine_check *check = machine_checks; check->name; check++) {
        struct machine_fact fact = machine_look(check, root);
        if (fact.spoils)
            json_array_append_new(
                advice, json_sprintf("%s: %s: %s", check->name, fact.detail, fact.advice));
        json_object_set_new(environment, check->key, fact.value ? fact.value : json_null());
    }
    json_object_set_new(environment, "advice", advice);
}
