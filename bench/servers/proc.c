/* proc: see proc.h. It changes nothing and signals no process. */
#include "bench/servers/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/base/clock.h"

/* Reads a file like /proc/PID/stat. The second field, the name, may contain blanks and brackets, so
 * parsing continues after the last ')'. */
static bool read_stat_at(const char *path, pid_t pid, struct proc *ret) {
    char text[1024];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    if (len <= 0) return false;
    text[len] = '\0';
    const char *rest = strrchr(text, ')');
    int parent, group;
    char state;
    uint64_t user, system, start;
    int64_t reaped_user, reaped_system;
    if (!rest ||
        sscanf(rest + 1,
               " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNd64
               " %" SCNd64 " %*d %*d %*d %*d %" SCNu64,
               &state, &parent, &group, &user, &system, &reaped_user, &reaped_system, &start) != 8)
        return false;
    int64_t tick_ns = LB_S_NS / sysconf(_SC_CLK_TCK);
    *ret = (struct proc){.pid = pid,
                         .parent = parent,
                         .group = group,
                         .state = state,
                         .start_ticks = start,
                         .used_ns = (int64_t)(user + system) * tick_ns,
                         .reaped_ns = (reaped_user + reaped_system) * tick_ns};
    return true;
}

static bool read_stat(pid_t pid, struct proc *ret) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return read_stat_at(path, pid, ret);
}

/* Returns all processes of the machine, unordered; NULL if /proc can't be read. */
static struct proc *read_all(int *ret_count) {
    DIR *dir = opendir("/proc");
    if (!dir) return NULL;
    struct proc *all = NULL;
    int count = 0, room = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        if (count == room) {
            room = room ? 2 * room : 256;
            struct proc *more = realloc(all, (size_t)room * sizeof *all);
            if (!more) break;
            all = more;
        }
        if (read_stat((pid_t)atoi(entry->d_name), &all[count])) count++;
    }
    closedir(dir);
    *ret_count = count;
    return all;
}

struct proc *proc_tree(const pid_t *roots, int count, int *ret_count) {
    int all_count = 0;
    struct proc *all = read_all(&all_count);
    if (!all) return NULL;
    /* Moves the tree to the front of the array, one generation in each pass. */
    int found = 0;
    for (int i = 0; i < all_count; i++) {
        for (int r = 0; r < count; r++) {
            if (all[i].pid != roots[r]) continue;
            struct proc swap = all[found];
            all[found++] = all[i];
            all[i] = swap;
            break;
        }
    }
    for (int parent = 0; parent < found; parent++) {
        for (int i = found; i < all_count; i++) {
            if (all[i].parent != all[parent].pid) continue;
            struct proc swap = all[found];
            all[found++] = all[i];
            all[i] = swap;
        }
    }
    *ret_count = found;
    return all;
}

int64_t proc_cpu_ns(const pid_t *roots, int count) {
    int found = 0;
    struct proc *tree = proc_tree(roots, count, &found);
    if (!tree) return -1;
    int64_t sum_ns = 0;
    for (int i = 0; i < found; i++) {
        /* The process's own clock is exact to the ns; /proc counts in ticks of 10 ms, too coarse
         * for a short stage. A process that has just ended has no clock any more. */
        clockid_t clock;
        struct timespec used;
        if (tree[i].state != 'Z' && clock_getcpuclockid(tree[i].pid, &clock) == 0 &&
            clock_gettime(clock, &used) == 0)
            sum_ns += (int64_t)used.tv_sec * LB_S_NS + used.tv_nsec;
        else
            sum_ns += tree[i].used_ns;
        sum_ns += tree[i].reaped_ns;
    }
    free(tree);
    return sum_ns;
}

bool proc_has_mapped(pid_t pid, const char *end) {
    char path[64], line[8192];
    bool found = false;
    size_t wanted = strlen(end);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        size_t len = strcspn(line, "\n");
        found = len >= wanted && strncmp(line + len - wanted, end, wanted) == 0;
    }
    if (maps) fclose(maps);
    return found;
}

