/* resident: see resident.h. */
#define _GNU_SOURCE
#include "bench/perf/resident.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/servers/proc.h"

#define LOOK_NS (250 * LB_MS_NS)

struct resident {
    char program[PATH_MAX];
    pthread_t thread;
    atomic_bool ends;
    int64_t most_kb;
};

static bool runs_program(const struct resident *resident, pid_t pid) {
    char link[40], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return false;
    path[length] = '\0';
    return strcmp(path, resident->program) == 0;
}

/* Its proportional share: pages that processes share are divided among them. 0 when it has ended. */
static int64_t share_kb(pid_t pid) {
    char path[50], line[200];
    long long kb = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && kb == 0 && fgets(line, sizeof line, file)) {
        if (strncmp(line, "Pss:", 4) == 0) kb = strtoll(line + 4, NULL, 10);
    }
    if (file) fclose(file);
    return kb;
}

static void look(struct resident *resident) {
    const pid_t self = getpid();
    int count = 0;
    int64_t kb = 0;
    struct proc *procs = proc_tree(&self, 1, &count);
    for (int i = 0; i < count; i++) {
        if (procs[i].pid != self && runs_program(resident, procs[i].pid))
            kb += share_kb(procs[i].pid);
    }
    free(procs);
    if (kb > resident->most_kb) resident->most_kb = kb;
}

static void *watch(void *arg) {
    struct resident *resident = arg;
    while (!atomic_load(&resident->ends)) {
        look(resident);
        lb_nap(LOOK_NS);
    }
    return NULL;
}

struct resident *resident_watch(const char *program, struct lb_err *err) {
    struct resident *resident = calloc(1, sizeof *resident);
    if (resident && realpath(program, resident->program) &&
        pthread_create(&resident->thread, NULL, watch, resident) == 0)
        return resident;
    err_set(err, LB_EXIT_MACHINE, "the memory of %s can't be watched", program);
    free(resident);
    return NULL;
}

int64_t resident_most_kb(struct resident *resident) {
    if (!resident) return 0;
    atomic_store(&resident->ends, true);
    pthread_join(resident->thread, NULL);
    int64_t most_kb = resident->most_kb;
    free(resident);
    return most_kb;
}
