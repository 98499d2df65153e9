/* home: see home.h. It creates nothing. */
#include "bench/base/home.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_home(const char *folder) {
    char marker[PATH_MAX];
    int len = snprintf(marker, sizeof marker, "%s/workloads/compare.ini", folder);
    return len > 0 && (size_t)len < sizeof marker && access(marker, R_OK) == 0;
}

/* The program may be in the root, in .build/<variant>/ (tests are deeper), or in PREFIX/bin. */
static int find_home(char folder[PATH_MAX], bool *ret_installed, struct lb_err *err) {
    *ret_installed = false;
    const char *home = getenv("LOCKBENCH_HOME");
    if (home && *home) {
        if (!realpath(home, folder) || !is_home(folder)) {
            return err_set(
                err, LB_EXIT_MACHINE,
                "LOCKBENCH_HOME=%s: no workloads/compare.ini there; set it to lockbench's folder",
                home);
        }
        return 0;
    }
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len < 0) {
        return err_set(err, LB_EXIT_MACHINE,
                       "/proc/self/exe: %s; set LOCKBENCH_HOME to lockbench's folder",
                       strerror(errno));
    }
    self[len] = '\0';
    char above[PATH_MAX];
    memcpy(above, self, (size_t)len + 1);
    for (char *slash; (slash = strrchr(above, '/')) != NULL;) {
        *slash = '\0';
        if (is_home(above)) {
            memcpy(folder, above, strlen(above) + 1);
            return 0;
        }
        int used = snprintf(folder, PATH_MAX, "%s/share/lockbench", above);
        if (used < PATH_MAX && is_home(folder)) {
            *ret_installed = true;
            return 0;
        }
    }
    return err_set(
        err, LB_EXIT_MACHINE,
        "no folder above %s has workloads/compare.ini; set LOCKBENCH_HOME to lockbench's folder",
        self);
}

static int join_path(const char *folder, const char *name, char *ret_path, size_t size,
                     struct lb_err *err) {
    if (strlen(folder) + 1 + strlen(name) >= size) {
        return err_set(err, LB_EXIT_MACHINE, "%s/%s: the path is too long", folder, name);
    }
    snprintf(ret_path, size, "%s%s%s", folder, *name && strcmp(folder, "/") != 0 ? "/" : "", name);
    return 0;
}

int home_path(const char *name, char *ret_path, size_t size, struct lb_err *err) {
    char folder[PATH_MAX];
    bool installed;
    if (find_home(folder, &installed, err)) return -1;
    return join_path(folder, name, ret_path, size, err);
}

int home_beside(const char *name, char *ret_path, size_t size, struct lb_err *err) {
    char above[PATH_MAX], path[PATH_MAX + 300];
    ssize_t len = readlink("/proc/self/exe", above, sizeof above - 1);
    if (len < 0) return err_set(err, LB_EXIT_MACHINE, "/proc/self/exe: %s", strerror(errno));
    above[len] = '\0';
    for (char *slash; (slash = strrchr(above, '/')) != NULL;) {
        *slash = '\0';
        static const char *const below[] = {"", "/lib/lockbench"};
        for (int i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "%s%s/%s", above, below[i], name);
            if (access(path, R_OK) != 0) continue;
            if (strlen(path) >= size)
                return err_set(err, LB_EXIT_MACHINE, "%s: the path is too long", path);
            strcpy(ret_path, path);
            return 0;
        }
    }
    return err_set(err, LB_EXIT_MACHINE,
                   "%s is nowhere above the program: build or install lockbench again", name);
}

int home_results(char *ret_path, size_t size, struct lb_err *err) {
    char folder[PATH_MAX];
    bool installed;
    if (find_home(folder, &installed, err)) return -1;
    if (installed && !getcwd(folder, sizeof folder)) {
        return err_set(err, LB_EXIT_MACHINE, "the current folder: %s", strerror(errno));
    }
    return join_path(folder, "results", ret_path, size, err);
}
