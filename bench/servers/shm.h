/* shm: removes the shared memory that a killed server left behind: PostgreSQL's System V segment,
 * and the POSIX objects of its preparation, outlive even its data folder. */
#ifndef BENCH_SERVERS_SHM_H
#define BENCH_SERVERS_SHM_H

#include <sys/types.h>

#define SHM_ITEMS_MAX 32 /* a server has a few; more are left */

struct shm_list {
    struct shm_item {
        int segment;     /* the id of a System V segment, if object is empty */
        char object[64]; /* the file of a POSIX object */
    } items[SHM_ITEMS_MAX];
    int count;
};

/* Removes the shared memory on the list, and empties the list. Waits up to 10 s, for all segments together, until no
 * process has a segment attached; a segment that stays attached is left. */
void shm_remove(struct shm_list *list);

/* Kills a process group and all its descendants, and finds the shared memory that they leave. */

/* Stops the group and its descendants, so that they can't make more processes or memory, adds their shared
 * memory to the list, and kills them. The leader may have ended, but its pid must not be in use by another
 * process. Does not wait for their end. */
void end_group(pid_t group, struct shm_list *shm);

#endif
