/* folder: see folder.h. It never follows links, because the folders belong to server accounts and root may
 * remove them. */
#include "bench/servers/folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* Accepts only characters that need no quoting: the path is written into the settings of every server, and each
 * server has its own rules of quoting. */
static bool can_stand_in_settings(const char *path) {
    for (const unsigned char *at = (const unsigned char *)path; *at; at++) {
        if (isspace(*at) || iscntrl(*at) || strchr("\"'\\", *at)) return false;
    }
    return true;
}

int folder_make(const char *base, const char *name, char *ret_path, size_t size,
                struct lb_err *err) {
    if (!base) base = getenv("TMPDIR");
    if (!base || !*base) base = "/tmp";
    char *absolute = realpath(base, NULL);
    if (!absolute)
        return err_set(err, LB_EXIT_MACHINE,
                       "temporary folder %s: %s: set TMPDIR to one that can be written", base,
                       strerror(errno));
    int result = -1;
    char path[512];
    int len = snprintf(path, sizeof path, "%s/lockbench-%s-XXXXXX", absolute, name);
    if (len < 0 || (size_t)len >= sizeof path || (size_t)len >= size)
        err_set(err, LB_EXIT_MACHINE,
                "temporary folder %s: its path is too long: set TMPDIR to a shorter one", base);
    else if (!can_stand_in_settings(path))
        err_set(err, LB_EXIT_MACHINE,
                "temporary folder %s: servers take no path with a blank, a quote or a backslash: "
                "set TMPDIR to another folder",
                absolute);
    else if (!mkdtemp(path))
        err_set(err, LB_EXIT_MACHINE,
                "temporary folder in %s: %s: set TMPDIR to one that can be written", base,
                strerror(errno));
    else {
        memcpy(ret_path, path, (size_t)len + 1);
        result = 0;
    }
    free(absolute);
    return result;
}

/* Empties the folder that dir_fd refers to, and closes dir_fd. Returns 0, or -1 if something is
 * left. */
static int empty_folder(int dir_fd) {
    DIR *dir = fdopendir(dir_fd);
    if (!dir) {
        close(dir_fd);
        return -1;
    }
    int result = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (unlinkat(dirfd(dir), name, 0) == 0 || errno == ENOENT) continue;
        int fd = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || empty_folder(fd) != 0) result = -1;
        if (unlinkat(dirfd(dir), name, AT_REMOVEDIR) != 0 && errno != ENOENT) result = -1;
    }
    closedir(dir);
    return result;
}

int folder_remove(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT ? 0 : -1;
    empty_folder(fd);
    return rmdir(path) == 0 || errno == ENOENT ? 0 : -1;
}

int file_copy(const char *from_path, const char *to_path, mode_t mode, struct lb_err *err) {
    unlink(to_path);
    int from = open(from_path, O_RDONLY | O_CLOEXEC);
    int to = open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    ssize_t len = from < 0 || to < 0 ? -1 : 1;
    /* A disk that fills up takes a part first, and says why when it is asked for the rest. */
    while (len > 0) len = sendfile(to, from, NULL, 1 << 20);
    if (len == 0) len = fchmod(to, mode); /* whatever our umask is */
    if (len < 0)
        err_set(err, LB_EXIT_MACHINE, "cannot copy %s to %s: %s%s", from_path, to_path,
                strerror(errno),
                errno == ENOSPC || errno == EFBIG || errno == EDQUOT
                    ? "; set TMPDIR to a folder with room"
                    : "");
    if (from >= 0) close(from);
    if (to >= 0 && close(to) != 0 && len == 0)
        len = err_set(err, LB_EXIT_MACHINE, "%s: %s", to_path, strerror(errno));
    return len < 0 ? -1 : 0;
}
