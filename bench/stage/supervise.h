/* supervise: runs a stage, from connect to close. stage_conclude (stage.h) says what came out.
 *
 * The calling thread is the supervisor: it moves the phases on, harvests the recorders each second,
 * carries out the injections, and watches the servers and Ctrl-C. Load runs in worker threads or
 * processes. */
#ifndef BENCH_STAGE_SUPERVISE_H
#define BENCH_STAGE_SUPERVISE_H

#include "bench/stage/stage.h"

/* Runs a stage; call it while this process has no other thread. Always returns a stage, which says
 * itself what went wrong, unless out of memory (NULL with err). The caller frees it with
 * stage_free. */
struct stage *stage_run(const struct stage_ask *ask, struct lb_err *err);
void stage_free(struct stage *stage);

#endif
