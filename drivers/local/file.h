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
};

/* Writes <dir>/<key>.lock. In the key, "/" is written %2F and "%" is written %25: so a simple
 * name stays as it is, and no two keys have the same file. 0, or -ENAMETOOLONG (a name has at most
 * 255 bytes). path: FILE_PATH bytes. */
#define FILE_PATH (sizeof(((struct file_server *)0)->dir) + FILE_NAME)
int file_path(const struct lb_session *session, const char *key, size_t key_len, char *path);

lb_names_fn file_names;

#endif
