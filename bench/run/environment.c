/* environment: see environment.h. */
#define _GNU_SOURCE
#include "bench/run/environment.h"

#include <gnu/libc-version.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/base/processors.h"
#include "bench/run/machine.h"

/* The first line of a file, or null. */
static json_t *line_of(const char *path) {
    char line[256] = "";
    FILE *file = fopen(path, "re");
    if (!file) return json_null();
    char *got = fgets(line, sizeof line, file);
    fclose(file);
    if (!got) return json_null();
    line[strcspn(line, "\n")] = '\0';
    return json_string(line);
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
        "{s:o, s:s, s:o, s:i, s:i, s:I, s:o, s:s, s:s, s:s, s:i}", "hostname_hash", host_hash(),
        "kernel", text, "cpu_model", field_of("/proc/cpuinfo", "model name"), "cpus",
        processors.online, "cpus_usable", processors_usable(&processors), "memory_bytes",
        (json_int_t)sysconf(_SC_PHYS_PAGES) * (json_int_t)sysconf(_SC_PAGESIZE), "clock_source",
        line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"), "libc",
        gnu_get_libc_version(), "compiler", __VERSION__, "build", build, "timer_slack_ns", 1);
    if (environment) machine_describe(environment, "");
    return environment;
}

void environment_add_advised(const json_t *environment, char *text, size_t size) {
    const json_t *advice = json_object_get(environment, "advice"), *sentence;
    char name[100];
    size_t i;
    json_array_foreach(advice, i, sentence) {
        const char *words = json_string_value(sentence);
        size_t used = strlen(text);
        if (!words) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(words, ":"), words);
        if (!*name || strstr(text, name)) continue;
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
    }
}
