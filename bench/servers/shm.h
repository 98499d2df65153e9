/* shm: removes System V shared memory that a killed server left behind: 56 bytes of PostgreSQL
 * outlive even its data folder. */
#ifndef BENCH_SERVERS_SHM_H
#define BENCH_SERVERS_SHM_H

#include <sys/types.h>

/* Removes the segments that the process with this pid made, if no process has them attached. The
 * process must have ended. */
void shm_remove_of(pid_t maker);

#endif
