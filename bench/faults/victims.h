/* victims: which client or process an injection hits: any, one that holds, or one that waits. */
#ifndef BENCH_FAULTS_VICTIMS_H
#define BENCH_FAULTS_VICTIMS_H

#include "bench/faults/faults.h"

struct fault_victim {
    int process;
    uint32_t client;     /* the one that was looked for */
    uint32_t first, end; /* all that its process carries */
    bool found;          /* .client holds or waits; else the victim is any of them */
    uint32_t key;        /* that it holds or waits for */
};

/* Whether a client has been inside with a grant since then. */
bool fault_anybody_holds(const struct faults *faults, int64_t since_ns);

/* Finds a process by the target and stops it (SIGSTOP) while the client still holds or waits, as
 * the target asks; the caller resumes or kills the process. A holder whose process was hit while it had
 * the same grant is passed over: that would be no second trial. spare: never the last living process.
 * False if there is none. */
bool fault_catch(struct faults *faults, enum fault_target target, bool spare,
                 struct fault_victim *ret);
/* Finds one client, for injections that reach clients by themselves; no process is stopped. */
bool fault_find(struct faults *faults, enum fault_target target, struct fault_victim *ret);
/* Whether the client still holds or waits for the same key, as the target asks. */
bool fault_is_still(const struct faults *faults, enum fault_target target,
                    const struct fault_victim *victim);
void fault_log_victim(struct fault_event *event, const struct fault_victim *victim);

#endif
