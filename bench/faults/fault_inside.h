/* fault_inside: what the files behind fault.h share. Nobody else includes it. */
#ifndef BENCH_FAULTS_FAULT_INSIDE_H
#define BENCH_FAULTS_FAULT_INSIDE_H

#include "bench/faults/fault.h"
#include "bench/load/shared.h"
#include "bench/workload/faults.h"

#define FAULT_PATIENCE_NS (2 * LB_S_NS) /* for a holder, or a victim, to come */

/* How a section's time went. */
enum fault_tried {
    FAULT_DONE, /* it acted, or can't, and the log says so */
    FAULT_LATER /* there is no victim at the moment */
};

/* ---- fault_log.c ---- */

/* A new entry for what the section does now; its sign and end come later. NULL when out of memory.
 * Valid until the next one. */
struct stage_fault *fault_log(struct faults *faults, const struct fault_section *section,
                              int64_t begin_ns);
/* The same, of something that can't be done: why. */
void fault_log_not(struct faults *faults, const struct fault_section *section, const char *format,
                   ...) __attribute__((format(printf, 3, 4)));
void fault_sign(struct stage_fault *fault, bool acted, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline struct stage_fault *fault_of(const struct faults *faults,
                                           const struct fault_act *act) {
    return &faults->stage->faults[act->log];
}

/* ---- fault.c ---- */

/* Something that lasts from now on, with the last log entry; NULL when there are too many. */
struct fault_act *fault_lasting(struct faults *faults, const struct fault_section *section);

/* ---- fault_find.c ---- */

struct victim {
    int process;
    uint32_t client;     /* the one that was looked for */
    uint32_t first, end; /* all that its process carries */
    bool found;          /* .client holds or waits; else any of them */
    uint32_t key;        /* that it holds or waits for */
};

/* Whether somebody is inside with a grant since then. */
bool fault_anybody_holds(const struct faults *faults, int64_t since_ns);

/* Finds a process by the target, and stops it (SIGSTOP) with the client still being what it was
 * looked for as: the caller lets it go or kills it. spare: not the last living process. */
bool fault_catch(struct faults *faults, enum fault_target target, bool spare, struct victim *ret);
/* One client, for faults that reach clients by themselves; nobody is stopped. */
bool fault_find(struct faults *faults, enum fault_target target, struct victim *ret);
/* Whether it still is what it was looked for as. */
bool fault_still(const struct faults *faults, enum fault_target target,
                 const struct victim *victim);
void fault_log_victim(struct stage_fault *fault, const struct victim *victim);

/* ---- fault_cut.c ---- */

void fault_cut_begin(struct faults *faults);
/* Connections of these clients ended between from and to: what ends with a connection is over. to:
 * LB_NEVER = it may happen until fault_cut_over. */
void fault_cut_ended(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns,
                     int64_t to_ns);
/* They hear nothing from their servers, from now on until fault_cut_over: their sessions run out.
 * False: their grants do not end by this. */
bool fault_cut_silent(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns);
/* That which began at from_ns. */
void fault_cut_over(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns,
                    int64_t to_ns);

/* The history's share of it: nothing where none is kept. act: its clients. */
void fault_history_stall(struct faults *faults, const struct fault_act *act, int64_t from_ns,
                         int64_t to_ns);
void fault_history_cut(struct faults *faults, uint32_t first, uint32_t count, int64_t from_ns,
                       int64_t to_ns);
void fault_history_death(struct faults *faults, uint32_t first, uint32_t count);

/* ---- by kind; the first tries, the second undoes ---- */

enum fault_tried fault_clients_hit(struct faults *faults, struct fault_section *section);
void fault_clients_undo(struct faults *faults, struct fault_act *act);
enum fault_tried fault_servers_hit(struct faults *faults, struct fault_section *section);
void fault_servers_undo(struct faults *faults, struct fault_act *act);
/* A server that was started again: true when it answers, or won't. */
bool fault_servers_back(struct faults *faults, struct fault_act *act, int64_t now_ns);
enum fault_tried fault_wires_hit(struct faults *faults, struct fault_section *section);
void fault_wires_undo(struct faults *faults, struct fault_act *act);
/* A look at what a wire's fault has done so far: true when it has done all that it will. */
bool fault_wires_look(struct faults *faults, struct fault_act *act);

/* ---- fault_peer.c ---- */

#define FAULT_PORTS_MAX 256

/* The local ports of a process's connections to the servers of the topology. Returns how many; -1
 * when there is no such process, or out of memory. */
int fault_peer_ports(pid_t pid, const struct topo *topo, int ports[FAULT_PORTS_MAX]);

#endif