int64_t proc_number_of(const char *text, const char *name) {
    size_t len = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        int64_t number;
        char unit[3] = "";
        line += *line == '\n';
        if (strncmp(line, name, len) != 0 || line[len] != ':') continue;
        if (sscanf(line + len + 1, "%" SCNd64 " %2[kB]", &number, unit) < 1) return -1;
        return strcmp(unit, "kB") == 0 ? number * 1024 : number;
    }
    return -1;
}

/* The number with this name in a file of /proc/PID; 0 if the process has just ended, -1 if the file can't be
 * read. */
static int64_t number_in(pid_t pid, const char *file, const char *name) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    bool ended = len < 0 && (errno == ESRCH || (errno == ENOENT && proc_start_ticks(pid) == 0));
    if (fd >= 0) close(fd);
    if (len <= 0) return ended ? 0 : -1;
    text[len] = '\0';
    return proc_number_of(text, name);
}

/* The sum of such numbers over the trees below roots; -1 if one of them can't be read. with_ended: includes
 * processes that have ended but were not reaped. */
static int64_t sum_of(const pid_t *roots, int count, bool with_ended, const char *file,
                      const char *name) {
    int found = 0;
    struct proc *tree = proc_tree(roots, count, &found);
    int64_t sum = tree && found > 0 ? 0 : -1;
    for (int i = 0; i < found && sum >= 0; i++) {
        if (tree[i].state == 'Z' && !with_ended) continue;
        int64_t number = number_in(tree[i].pid, file, name);
        sum = number < 0 ? -1 : sum + number;
    }
    free(tree);
    return sum;
}

int64_t proc_written_bytes(const pid_t *roots, int count, bool by_calls) {
    return sum_of(roots, count, true, "io", by_calls ? "wchar" : "write_bytes");
}

int64_t proc_memory_bytes(const pid_t *roots, int count) {
    return sum_of(roots, count, false, "smaps_rollup", "Pss");
}

struct proc *proc_group(pid_t group, int *ret_count) {
    int all_count = 0;
    *ret_count = 0;
    struct proc *all = read_all(&all_count);
    for (int i = 0; i < all_count; i++) {
        if (all[i].group == group) all[(*ret_count)++] = all[i];
    }
    return all;
}

uint64_t proc_start_ticks(pid_t pid) {
    struct proc proc;
    return read_stat(pid, &proc) ? proc.start_ticks : 0;
}

bool proc_group_runs(pid_t group) {
    int count = 0;
    struct proc *members = proc_group(group, &count);
    bool runs = false;
    for (int i = 0; i < count && !runs; i++) runs = members[i].state != 'Z';
    free(members);
    return runs;
}

bool proc_runs(pid_t pid) {
    struct proc proc;
    return read_stat(pid, &proc) && proc.state != 'Z' && proc.state != 'X';
}

bool proc_stands(pid_t pid) {
    char path[320];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    bool stands = true;
    for (struct dirent *entry; stands && dir && (entry = readdir(dir));) {
        struct proc thread;
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, entry->d_name);
        if (read_stat_at(path, pid, &thread)) stands = strchr("TtZX", thread.state) != NULL;
    }
    if (dir) closedir(dir);
    return stands;
}

/* --- signals --- */

void proc_signal_all(const struct proc *tree, int count, int signal) {
    for (int i = 0; i < count; i++) kill(tree[i].pid, signal);
    int64_t limit_ns = lb_now() + LB_S_NS;
    for (int i = 0; i < count && signal == SIGSTOP; i++) {
        while (!proc_stands(tree[i].pid) && lb_now() < limit_ns) lb_nap(100 * LB_US_NS);
    }
}

struct proc *proc_hold_tree(pid_t root, bool stand, int *ret_count) {
    const struct proc head = {.pid = root};
    if (stand) proc_signal_all(&head, 1, SIGSTOP);
    struct proc *tree = proc_tree(&root, 1, ret_count);
    int error = errno;
    if (!tree && stand) kill(root, SIGCONT);
    errno = error;
    return tree;
}

int proc_signal_tree(pid_t root, int signal) {
    int count = 0;
    struct proc *tree = proc_hold_tree(root, signal == SIGSTOP, &count);
    if (!tree) return -1;
    proc_signal_all(tree, count, signal);
    free(tree);
    return 0;
}
