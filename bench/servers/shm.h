/* shm: removes the shared memory that a killed server left behind: PostgreSQL's System V segment,
 * and the POSIX objects of its preparation, outlive even its data folder. */
#ifndef BENCH_SERVERS_SHM_H
#define BENCH_SERVERS_SHM_H

#include "bench/servers/proc.h"

#define SHM_ITEMS_MAX 32 /* a server has a few; more are left */

struct shm_list {
    struct shm_item {
        int segment;     /* the id of a System V segment, if object is empty */
        char object[64]; /* the file of a POSIX object */
    } items[SHM_ITEMS_MAX];
    int count;
};

/* Adds the shared memory of the processes to the list. Call it while the processes are stopped and not reaped: later
 * it is not known to which process the memory belonged. */
void shm_find(const struct proc *procs, int count, struct shm_list *list);

/* Removes the shared memory on the list, and empties the list. Waits up to 10 s, for all segments together, until no
 * process has a segment attached; a segment that stays attached is left. */
void shm_remove(struct shm_list *list);

#endif
