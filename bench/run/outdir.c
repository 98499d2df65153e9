/* outdir: see outdir.h. */
#define _GNU_SOURCE
#include "bench/run/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "results/format/write.h"

static int path_error(struct lb_err *err, const char *what, const char *path) {
    return err_set(err, LB_EXIT_MACHINE, "cannot %s %s: %s", what, path, strerror(errno));
}

/* Makes a folder and those that it lies in. path: as it was when this returns. */
static int make_folders(char *path, struct lb_err *err) {
    for (char *at = path + 1;; at++) {
        if (*at && *at != '/') continue;
        char end = *at;
        *at = '\0';
        int failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        if (failed) path_error(err, "make", path);
        *at = end;
        if (failed || !end) return failed ? -1 : 0;
    }
}

/* Whether there is a root/latest that lockbench has not made: it makes links only. */
static bool latest_is_theirs(const char *root) {
    char path[600];
    struct stat status;
    snprintf(path, sizeof path, "%s/latest", root);
    return lstat(path, &status) == 0 && !S_ISLNK(status.st_mode);
}

/* Whether this is the run.json of a run that ended before any stage began. (Without an end it may be that of a run that
 * begins at this moment.) */
static bool has_no_stages(const char *path) {
    json_t *run = json_load_file(path, 0, NULL);
    const json_t *stages = json_object_get(run, "stages");
    bool none = json_is_array(stages) && json_array_size(stages) == 0 &&
                json_is_string(json_object_get(run, "ended_at"));
    json_decref(run);
    return none;
}

/* Refuses a folder that has results. */
static int check_empty(const char *wanted, struct lb_err *err) {
    /* of a run, of a check, of a search, and of several runs (cli/repeat.h), which one more would be mixed with */
    static const char *const results[] = {"run.json",      "check.json",       "compare.json",
                                          "capacity.json", "base/00/run.json", "base/000/run.json"};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        char old[600];
        snprintf(old, sizeof old, "%s/%s", wanted, results[i]);
        if (access(old, F_OK) != 0 || (has_no_stages(old) && unlink(old) == 0)) continue;
        return err_set(err, LB_EXIT_USAGE, "--out %s: there is a %s already; name a new folder",
                       wanted, results[i]);
    }
    return 0;
}

/* Makes the folder of --out. */
static int make_wanted(struct outdir *out, const char *wanted, struct lb_err *err) {
    if (strlen(wanted) >= sizeof out->path)
        return err_set(err, LB_EXIT_USAGE, "--out: the path is too long");
    snprintf(out->path, sizeof out->path, "%s", wanted);
    return check_empty(wanted, err) != 0 || make_folders(out->path, err) != 0 ? -1 : 0;
}

/* The folder can't be made, for example because the checkout belongs to another user. */
static int cannot_make(struct lb_err *err, const char *path) {
    return err_set(err, LB_EXIT_MACHINE, "cannot make %s: %s; name another folder: --out DIR", path,
                   strerror(errno));
}

int outdir_make(struct outdir *out, const char *wanted, const char *root, const char *workload,
                struct lb_err *err) {
    *out = (struct outdir){.root = ""};
    if (wanted) return make_wanted(out, wanted, err);
    if (mkdir(root, 0777) != 0 && errno != EEXIST) return cannot_make(err, root);
    if (latest_is_theirs(root))
        return err_set(err, LB_EXIT_MACHINE,
                       "%s/latest is no link of lockbench's: move it away, or use --out DIR", root);
    char stamp[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    for (int i = 1; i < 1000; i++) {
        char more[8] = "";
        if (i > 1) snprintf(more, sizeof more, "-%d", i);
        int used = snprintf(out->path, sizeof out->path, "%s/%s-%s%s", root, stamp, workload, more);
        if (used < 0 || (size_t)used >= sizeof out->path)
            return err_set(err, LB_EXIT_USAGE, "%s: path too long", root);
        if (mkdir(out->path, 0777) == 0) {
            snprintf(out->root, sizeof out->root, "%s", root);
            return 0;
        }
        if (errno != EEXIST) return cannot_make(err, out->path);
    }
    return err_set(err, LB_EXIT_MACHINE, "too many runs in %s in this second", root);
}

void outdir_latest(const struct outdir *out) {
    if (!out->root[0] || latest_is_theirs(out->root)) return;
    char link[600], fresh[600];
    snprintf(link, sizeof link, "%s/latest", out->root);
    snprintf(fresh, sizeof fresh, "%s/.latest-%d", out->root, (int)getpid());
    const char *name = strrchr(out->path, '/') + 1;
    unlink(fresh);
    if (symlink(name, fresh) != 0 || rename(fresh, link) != 0) unlink(fresh);
}

int outdir_write(const struct outdir *out, const json_t *run, struct lb_err *err) {
    char path[600];
    snprintf(path, sizeof path, "%s/run.json", out->path);
    return result_write_file(run, path, err) == 0 ? 0 : -1;
}

int outdir_rescue(const json_t *result, const char *kind, char *ret_path, size_t size,
                  struct lb_err *err) {
    const char *base = getenv("TMPDIR");
    /* The first three are often on one disk with the results. /dev/shm is in memory: it has room when the disk is full,
     * and lasts until the machine stops. */
    const char *const folders[] = {base && base[0] ? base : "/tmp", "/tmp", "/var/tmp", ".",
                                   "/dev/shm"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/lockbench-%s-XXXXXX", folders[i], kind);
        int fd = mkostemp(path, O_CLOEXEC);
        if (fd < 0) {
            path_error(err, "write into", folders[i]);
            continue;
        }
        close(fd);
        if (result_write_plain(result, path, err) == 0) {
            snprintf(ret_path, size, "%s", path);
            return 0;
        }
        unlink(path);
    }
    return -1;
}
