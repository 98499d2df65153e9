/* folder: private temporary folders, their removal with all that is in them, and copies of files into them. */
#ifndef BENCH_SERVERS_FOLDER_H
#define BENCH_SERVERS_FOLDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/base/err.h"

/* Makes base/lockbench-<name>-XXXXXX with mode 0700; base NULL = $TMPDIR, or else /tmp. Writes the
 * absolute path to ret_path. Returns 0, or -1 with err. */
int folder_make(const char *base, const char *name, char *ret_path, size_t size,
                struct lb_err *err);

/* Removes a folder with all its contents; never follows a symbolic link. Returns 0, also if there
 * is no such folder, or -1 if something is left (for example because a dying server still writes
 * there: try again). */
int folder_remove(const char *path);

/* Copies a file; an existing one is replaced. Returns 0, or -1 with err. */
int file_copy(const char *from, const char *to, mode_t mode, struct lb_err *err);

#endif
