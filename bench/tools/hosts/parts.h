/* parts: the figures that the threads and clients of one load host left in its mapping (shared.h), written as bytes.
 * The coordinator adds them to its own mapping, which has the same layout. So the same code sums up one host or
 * several.
 *
 * The bytes are a copy of this program's memory, so the reader must be the same build, which hosts.c checks before.
 * The state of crowds, versions and latches is not in the bytes: locks that use it do not run on several hosts. */
#ifndef BENCH_TOOLS_HOSTS_PARTS_H
#define BENCH_TOOLS_HOSTS_PARTS_H

#include <stdio.h>

#include "bench/base/err.h"
#include "bench/load/shared.h"

/* Writes the parts of this host, when its threads have ended. 0, or -1 when the stream fails. */
int parts_write(const struct shared *shared, FILE *out);

/* Adds the bytes that parts_write wrote on the load host `host`. That host's clock was offset_ns ahead of this host's
 * clock; its times are converted. 0, or -1 with err if the bytes are not of that host and layout; then nothing was
 * added. */
int parts_add(struct shared *shared, int host, int64_t offset_ns, const void *bytes, size_t length,
              struct lb_err *err);

#endif
