/* compare_read: the runs of both sides, from folders and files. It refuses a run that is given
 * twice: such a run is one sample, and compared with itself it would never show a change. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/compare/compare_parts.h"

static int add_compared_run(struct run ***runs, int *count, const char *path, struct lb_err *err) {
    struct run **more = realloc(*runs, (size_t)(*count + 1) * sizeof **runs);
    if (!more) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *runs = more;
    more[*count] = run_read(path, err);
    if (!more[*count]) return -1;
    ++*count;
    return 0;
}

static bool has_run(const char *folder) {
    char *file = NULL;
    bool has = asprintf(&file, "%s/run.json", folder) >= 0 && access(file, F_OK) == 0;
    free(file);
    return has;
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Uses lstat, because not every file system fills in d_type. */
static bool is_link(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* A folder without a run.json of its own is a folder of runs. Links (results/latest) are skipped,
 * because they would count a run twice. */
static int add_folder(struct run ***runs, int *count, const char *path, struct lb_err *err) {
    struct dirent **entries = NULL;
    int found = scandir(path, &entries, NULL, alphasort), before = *count, failed = 0;
    for (int i = 0; i < found; i++) {
        char *inner = NULL;
        if (!failed && entries[i]->d_name[0] != '.' &&
            asprintf(&inner, "%s/%s", path, entries[i]->d_name) >= 0 && !is_link(inner) &&
            has_run(inner)) {
            failed = add_compared_run(runs, count, inner, err);
        }
        free(inner);
        free(entries[i]);
    }
    free(entries);
    if (!failed && *count == before) {
        return err_set(err, LB_EXIT_USAGE,
                       "%s: neither a run nor a folder of runs: no run.json in it", path);
    }
    return failed;
}

int compare_read_side(const char *const *paths, int path_count, struct run ***runs, int *count,
                      struct lb_err *err) {
    for (int i = 0; i < path_count; i++) {
        bool many = is_folder(paths[i]) && !has_run(paths[i]);
        if ((many ? add_folder : add_compared_run)(runs, count, paths[i], err) != 0) return -1;
    }
    return 0;
}

/* The identity of a run's file, whatever path led to it. */
struct known {
    dev_t device;
    ino_t inode;
    const char *path;
    bool new;
};

static int by_file(const void *a, const void *b) {
    const struct known *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

int compare_check_runs(const struct compare *compare, struct lb_err *err) {
    int all = compare->base_count + compare->new_count, count = 0, failed = 0;
    struct known *known = malloc((size_t)all * sizeof *known);
    if (!known) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; i < all; i++) {
        bool new = i >= compare->base_count;
        const char *path = (new ? compare->new[i - compare->base_count] : compare->base[i])->path;
        struct stat status;
        if (stat(path, &status) != 0) continue; /* the file was there a moment ago */
        known[count++] = (struct known){status.st_dev, status.st_ino, path, new};
    }
    qsort(known, (size_t)count, sizeof *known, by_file);
    for (int i = 1; i < count && !failed; i++) {
        if (by_file(&known[i - 1], &known[i]) != 0) continue;
        bool across = known[i - 1].new != known[i].new;
        failed = err_set(err, LB_EXIT_USAGE, "compare: %s: the same run %s", known[i].path,
                         across ? "is on both sides, so no change could ever show"
                                : "is named twice on one side: it is one sample");
    }
    free(known);
    return failed;
}
