/* processors: see processors.h. */
#define _GNU_SOURCE
#include "bench/base/processors.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_MOST 8192

/* The one or two numbers of a small file; "max" reads as -1. False if there is no such file. */
static bool read_numbers(const char *folder, const char *name, double ret[2]) {
    char path[PATH_MAX + 32], line[100] = "", *end;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool got = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    ret[0] = strtod(line, &end);
    if (end == line) {
        ret[0] = -1;
        end = line + strcspn(line, " ");
    }
    ret[1] = strtod(end, NULL);
    return got;
}

/* The quota of one control group, "QUOTA PERIOD"; 0 = none. */
static double quota_of(const char *folder) {
    double quota[2];
    bool known = read_numbers(folder, "cpu.max", quota) && quota[0] > 0 && quota[1] > 0;
    return known ? quota[0] / quota[1] : 0;
}

/* The least of a group and of all above it, up to the mount. */
static double least_quota(const char *mount, const char *group) {
    char folder[PATH_MAX];
    double least = 0;
    snprintf(folder, sizeof folder, "%s%s", mount, group);
    for (size_t above = strlen(mount); strlen(folder) >= above;) {
        double quota = quota_of(folder);
        if (quota > 0 && (least == 0 || quota < least)) least = quota;
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) break;
        *slash = '\0';
    }
    return least;
}

double processors_quota(const char *cgroup, const char *root) {
    char line[PATH_MAX];
    double least = 0;
    FILE *file = fopen(cgroup, "re");
    while (file && fgets(line, sizeof line, file)) { /* 0::/GROUP */
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) == 0)
            least = least_quota(root, strcmp(line + 3, "/") == 0 ? "" : line + 3);
    }
    if (file) fclose(file);
    return least;
}

/* By the affinity; a machine may have more processors than a cpu_set_t has room for. */
static int count_allowed(int online) {
    cpu_set_t *set = CPU_ALLOC(CPUS_MOST);
    size_t bytes = CPU_ALLOC_SIZE(CPUS_MOST);
    int count = set && sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : online;
    if (set) CPU_FREE(set);
    return count < online ? count : online;
}

static int allowed_before; /* processors_bind; 0 = it was not called */

int processors_bind(const cpu_set_t *set) {
    int allowed = count_allowed(CPUS_MOST);
    if (sched_setaffinity(0, sizeof *set, set) != 0) return -1;
    allowed_before = allowed;
    return 0;
}

/* The first processor of the same core. */
static int core_of(const char *root, int processor) {
    char folder[PATH_MAX];
    double first[2];
    snprintf(folder, sizeof folder, "%s/sys/devices/system/cpu/cpu%d/topology", root, processor);
    return read_numbers(folder, "thread_siblings_list", first) ? (int)first[0] : processor;
}

void processors_divide(const cpu_set_t *all, const char *root, cpu_set_t *ret_clients,
                       cpu_set_t *ret_servers) {
    int half = CPU_COUNT(all) / 2;
    CPU_ZERO(ret_clients);
    for (int first = 0; first < CPU_SETSIZE; first++) {
        int core = CPU_ISSET(first, all) ? core_of(root, first) : -1;
        for (int i = first; core >= 0 && i < CPU_SETSIZE && CPU_COUNT(ret_clients) < half; i++)
            if (CPU_ISSET(i, all) && (i == first || core_of(root, i) == core))
                CPU_SET(i, ret_clients);
    }
    CPU_XOR(ret_servers, all, ret_clients);
}

char *processors_text(const cpu_set_t *set, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < CPU_SETSIZE && used < size; i++) {
        int last = i;
        if (!CPU_ISSET(i, set)) continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set)) last++;
        used += (size_t)snprintf(text + used, size - used, "%s%d", used ? "," : "", i);
        if (last > i && used < size)
            used += (size_t)snprintf(text + used, size - used, "-%d", last);
        i = last;
    }
    return text;
}

struct processors processors_look(void) {
    int online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return (struct processors){.online = online,
                               .allowed = allowed_before ? allowed_before : count_allowed(online),
                               .quota = processors_quota("/proc/self/cgroup", "/sys/fs/cgroup")};
}

int processors_usable(const struct processors *processors) {
    int usable = processors->allowed;
    if (processors->quota > 0 && ceil(processors->quota) < usable)
        usable = (int)ceil(processors->quota);
    return usable > 1 ? usable : 1;
}
