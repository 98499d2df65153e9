/* page: see page.h. */
#define _GNU_SOURCE
#include "bench/cli/page.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/output.h"
#include "results/format/tree.h"

static int cannot_write(const char *path, struct lb_err *err) {
    return err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
}

int page_spare(const char *out, const char *read, struct lb_err *err) {
    if (!out || !tree_same_file(out, read)) return 0;
    return err_set(err, LB_EXIT_USAGE, "--out %s: would replace %s, which it is made from", out,
                   read);
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* True if a new file may be renamed to this path; false if the path is a device, a pipe, or our own output. */
static bool is_replaceable(const char *path) {
    struct stat status, ours;
    if (stat(path, &status) != 0) return lstat(path, &status) != 0; /* a link to nothing stays */
    if (fstat(STDOUT_FILENO, &ours) == 0 && same_file(&status, &ours)) return false;
    if (fstat(STDERR_FILENO, &ours) == 0 && same_file(&status, &ours)) return false;
    return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

static int render_to(FILE *out, const char *path, page_render_fn *render, const void *what,
                     struct lb_err *err) {
    int rc = render(what, out, err);
    if (rc != 0 && err->code == LB_EXIT_MACHINE) err_prefix(err, "%s", path);
    return rc ? -1 : 0;
}

/* Writes into the existing device, pipe or output, after everything that this program has already printed there. */
static int write_into(const char *path, page_render_fn *render, const void *what,
                      struct lb_err *err) {
    fflush(stdout);
    FILE *out = fopen(path, "ae");
    if (!out) return cannot_write(path, err);
    int rc = render_to(out, path, render, what, err);
    if (fclose(out) != 0 && rc == 0) rc = cannot_write(path, err);
    return rc;
}

/* path: the path for messages; real: the same path without links. */
static int replace(const char *path, const char *real, page_render_fn *render, const void *what,
                   struct lb_err *err) {
    struct output_file file;
    FILE *out = output_begin(&file, real);
    if (!out) return cannot_write(path, err);
    int rc = render_to(out, path, render, what, err);
    if (output_replace(&file, out, real, rc == 0) != 0 && rc == 0) rc = cannot_write(path, err);
    return rc;
}

int page_write(const char *path, page_render_fn *render, const void *what, struct lb_err *err) {
    if (!is_replaceable(path)) return write_into(path, render, what, err);
    char *real = realpath(path, NULL); /* a link stays a link */
    int rc = replace(path, real ? real : path, render, what, err);
    free(real);
    return rc;
}

int page_beside(const char *folder, page_render_fn *render, const void *what, struct lb_err *err) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/report.html", folder);
    /* A link there, which another account may have made, is replaced and not followed. */
    if (replace(path, path, render, what, err) != 0)
        return err_prefix(err, "the page could not be written");
    fprintf(stderr, "%s\n", path);
    return 0;
}
