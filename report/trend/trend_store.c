/* trend_store: adds lines to a history's file: all of them or none, one writer at a time. A file of an
 * older version lacks the columns of newer figures: it is written anew with those columns behind the
 * others, empty in its old lines, whose text stays as it is. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/trend/trend_parts.h"
#include "results/format/tree.h"

static int cannot_write_history(const char *path, int why, struct lb_err *err) {
    return err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(why));
}

/* True if the path still leads to this file: another writer may have replaced it. */
static bool is_current(int fd, const char *path) {
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

int trend_store_open(const char *path, struct lb_err *err) {
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd < 0) return cannot_write_history(path, errno, err);
        if (flock(fd, LOCK_EX) != 0) {
            int why = errno;
            close(fd);
            return cannot_write_history(path, why, err);
        }
        if (is_current(fd, path)) return fd;
        close(fd);
    }
}

static int write_all(int fd, const char *text) {
    size_t length = strlen(text), done = 0;
    while (done < length) {
        ssize_t wrote = write(fd, text + done, length - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return -1;
        done += (size_t)wrote;
    }
    return 0;
}

int trend_store_append(int fd, const char *path, const char *text, struct lb_err *err) {
    off_t end = lseek(fd, 0, SEEK_END);
    if (end >= 0 && write_all(fd, text) == 0) return 0;
    int why = errno;
    if (end >= 0 && ftruncate(fd, end) != 0) why = errno;
    return cannot_write_history(path, why, err);
}

/* Copies a history's text. Adds `names` to its first line, and a comma for each of `count` columns
 * to all others. A line end within quotes is skipped, and an empty line stays empty. */
static void write_wider(const char *old, const char *names, int count, FILE *out) {
    bool quoted = false, first = true;
    const char *line = old;
    for (const char *at = old; *at; at++) {
        bool ends = !quoted && (*at == '\n' || (*at == '\r' && at[1] == '\n'));
        if (*at == '"') quoted = !quoted;
        if (ends && at > line && at[-1] != '\r') {
            if (first) fputs(names, out);
            for (int i = 0; i < count && !first; i++) fputc(',', out);
            first = false;
        }
        fputc(*at, out);
        if (!quoted && *at == '\n') line = at + 1;
    }
}

/* The whole text of the wider file; malloced, NULL with err. */
static char *wider_text(const char *path, const char *names, int count, const char *lines,
                        struct lb_err *err) {
    char *text = NULL, *old;
    size_t size;
    old = tree_file(path, "a history", "a history of lockbench", &size, err);
    if (!old) return NULL;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        write_wider(old, names, count, out);
        fputs(lines, out);
    }
    free(old);
    if (out && fclose(out) == 0) return text;
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    free(text);
    return NULL;
}

/* Replaces a file by one with this text. */
static int replace_file(const char *path, const char *text, struct lb_err *err) {
    struct stat status;
    char *fresh = NULL, *real = realpath(path, NULL); /* a link stays a link */
    int fd = -1, failed = -1;
    if (real && stat(real, &status) == 0 && asprintf(&fresh, "%s.new", real) >= 0)
        fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, status.st_mode & 0777);
    if (fd >= 0) {
        failed = write_all(fd, text) != 0 || fsync(fd) != 0;
        failed |= close(fd) != 0;
        if (!failed) failed = rename(fresh, real);
    }
    if (failed) cannot_write_history(path, errno, err);
    if (failed && fd >= 0) unlink(fresh);
    free(fresh);
    free(real);
    return failed ? -1 : 0;
}

int trend_store_widen(const char *path, const char *names, int count, const char *lines,
                      struct lb_err *err) {
    char *text = wider_text(path, names, count, lines, err);
    int failed = text ? replace_file(path, text, err) : -1;
    free(text);
    return failed;
}
