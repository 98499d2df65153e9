/* file: the folder with the file backend's locks, and the files of a session. */
#ifndef DRIVERS_LOCAL_FILE_H
#define DRIVERS_LOCAL_FILE_H

#include <stdbool.h>
#include <time.h>

#include "drivers/driver.h"

/* the files that a session keeps open; a key beyond them takes the place of an older key that is
 * not held */
#define FILE_OPEN 16
#define FILE_NAME 256

extern const struct lb_backend backend_file;

struct file_server {
    char dir[256];
};

struct file_session {
    struct {
        uint32_t key_index;
        int fd; /* -1 = none */
        bool held;
    } file[FILE_OPEN];
    bool ready, has_timer;
    timer_t timer; /* its signal ends a blocking wait */
    /* undoes what a lock has to undo when the session ends; may be NULL */
    void (*end)(struct lb_session *session);
};

/* Writes <dir>/<key><suffix>. In the key, "/" is written %2F and "%" is written %25: so a simple
 * name stays as it is, and no two keys have the same file. 0, or -ENAMETOOLONG (a name has at most
 * 255 bytes). path: FILE_PATH bytes. */
#define FILE_PATH (sizeof(((struct file_server *)0)->dir) + FILE_NAME)
int file_path(const struct lb_session *session, const char *key, size_t key_len, const char *suffix,
              char *path);

/* The beginning of the names of files that keys share: the guard and the sessions' own files of
 * file-lockfile. */
#define FILE_OURS ".lockbench-"

/* Reports the file's name, with this suffix; for lb_names_fn. */
void file_names(const struct lb_request *request, const char *suffix, struct lb_names *names);

/* Counts the folder's files whose names begin with the key prefix, as file_path writes it, and end
 * with the suffix. */
int file_count(struct lb_session *session, const char *prefix, const char *suffix,
               struct lb_residue *ret_residue, struct lb_err *err);

#endif
