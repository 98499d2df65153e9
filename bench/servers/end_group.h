/* end_group: kills a process group and all its descendants, and finds the shared memory that they leave. */
#ifndef BENCH_SERVERS_END_GROUP_H
#define BENCH_SERVERS_END_GROUP_H

#include <sys/types.h>

#include "bench/servers/shm.h"

/* Stops the group and its descendants, so that they can't make more processes or memory, adds their shared
 * memory to the list, and kills them. The leader may have ended, but its pid must not be in use by another
 * process. Does not wait for their end. */
void end_group(pid_t group, struct shm_list *shm);

#endif
