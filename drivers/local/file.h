/* file: the folder that the file backend's locks lie in, and the files of a session. */
#ifndef DRIVERS_LOCAL_FILE_H
#define DRIVERS_LOCAL_FILE_H

#include <stdbool.h>
#include <time.h>

#include "drivers/driver.h"

#define FILE_OPEN                                                                                  \
    16 /* kept open a session; a further key takes the place of an older one that is free */
#define FILE_NAME 256

extern const struct lb_backend backend_file;

/* What its locks do under faults, LB_SCENARIOS each; see expected.c. */
extern const struct lb_expectation file_expected[], file_lockfile_expected[];

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
    timer_t timer; /* whose signal ends a blocking wait */
    /* what a lock has to undo at the session's end; may be NULL */
    void (*end)(struct lb_session *session);
};

/* <dir>/<key><suffix>. In the key, "/" is written %2F and "%" is written %25: so a simple name is
 * itself, and no two keys have one file. 0, or -ENAMETOOLONG (a name has at most 255 bytes). path:
 * FILE_PATH bytes. */
#define FILE_PATH (sizeof(((struct file_server *)0)->dir) + FILE_NAME)
int file_path(const struct lb_session *session, const char *key, size_t key_len, const char *suffix,
              char *path);

/* What keys share begins so: the guard and the sessions' own files of file-lockfile. */
#define FILE_OURS ".lockbench-"

/* What lockbench left in the folder; see drivers/clean.h. */
lb_clean_fn file_clean;

/* Tells the file's name, with this suffix; for lb_names_fn. */
void file_names(const struct lb_request *request, const char *suffix, struct lb_names *names);

/* Counts the folder's files whose names begin with the key prefix, as file_path writes it, and end
 * so. */
int file_count(struct lb_session *session, const char *prefix, const char *suffix,
               struct lb_residue *ret_residue, struct lb_err *err);

#endif
