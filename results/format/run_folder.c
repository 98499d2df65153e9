/* run_folder: see run_folder.h. */
#define _GNU_SOURCE
#include "results/format/run_folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int add_run(struct run ***runs, int *count, const char *path, struct lb_err *err) {
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

/* The folder of a comparison has two folders of runs. */
static bool has_sides(const char *folder) {
    char *base = NULL, *new = NULL;
    bool has = asprintf(&base, "%s/base", folder) >= 0 && asprintf(&new, "%s/new", folder) >= 0 &&
               is_folder(base) && is_folder(new);
    free(base);
    free(new);
    return has;
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
            failed = add_run(runs, count, inner, err);
        }
        free(inner);
        free(entries[i]);
    }
    free(entries);
    if (!failed && *count == before) {
        return err_set(err, LB_EXIT_USAGE,
                       "%s: neither a run nor a folder of runs: no run.json in it%s", path,
                       has_sides(path) ? ", but it has two sides: name its base or its new" : "");
    }
    return failed;
}

int run_read_all(const char *const *paths, int path_count, struct run ***runs, int *count,
                 struct lb_err *err) {
    for (int i = 0; i < path_count; i++) {
        bool many = is_folder(paths[i]) && !has_run(paths[i]);
        if ((many ? add_folder : add_run)(runs, count, paths[i], err) != 0) return -1;
    }
    return 0;
}
