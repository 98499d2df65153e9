/* victims: which client or process an injection hits: any, one that holds, or one that waits. */
#ifndef BENCH_FAULTS_VICTIMS_H
#define BENCH_FAULTS_VICTIMS_H

#include "bench/faults/faults.h"

struct fault_victim {
    int process;
    uint32_t client;     /* the client that the injection looked for */
    uint32_t first, end; /* the clients of its process: first .. end - 1 */
    bool found;          /* .client holds or waits, as the target asks; false for target `any` */
    uint32_t key;        /* the key that .client holds or waits for */
};

/* Whether a client holds a grant that began after since_ns. */
bool fault_anybody_holds(const struct faults *faults, int64_t since_ns);

/* Finds a process by the target and stops it (SIGSTOP) while the client still holds or waits, as
 * the target asks; the caller resumes or kills the process. A holder is passed over if an earlier injection has hit
 * its process during the same grant, because hitting that grant again tests nothing new. spare: never choose the last
 * living process. False if no process can be chosen. */
bool fault_catch(struct faults *faults, enum fault_target target, bool spare,
                 struct fault_victim *ret);
/* Finds one client, for injections that reach clients by themselves; no process is stopped. */
bool fault_find(struct faults *faults, enum fault_target target, struct fault_victim *ret);
/* Whether the client still holds or waits for the same key, as the target asks. */
bool fault_is_still(const struct faults *faults, enum fault_target target,
                    const struct fault_victim *victim);
void fault_log_victim(struct fault_event *event, const struct fault_victim *victim);

#endif
