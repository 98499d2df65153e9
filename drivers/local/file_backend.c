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
    (void)deadline_ns;
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
    return 0;
}

static void file_disconnect(struct lb_session *session) {
    struct file_session *state = session->state;
    if (!state->ready) return;
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

#define SUFFIX ".lock"

/* Writes the name of the key's file. 0, or -ENAMETOOLONG. */
static int name_file(const char *key, size_t key_len, char name[FILE_NAME]) {
    size_t used = 0;
    for (size_t i = 0; i < key_len; i++) {
        bool odd = key[i] == '/' || key[i] == '%';
        if (used + (odd ? 3 : 1) + strlen(SUFFIX) >= FILE_NAME) return -ENAMETOOLONG;
        if (odd)
            used += (size_t)sprintf(name + used, "%%%02X", (unsigned char)key[i]);
        else
            name[used++] = key[i];
    }
    strcpy(name + used, SUFFIX);
    return 0;
}

int file_path(const struct lb_session *session, const char *key, size_t key_len, char *path) {
    const struct file_server *server = session->server->state;
    char name[FILE_NAME];
    if (name_file(key, key_len, name) != 0) return -ENAMETOOLONG;
    int len = snprintf(path, FILE_PATH, "%s/%s", server->dir, name);
    return (size_t)len < FILE_PATH ? 0 : -ENAMETOOLONG;
}

void file_names(const struct lb_session *session, const struct lb_request *request,
                struct lb_names *names) {
    char name[FILE_NAME];
    (void)session;
    if (name_file(request->key, request->key_len, name) == 0)
        lb_names_add(names, "file, in the URL's folder", "%s", name);
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

/* True if a file of the folder is to be removed. key: the file of the named key. */
static bool is_file_wanted(const struct lb_cleaning *cleaning, const char *name, const char *key) {
    size_t len = strlen(name), end = strlen(SUFFIX);
    if (cleaning->scope == LB_CLEAN_EMPTY || cleaning->scope == LB_CLEAN_SHARED) return false;
    if (cleaning->scope == LB_CLEAN_KEY) return strcmp(name, key) == 0;
    return len > end && strcmp(name + len - end, SUFFIX) == 0 &&
           lb_clean_wants(cleaning, name, len);
}

static int file_clean(struct lb_session *session, struct lb_cleaning *cleaning,
                      struct lb_err *err) {
    const struct file_server *server = session->server->state;
    char key[FILE_PATH] = "", path[2 * FILE_PATH];
    bool named = cleaning->scope == LB_CLEAN_KEY;
    if (named && file_path(session, cleaning->name, strlen(cleaning->name), key) != 0) return 0;
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
