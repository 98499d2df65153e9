/* shm: see shm.h. It refuses to touch a segment that is attached. */
#include "bench/servers/shm.h"

#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include "bench/base/clock.h"

/* Removes segments that no process has attached. Returns how many segments are left. */
static int remove_free(pid_t maker) {
    FILE *table = fopen("/proc/sysvipc/shm", "re");
    if (!table) return 0;
    char line[512];
    int left = 0;
    while (fgets(line, sizeof line, table)) {
        int id, creator;
        unsigned long attached;
        /* "key shmid perms size cpid lpid nattch ..." */
        if (sscanf(line, "%*d %d %*o %*u %d %*d %lu", &id, &creator, &attached) != 3 ||
            creator != maker)
            continue;
        if (attached > 0)
            left++;
        else
            shmctl(id, IPC_RMID, NULL);
    }
    fclose(table);
    return left;
}

void shm_remove_of(pid_t maker) {
    for (int tries = 0; tries < 100 && remove_free(maker) > 0; tries++) lb_nap(10 * LB_MS_NS);
}
