/* servers_help: what the tests of bench/servers share: scripts made on the spot, and looking for
 * left-overs. */
#ifndef BENCH_TESTS_SERVERS_HELP_H
#define BENCH_TESTS_SERVERS_HELP_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "bench/base/clock.h"
#include "bench/servers/topo.h"
#include "bench/tests/loopback.h"
#include "bench/tests/unit.h"

static inline void help_nap_ms(int ms) {
    lb_nap(ms * LB_MS_NS);
}

/* Whether a process with `text` in its command line or as its working folder's beginning runs. */
static inline bool help_any_process(const char *text) {
    DIR *dir = opendir("/proc");
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        char path[300], line[8192] = "", folder[4096] = "";
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int fd = open(path, O_RDONLY);
        if (fd < 0) continue;
        ssize_t len = read(fd, line, sizeof line - 1);
        close(fd);
        for (ssize_t i = 0; i + 1 < len; i++) {
            if (!line[i]) line[i] = ' ';
        }
        snprintf(path, sizeof path, "/proc/%s/cwd", entry->d_name);
        len = readlink(path, folder, sizeof folder - 1);
        if (len > 0) folder[len] = '\0';
        found = strstr(line, text) != NULL || strncmp(folder, text, strlen(text)) == 0;
    }
    if (dir) closedir(dir);
    return found;
}

/* Waits, up to 20 s, until nothing of the folder is left: neither it nor a process in it. */
static inline bool help_all_gone(const char *folder) {
    for (int64_t until_ns = lb_now() + 20 * LB_S_NS; lb_now() < until_ns; help_nap_ms(20)) {
        if (access(folder, F_OK) != 0 && !help_any_process(folder)) return true;
    }
    return false;
}

/* A connection to a loopback port whose reads end after 5 s; -1 if there is none. */
static inline int help_connect(int port) {
    return loopback_connect(port, 5);
}

/* Says `words` on a connection and reads until `until` has come (NULL: anything). What came; valid
 * until the next call. "" when the connection ended or nothing came in time. */
static inline const char *help_say(int fd, const char *words, const char *until) {
    static char text[65536];
    size_t used = 0;
    text[0] = '\0';
    if (send(fd, words, strlen(words), MSG_NOSIGNAL) != (ssize_t)strlen(words)) return text;
    for (ssize_t len; used < sizeof text - 1; used += (size_t)len) {
        len = recv(fd, text + used, sizeof text - 1 - used, 0);
        if (len <= 0) {
            if (until) text[0] = '\0';
            break;
        }
        text[used + (size_t)len] = '\0';
        if (!until || strstr(text, until)) break;
    }
    return text;
}

/* The same on a connection of its own. */
static inline const char *help_ask(int port, const char *words, const char *until) {
    int fd = help_connect(port);
    if (fd < 0) return "";
    const char *text = help_say(fd, words, until);
    close(fd);
    return text;
}

/* A connection to a Redis server, logged in; a Sentinel asks for no password, and says so. */
static inline int help_connect_redis(int port) {
    char words[64];
    int fd = help_connect(port);
    snprintf(words, sizeof words, "AUTH %s\r\n", getenv("REDISCLI_AUTH"));
    if (fd >= 0) help_say(fd, words, "\r\n");
    return fd;
}

static inline const char *help_ask_redis(int port, const char *words, const char *until) {
    int fd = help_connect_redis(port);
    if (fd < 0) return "";
    const char *text = help_say(fd, words, until);
    close(fd);
    return text;
}

/* The same of memcached, whose login is a "set" of any key. */
static inline const char *help_ask_memcached(const struct topo *topo, const char *words,
                                             const char *until) {
    char login[120];
    const char *secret = topo_about(topo)->secret;
    int fd = help_connect(topo_port(topo, 0, 0));
    if (fd < 0) return "";
    snprintf(login, sizeof login, "set login 0 0 %zu\r\nlockbench %s\r\n",
             strlen("lockbench ") + strlen(secret), secret);
    help_say(fd, login, "\r\n");
    const char *text = help_say(fd, words, until);
    close(fd);
    return text;
}

/* A topology's folder from one of its nodes'. */
static inline void help_parent(const char *node_dir, char *folder, size_t size) {
    snprintf(folder, size, "%s", node_dir);
    *strrchr(folder, '/') = '\0';
}

/* Writes a script; what follows `run)` is body. */
static inline void help_script(const char *folder, const char *name, const char *info,
                               const char *body) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    fprintf(file, "case $1 in\ninfo)\ncat <<END\n%sEND\n;;\nrun)\n%s\n;;\nesac\n", info, body);
    fclose(file);
}

/* A process of its own that listens on a free port, which is written to ret_port. Not in this
 * process: a server that was forked, and not executed yet, would have the listener too. */
static inline pid_t help_stranger(int *ret_port) {
    int fd = loopback_listen(ret_port);
    pid_t stranger = fork();
    assert_true(stranger >= 0);
    if (stranger == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
    }
    close(fd);
    return stranger;
}

static inline void help_stranger_ends(pid_t stranger) {
    kill(stranger, SIGKILL);
    waitpid(stranger, NULL, 0);
}

#endif
