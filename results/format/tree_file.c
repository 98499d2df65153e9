/* tree_file: finds and reads the file of a result; the readers of run.json, check.json and
 * capacity.json interpret the text. It refuses pipes, devices and files beyond a gigabyte, because
 * they would block the reader or fill its memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/format/tree.h"

#define FILE_BYTES_MAX ((off_t)1 << 30)

/* A whole regular file; a pipe or a device would have no end. */
char *tree_file(const char *path, const char *kind, const char *hint, size_t *ret_length,
                struct lb_err *err) {
    struct stat status;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        err_set(err, LB_EXIT_USAGE, "%s: cannot be read as %s (%s): name %s", path, kind,
                strerror(errno), hint);
        return NULL;
    }
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size > FILE_BYTES_MAX) {
        err_set(err, LB_EXIT_USAGE, "%s: is not a regular file of at most 1 GiB", path);
        goto out;
    }
    text = malloc((size_t)status.st_size + 1);
    if (!text) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto out;
    }
    size_t length = 0;
    while (length < (size_t)status.st_size) {
        ssize_t got = read(fd, text + length, (size_t)status.st_size - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
            free(text);
            text = NULL;
            goto out;
        }
        if (got == 0) break;
        length += (size_t)got;
    }
    text[length] = '\0';
    *ret_length = length;
out:
    close(fd);
    return text;
}

bool tree_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

char *tree_path(const char *path, const char *name, struct lb_err *err) {
    struct stat status;
    char *file = NULL;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    const char *slash = *path && path[strlen(path) - 1] == '/' ? "" : "/";
    int rc = folder ? asprintf(&file, "%s%s%s", path, slash, name) : asprintf(&file, "%s", path);
    if (rc >= 0) return file;
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    return NULL;
}

char *tree_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}
