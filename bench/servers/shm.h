/* shm: System V shared memory that a killed server leaves: PostgreSQL's 56 bytes outlive even its
 * data folder. */
#ifndef BENCH_SERVERS_SHM_H
#define BENCH_SERVERS_SHM_H

#include <sys/types.h>

/* Removes the segments that the process made which had this pid, if nobody has them attached. The
 * process must have ended. */
void shm_remove_of(pid_t maker);

#endif
