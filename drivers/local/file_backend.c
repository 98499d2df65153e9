/* file_backend: locks by files of this machine, or of a network file system: --url
 * file=file:///mnt/dir. */
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "drivers/clean.h"
#include "drivers/key_names.h"
#include "drivers/local/file.h"
#include "drivers/url.h"

static int file_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err);

static int file_open(struct lb_server *server, struct lb_err *err) {
    struct file_server *state = server->state;
    if (server->url_count == 0) {
        snprintf(state->dir, sizeof state->dir, "%s", server->dir);
        return 0;
    }
    const char *path = server->urls[0] + strlen("file://");
    if (strncmp(server->urls[0], "file:///", 8) != 0 || strlen(path) >= sizeof state->dir) {
        char shown[512];
        return err_set(err, LB_EXIT_USAGE, "URL '%s' is not of the form file:///absolute/folder",
                       url_public(server->urls[0], shown, sizeof shown));
    }
    if (access(path, W_OK | X_OK) != 0) {
        return err_set(err, LB_EXIT_MACHINE, "folder '%s': %s", path, strerror(errno));
    }
    snprintf(state->dir, sizeof state->dir, "%s", path);
    return 0;
}

static void nothing(int signal_number) {
    (void)signal_number; /* its only effect is that flock(2) ends with EINTR */
}

static int file_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct file_session *state = session->state;
    for (int i = 0; i < FILE_OPEN; i++) state->file[i].fd = -1;
    state->ready = true;
    struct sigaction action = {.sa_handler = nothing}; /* no SA_RESTART */
    sigaction(SIGRTMIN, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &state->timer) != 0) {
        return err_set(err, LB_EXIT_MACHINE, "timer_create: %s", strerror(errno));
    }
    state->has_timer = true;
    return session->lock->algorithm->prepare
               ? session->lock->algorithm->prepare(session, deadline_ns, err)
               : 0;
}

static void file_disconnect(struct lb_session *session) {
    struct file_session *state = session->state;
    if (!state->ready) return;
    if (state->end) state->end(session);
    state->end = NULL;
    for (int i = 0; i < FILE_OPEN; i++) {
        if (state->file[i].fd >= 0) close(state->file[i].fd);
        state->file[i].fd = -1;
        state->file[i].held = false;
    }
    if (state->has_timer) timer_delete(state->timer);
    state->has_timer = false;
}

static int file_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    const struct file_server *server = session->server->state;
    struct statfs fs;
    struct utsname system;
    if (statfs(server->dir, &fs) != 0)
        return err_set(err, LB_EXIT_MACHINE, "%s: %s", server->dir, strerror(errno));
    lb_fact(facts, "version", "%s", uname(&system) == 0 ? system.release : "unknown");
    lb_fact(facts, "file_system_magic", "0x%lx", (unsigned long)fs.f_type);
    return 0;
}

/* Writes the key as a file's name, without a suffix. Returns its length, or -ENAMETOOLONG. */
static int escape(const char *key, size_t key_len, char name[FILE_NAME]) {
    size_t used = 0;
    for (size_t i = 0; i < key_len; i++) {
        bool odd = key[i] == '/' || key[i] == '%';
        if (used + (odd ? 3 : 1) >= FILE_NAME) return -ENAMETOOLONG;
        if (odd)
            used += (size_t)sprintf(name + used, "%%%02X", (unsigned char)key[i]);
        else
            name[used++] = key[i];
    }
    name[used] = '\0';
    return (int)used;
}

int file_path(const struct lb_session *session, const char *key, size_t key_len, const char *suffix,
              char *path) {
    const struct file_server *server = session->server->state;
    char name[FILE_NAME];
    int used = escape(key, key_len, name);
    if (used < 0 || (size_t)used + strlen(suffix) >= FILE_NAME) return -ENAMETOOLONG;
    int len = snprintf(path, FILE_PATH, "%s/%s%s", server->dir, name, suffix);
    return (size_t)len < FILE_PATH ? 0 : -ENAMETOOLONG;
}

void file_names(const struct lb_request *request, const char *suffix, struct lb_names *names) {
    char name[FILE_NAME];
    if (escape(request->key, request->key_len, name) < 0) return;
    lb_names_add(names, "file, in the URL's folder", "%s%s", name, suffix);
}

int file_count(struct lb_session *session, const char *prefix, const char *suffix,
               struct lb_residue *ret_residue, struct lb_err *err) {
    const struct file_server *server = session->server->state;
    char name[FILE_NAME];
    struct lb_residue found = {0};
    DIR *dir = escape(prefix, strlen(prefix), name) < 0 ? NULL : opendir(server->dir);
    if (!dir) return err_set(err, LB_EXIT_MACHINE, "%s: can't be looked at", server->dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t len = strlen(entry->d_name), end = strlen(suffix);
        if (strncmp(entry->d_name, name, strlen(name)) != 0 || len < end) continue;
        if (strcmp(entry->d_name + len - end, suffix) != 0) continue;
        if (found.count++ == 0)
            snprintf(found.example, sizeof found.example, "file %.120s", entry->d_name);
    }
    closedir(dir);
    *ret_residue = found;
    return 0;
}

static const char *const file_schemes[] = {"file", NULL};

static int file_descriptors(const struct lb_session *session, uint32_t keys) {
    (void)session;
    return keys < FILE_OPEN ? (int)keys : FILE_OPEN;
}

static lb_clean_fn file_clean;

static const struct lb_connector connector = {
    .server_bytes = sizeof(struct file_server),
    .session_bytes = sizeof(struct file_session),
    .open = file_open,
    .connect = file_connect,
    .disconnect = file_disconnect,
    .describe = file_describe,
    .clean = file_clean,
    .descriptors = file_descriptors,
};

const struct lb_backend backend_file = {
    .name = "file",
    .summary = "files of this machine, no server",
    .durability_class = "none",
    .schemes = file_schemes,
    .connector = &connector,
};

/* file_clean: removes the files that lockbench left in the URL's folder; see drivers/clean.h. This
 * includes files of locks that are held, so no program may be using the folder's locks. */

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

static int file_clean(struct lb_session *session, struct lb_cleaning *cleaning,
                      struct lb_err *err) {
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
