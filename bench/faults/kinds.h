/* kinds: how each kind of injection begins, is watched and ends. schedule.c has the table. */
#ifndef BENCH_FAULTS_KINDS_H
#define BENCH_FAULTS_KINDS_H

#include "bench/faults/faults.h"

/* The result of an attempt to begin an injection. */
enum fault_tried {
    FAULT_DONE, /* the injection began, or is impossible; the log has an entry in both cases */
    FAULT_LATER /* there is no victim at the moment */
};

typedef enum fault_tried fault_begin_fn(struct faults *faults, struct fault_section *section);
/* Ends an injection that lasts. */
typedef void fault_end_fn(struct faults *faults, struct fault_act *act);
/* Called each millisecond between the begin and the end of an injection. True: the injection has had its whole effect,
 * so it can end now. */
typedef bool fault_look_fn(struct faults *faults, struct fault_act *act, int64_t now_ns);

/* clients.c */
fault_begin_fn fault_pause_begin, fault_kill_begin;
fault_end_fn fault_pause_end;

/* injected.c */
fault_begin_fn fault_starve_begin, fault_client_clock_begin;
fault_end_fn fault_starve_end, fault_client_clock_end;

/* servers.c; fault_servers_begin hits each server that the section's target means */
fault_begin_fn fault_servers_begin, fault_terminate_begin;
fault_end_fn fault_server_pause_end, fault_server_kill_end, fault_isolate_end;
/* Of a server that was started again: true when it answers, or when it is not awaited any more. */
fault_look_fn fault_server_look;

/* wires.c */
fault_begin_fn fault_wire_begin;
fault_end_fn fault_wire_end;
fault_look_fn fault_wire_look;

/* The client or process that an injection hits. */
struct fault_victim {
    int process;
    uint32_t client;     /* the client that the injection looked for */
    uint32_t first, end; /* the clients of its process: first .. end - 1 */
    bool found;          /* .client holds or waits, as the target asks; false for target `any` */
    uint32_t key;        /* the key that .client holds or waits for */
};

/* --- How an injection enters the log of its stage. --- */

/* Adds an entry for the section's injection that begins at begin_ns; the caller fills in sign and end. NULL when out
 * of memory. The pointer is valid until the next entry is added. */
struct fault_event *fault_log_add(struct faults *faults, const struct fault_section *section,
                                  int64_t begin_ns);

/* Adds an entry for an injection that is impossible, with the reason. */
void fault_log_not(struct faults *faults, const struct fault_section *section, const char *format,
                   ...) __attribute__((format(printf, 3, 4)));

/* Says by which sign the injection is known to have taken effect, or why it did not. */
void fault_log_sign(struct fault_event *event, bool acted, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes the newest entry an injection that lasts from now on. NULL when too many last. */
struct fault_act *fault_log_lasting(struct faults *faults, const struct fault_section *section);

/* Adds an entry, and an injection that lasts from begin_ns on and hits the victim. NULL when out of memory, or when too
 * many last. */
struct fault_act *fault_log_begin(struct faults *faults, const struct fault_section *section,
                                  int64_t begin_ns, const struct fault_victim *victim);

/* The entry of an injection that lasts. */
struct fault_event *fault_log_of(const struct faults *faults, const struct fault_act *act);

/* Whether sessions, and grants with them, end when clients hear nothing from their servers for a while. */
bool fault_ends_silent(const struct faults *faults);

/* What an injection did to clients, for the judge: oplog_mishap, or nothing where no oplog is kept. */
void fault_oplog(struct faults *faults, enum oplog_kind kind, uint32_t first, uint32_t count,
                 int64_t from_ns, int64_t to_ns);
/* The same of the clients that an injection hits, from its begin to its end, if that is known. Of a cut that lasts:
 * where act->cut_open. */
void fault_act_oplog(struct faults *faults, enum oplog_kind kind, const struct fault_act *act);

/* --- Which client or process an injection hits: any, one that holds, or one that waits. --- */

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
