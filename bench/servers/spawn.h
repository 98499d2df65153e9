/* spawn: runs one script of compose/local: as a server in a process group of its own, or to read
 * what the script prints about itself.
 *
 * A server gets a small fixed environment, so that no variable of the user (PGDATA, ETCD_NAME,
 * LC_ALL, ...) changes the measurement. */
#ifndef BENCH_SERVERS_SPAWN_H
#define BENCH_SERVERS_SPAWN_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/base/err.h"

#define SPAWN_GROUPS_MAX 64

/* The account to run as. */
struct account {
    int change; /* 0 = keep the present account */
    uid_t uid;
    gid_t gid;
    gid_t groups[SPAWN_GROUPS_MAX];
    int group_count;
};

/* Looks up an account name, or else nobody, when the program runs as root; without root, or with
 * name "", the account is not changed. Returns 0, or -1 with err. */
int account_find(const char *name, struct account *ret_account, struct lb_err *err);

struct spawn {
    const char *script; /* read at once, with this program's rights; the copy DIR.run is executed */
    /* working folder; exists and belongs to the account; NULL = none, so no copy and no log either. The files beside it
     * (DIR.run, DIR.library and DIR.log) belong to this program, in a folder that the account can't write to */
    const char *dir;
    const struct account *account;
    int stop_signal;         /* what the kernel sends if the starting thread ends */
    const char *library;     /* a second file: LB_LIBRARY is the path of its copy; NULL = none */
    const char *const *vars; /* "NAME=VALUE", in addition to the fixed ones; ends with NULL */
};

/* Starts `sh SCRIPT run` with its output appended to its log. The process leads its own group, and
 * the janitor knows it before it executes. Returns its pid, or -1 with err. */
pid_t spawn_server(const struct spawn *spawn, struct lb_err *err);

/* Runs `sh SCRIPT` with the words (words[2], or words[1] too, may be NULL) under the account, with dir as working
 * folder and vars as environment. Returns its output (the caller frees it), or NULL with err, which has the script's
 * standard error; that is also kept in its log. Without a folder the output has it, too. The janitor knows the script's
 * group, and no process that the script started is left when this function returns. The script may run for limit_ns and
 * print 64 KiB. */
char *spawn_act(const struct spawn *spawn, const char *const words[3], int64_t limit_ns,
                struct lb_err *err);

/* Servers that start from now on run on these processors. */
void spawn_on(const cpu_set_t *set);

/* --- The environment variables that a process is started with. --- */

#define VARS_MAX 32

struct vars { /* zeroed = none */
    char text[8192];
    size_t used;
    const char *list[VARS_MAX + 1]; /* into text; ends with NULL */
    int count;
};

/* Adds one, "NAME=VALUE" by a format. It is left out if there is no room for all of it. The struct
 * must not be copied. */
void vars_add(struct vars *vars, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The path of a server's log, the last lines of the log, and the meaning of a wait status, each as one
 * line. */

#define LOG_PATH_MAX 640

/* DIR.log, where the output of the script with this working folder goes. Returns path. */
char *server_log_path(const char *dir, char path[LOG_PATH_MAX]);

/* Writes the last lines of the log that are not empty, oldest first, joined with " / ", at most
 * size bytes; "" if there are none. Returns text. */
char *last_words(const char *dir, char *text, size_t size);

/* Whether the last lines say that an address was in use. */
bool last_words_blame_port(const char *dir);

/* "exit status 1", "signal 9 (Killed)". */
char *status_text(int status, char *text, size_t size);

#endif
