/* spawn: starts one script, as a server in a process group of its own or to hear what it says of
 * itself.
 *
 * A server gets a small, known environment, so that nothing of the user's (PGDATA, ETCD_NAME,
 * LC_ALL, ...) changes what is measured. */
#ifndef BENCH_SERVERS_SPAWN_H
#define BENCH_SERVERS_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "bench/base/err.h"

#define SPAWN_GROUPS_MAX 64

/* The account to run as. */
struct account {
    int change; /* 0 = stay who we are */
    uid_t uid;
    gid_t gid;
    gid_t groups[SPAWN_GROUPS_MAX];
    int group_count;
};

/* Looks up name when we are root; without root, or with name "", nothing will be changed. 0, or -1
 * with err. */
int account_find(const char *name, struct account *ret_account, struct lb_err *err);

struct spawn {
    const char *script; /* read now, with our rights; a copy in dir is executed */
    const char *dir;    /* exists, belongs to the account; working folder, also holds `log` */
    const struct account *account;
    int stop_signal;         /* what the kernel sends if the starting thread ends */
    const char *library;     /* another file, copied to dir/library; NULL = none */
    const char *const *vars; /* "NAME=VALUE" beyond the usual ones; ends with NULL */
};

/* Starts `sh SCRIPT run` with its output appended to dir/log. The process leads its own group, and
 * the janitor knows of it before it executes. Its pid, or -1 with err. */
pid_t spawn_server(const struct spawn *spawn, struct lb_err *err);

/* Runs `sh SCRIPT act NAME ARG` (arg NULL: none) as the account, with dir as working folder and
 * vars as its environment, and returns what it prints (free it), NULL with err: what it wrote to
 * standard error, which is kept in dir/log. The janitor knows of it; nothing that it started is left
 * when this returns. At most limit_ns and 64 KiB. */
char *spawn_act(const struct spawn *spawn, const char *name, const char *arg, int64_t limit_ns,
                struct lb_err *err);

/* Runs `sh SCRIPT info` and returns what it prints (free it), NULL with err. At most 10 s and 64
 * KiB. */
char *spawn_info(const char *script, struct lb_err *err);

#endif
