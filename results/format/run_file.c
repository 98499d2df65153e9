/* run_file: finds and reads the file of a run; run_read.c makes sense of it.
 *
 * It refuses pipes, devices and files beyond a gigabyte: they would hang or fill the reader.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/format/run_read.h"

#define FILE_BYTES_MAX ((off_t)1 << 30)

/* A whole regular file; a pipe or a device would have no end. */
static char *read_file(const char *path, size_t *ret_length, struct lb_err *err) {
    struct stat status;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        err_set(err, LB_EXIT_USAGE, "%s: cannot be read as a run (%s): name a run's folder or its run.json",
                path, strerror(errno));
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

struct run *run_read(const char *path, struct lb_err *err) {
    struct stat status;
    struct run *run = NULL;
    char *file = NULL, *text = NULL;
    size_t length;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    if (asprintf(&file, folder ? "%s%srun.json" : "%s", path,
                 *path && path[strlen(path) - 1] == '/' ? "" : "/") < 0) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    text = read_file(file, &length, err);
    if (text) run = run_parse(text, length, file, err);
    free(text);
    free(file);
    return run;
}
