/* file_clean: removes the files that lockbench left in the URL's folder; see drivers/clean.h. This
 * includes files of locks that are held, so no program may be using the folder's locks. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drivers/clean.h"
#include "drivers/local/file.h"

static bool ends_with(const char *name, const char *ending) {
    size_t len = strlen(name), own = strlen(ending);
    return len > own && strcmp(name + len - own, ending) == 0;
}

/* True if a file of the folder is to be removed. key: the named key, as it is in a file's name. */
static bool is_file_wanted(const struct lb_cleaning *cleaning, const char *name, const char *key) {
    bool shared = strncmp(name, FILE_OURS, strlen(FILE_OURS)) == 0;
    size_t len = strlen(key);
    if (cleaning->scope == LB_CLEAN_EMPTY || cleaning->scope == LB_CLEAN_SHARED ||
        (shared && cleaning->scope == LB_CLEAN_LEFT))
        return shared;
    if (!ends_with(name, ".lock") && !ends_with(name, ".lockfile")) return false;
    if (cleaning->scope != LB_CLEAN_KEY) return lb_clean_wants(cleaning, name, strlen(name));
    return strncmp(name, key, len) == 0 &&
           (strcmp(name + len, ".lock") == 0 || strcmp(name + len, ".lockfile") == 0);
}

int file_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err) {
    const struct file_server *server = session->server->state;
    char key[FILE_PATH] = "", path[2 * FILE_PATH];
    bool named = cleaning->scope == LB_CLEAN_KEY;
    if (named && file_path(session, cleaning->name, strlen(cleaning->name), "", key) != 0) return 0;
    const char *base = named ? strrchr(key, '/') + 1 : key;
    DIR *dir = opendir(server->dir);
    if (!dir) return err_set(err, LB_EXIT_MACHINE, "%s: %s", server->dir, strerror(errno));
    int failed = 0;
    for (struct dirent *entry; !failed && (entry = readdir(dir));) {
        if (!is_file_wanted(cleaning, entry->d_name, base)) continue;
        snprintf(path, sizeof path, "%s/%s", server->dir, entry->d_name);
        if (cleaning->scope != LB_CLEAN_STAGE && !lb_clean_found(cleaning, "file", "%s", path))
            continue;
        if (unlink(path) != 0 && errno != ENOENT)
            failed = err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
    }
    closedir(dir);
    return failed;
}
