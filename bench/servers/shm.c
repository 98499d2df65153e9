/* shm: see shm.h. It never removes a segment that is attached, or a file whose name is not one of
 * PostgreSQL's. */
#include "bench/servers/shm.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/servers/proc.h"

#define OBJECTS "/dev/shm/PostgreSQL."
#define DETACH_NS (10 * LB_S_NS) /* limit of the wait for the end of killed processes */

static void add_item(struct shm_list *list, const struct shm_item *item) {
    for (int i = 0; i < list->count; i++) {
        if (list->items[i].segment == item->segment &&
            strcmp(list->items[i].object, item->object) == 0)
            return;
    }
    if (list->count < SHM_ITEMS_MAX) list->items[list->count++] = *item;
}

static void add_segments(const struct proc *procs, int count, struct shm_list *list) {
    FILE *table = fopen("/proc/sysvipc/shm", "re");
    if (!table) return;
    char line[512];
    while (fgets(line, sizeof line, table)) {
        struct shm_item item = {0};
        int maker;
        /* "key shmid perms size cpid ..." */
        if (sscanf(line, "%*d %d %*o %*u %d", &item.segment, &maker) != 2) continue;
        for (int i = 0; i < count; i++) {
            if (procs[i].pid == maker) add_item(list, &item);
        }
    }
    fclose(table);
}

static void add_object(const char *path, struct shm_list *list) {
    struct shm_item item = {0};
    if (strncmp(path, OBJECTS, strlen(OBJECTS)) != 0 || strlen(path) >= sizeof item.object) return;
    if (path[strlen(OBJECTS) + strspn(path + strlen(OBJECTS), "0123456789")]) return;
    snprintf(item.object, sizeof item.object, "%s", path);
    add_item(list, &item);
}

static void add_mapped(pid_t pid, struct shm_list *list) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (!maps) return;
    while (fgets(line, sizeof line, maps)) {
        line[strcspn(line, "\n")] = '\0';
        if (strchr(line, '/')) add_object(strchr(line, '/'), list);
    }
    fclose(maps);
}

/* Adds the objects that the process has open as files: an object that was made but not mapped yet. */
static void add_open(pid_t pid, struct shm_list *list) {
    char path[320], target[320];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)pid, entry->d_name);
        ssize_t len = readlink(path, target, sizeof target - 1);
        target[len > 0 ? len : 0] = '\0';
        add_object(target, list);
    }
    if (dir) closedir(dir);
}

/* Adds the shared memory of the processes to the list. Call it while the processes are stopped and not reaped: later
 * it is not known to which process the memory belonged. */
static void shm_find(const struct proc *procs, int count, struct shm_list *list) {
    add_segments(procs, count, list);
    /* The owner of an object is known only by the process that has it open. If /proc does not show this (for a
     * process of another account, without root's rights), the object is left. */
    for (int i = 0; i < count; i++) {
        add_mapped(procs[i].pid, list);
        add_open(procs[i].pid, list);
    }
}

/* Removes the segment if no process has it attached. Returns whether it is still there. */
static bool segment_stays(int segment) {
    struct shmid_ds about;
    if (shmctl(segment, IPC_STAT, &about) != 0) return false;
    return about.shm_nattch > 0 || shmctl(segment, IPC_RMID, NULL) != 0;
}

void shm_remove(struct shm_list *list) {
    int64_t until_ns = lb_now() + DETACH_NS;
    for (int i = 0; i < list->count; i++) {
        const struct shm_item *item = &list->items[i];
        if (*item->object) unlink(item->object);
        while (!*item->object && segment_stays(item->segment) && lb_now() < until_ns)
            lb_nap(LB_MS_NS);
    }
    list->count = 0;
}

/* --- the end of a group --- */

#define STAND_NS LB_S_NS /* for SIGSTOP to act */

/* Finds the group's processes and their descendants, which may lead groups of their own, as PostgreSQL's
 * backends do. The processes of the last look stay on the list, because a process may have left the group
 * before it stopped. Replaces *procs, which the caller frees; leaves *procs if /proc can't be read. */
static void look_again(pid_t group, struct proc **procs, int *count) {
    int member_count = 0, found = 0, root_count = 0;
    struct proc *members = proc_group(group, &member_count), *all = NULL;
    pid_t *roots = calloc(1 + (size_t)member_count + (size_t)*count, sizeof *roots);
    if (members && roots) {
        roots[root_count++] = group; /* in its first moment the leader is not in its group yet */
        for (int i = 0; i < member_count; i++) roots[root_count++] = members[i].pid;
        for (int i = 0; i < *count; i++) roots[root_count++] = (*procs)[i].pid;
        all = proc_tree(roots, root_count, &found);
    }
    if (all) {
        free(*procs);
        *procs = all;
        *count = found;
    }
    free(roots);
    free(members);
}

/* Stops the processes that are not stopped yet. Returns whether all were already stopped. */
static bool stop_procs(const struct proc *procs, int count) {
    bool stood = true;
    for (int i = 0; i < count; i++) {
        if (proc_stands(procs[i].pid)) continue;
        kill(procs[i].pid, SIGSTOP);
        stood = false;
    }
    return stood;
}

void end_group(pid_t group, struct shm_list *shm) {
    struct proc *procs = NULL;
    int count = 0;
    look_again(group, &procs, &count);
    for (int64_t until_ns = lb_now() + STAND_NS;
         !stop_procs(procs, count) && lb_now() < until_ns;) {
        lb_nap(100 * LB_US_NS);
        look_again(group, &procs, &count);
    }
    shm_find(procs, count, shm);
    for (int i = 0; i < count; i++) kill(procs[i].pid, SIGKILL);
    free(procs);
    kill(-group, SIGKILL); /* works even if /proc can't be read */
}
