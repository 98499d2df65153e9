/* parts: what the threads and clients of one load host left in its mapping (shared.h), as bytes that another process
 * of the same program adds to a mapping of the same layout. So the code that sums up one host also sums up several.
 *
 * The bytes are this program's memory as it is: whoever reads them must have the same build, which bench/hosts
 * checks before. Crowds, versions and latches are not in them: such locks do not run on several hosts. */
#ifndef BENCH_LOAD_PARTS_H
#define BENCH_LOAD_PARTS_H

#include <stdio.h>

#include "bench/base/err.h"
#include "bench/load/shared.h"

/* Writes the parts of this host, when its threads have ended. 0, or -1 when the stream fails. */
int parts_write(const struct shared *shared, FILE *out);

/* Adds what parts_write wrote on the load host `host`, whose clock was offset_ns ahead of ours: its times become
 * ours. 0, or -1 with err, and then nothing was added: the bytes are not of that host and layout. */
int parts_add(struct shared *shared, int host, int64_t offset_ns, const void *bytes, size_t length,
              struct lb_err *err);

#endif
