/* folder: private temporary folders, and their removal with all that is in them. */
#ifndef BENCH_SERVERS_FOLDER_H
#define BENCH_SERVERS_FOLDER_H

#include <stddef.h>
#include <sys/types.h>

#include "bench/base/err.h"

/* Makes base/lockbench-<name>-XXXXXX, mode 0700; base NULL = $TMPDIR, else /tmp. Writes its
 * absolute path. 0, or -1 with err. */
int folder_make(const char *base, const char *name, char *ret_path, size_t size,
                struct lb_err *err);

/* Removes it with all that is in it, never following a symbolic link. 0, or -1 if something is left
 * (say, since a dying server still writes there: try again). A folder that is not there is fine. */
int folder_remove(const char *path);

#endif
