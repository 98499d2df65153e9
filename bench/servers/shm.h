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

/* Adds to the list what the processes have. Call it while they are stopped and not reaped: later
 * nothing tells whose the memory was. */
void shm_find(const struct proc *procs, int count, struct shm_list *list);

/* Removes what is on the list, and empties it. Waits up to 1 s for processes that still have a
 * segment attached; a segment that stays attached is left. */
void shm_remove(struct shm_list *list);

#endif
