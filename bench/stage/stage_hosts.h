/* stage_hosts: one stage whose clients are on several hosts (bench/hosts). Each host runs its part as a separate stage.
 * At the moments below all hosts wait for each other; no host waits between the load's begin and its end.
 *
 * The coordinator has no clients. It asks for the stage, says when the load begins, looks after the hosts meanwhile,
 * and collects what they measured (stage_pieces.c). */
#ifndef BENCH_STAGE_STAGE_HOSTS_H
#define BENCH_STAGE_STAGE_HOSTS_H

#include "bench/hosts/hosts.h"
#include "bench/load/shared.h"
#include "bench/stage/stage.h"

/* The moments at which all hosts wait for each other. */
enum moment { MOMENT_CONNECTED, MOMENT_PINGED, MOMENT_DRAINED };

/* The state of this in a stage's supervisor. */
struct stage_hosts {
    struct hosts *hosts; /* NULL = one host does everything, and no function below does anything */
    int64_t news_ns;     /* when news was last sent, or clocks were last measured */
    bool told;           /* the loss of a host was told */
    bool loads;          /* of a load host: its load goes on, and it has reported no trouble */
    const volatile sig_atomic_t
        *interrupts; /* of the coordinator: Ctrl-C ends its waits before the load */
};

bool stage_hosts_coordinates(const struct stage_hosts *with);
/* Whether client 0, who prepares the server and pings, is on this host. */
bool stage_hosts_has_first(const struct stage_hosts *with);

/* Why several hosts can't share the lock under this plan, as a phrase; NULL = they can. */
const char *stage_hosts_why_not(const struct lb_lock *lock, const struct plan *plan);
/* Refuses a plan with fewer clients than load hosts, or with a control that has a workload of its own, before anything
 * is started: LB_EXIT_USAGE. */
int stage_hosts_check_plan(const struct plan *plan, int hosts, struct lb_err *err);

/* The coordinator asks all hosts for the stage, whose shape is settled. 0, or -1 with err. */
int stage_hosts_begin(struct stage_hosts *with, const struct stage_ask *ask,
                      const struct shared *shared, struct lb_err *err);

/* All wait for each other. trouble: why this host can't go on, or NULL. A host that is lost is not waited for, but
 * where nothing has been measured yet it ends the stage, as does any trouble. 0, or -1 with err. */
int stage_hosts_meet(struct stage_hosts *with, enum moment moment, const struct lb_err *trouble,
                     int64_t deadline_ns, struct lb_err *err);

/* When the load begins, by this host's clock: the coordinator chooses. 0, or -1 with err. */
int stage_hosts_go(struct stage_hosts *with, int64_t *ret_go_ns, struct lb_err *err);

/* To be called at least every 50 ms while the stage runs. On a load host: reports its grants each second, and sets
 * *ret_end if the coordinator ends the window. On the coordinator: returns -1 with err, once, if a host is in trouble;
 * and measures the clocks every 10 s, which also shows the hosts that the coordinator still runs. */
int stage_hosts_look(struct stage_hosts *with, const struct shared *shared, bool *ret_end,
                     struct lb_err *err);

/* The window of this host ends early. The coordinator ends it on all hosts. A load host reports why to the coordinator,
 * unless the coordinator ended it. */
void stage_hosts_end(struct stage_hosts *with, const struct lb_err *why);

/* stage_pieces: sends the measurements of a load host to the coordinator, which adds up those of all hosts: the parts
 * of the common memory (bench/load/parts.h), raw histogram buckets, the seconds and the history. Percentiles are taken
 * from the sums only. */

/* A load host sends all it has, when its threads have ended. 0, or -1 with err. */
int stage_pieces_deliver(struct hosts *hosts, const struct stage *stage,
                         const struct shared *shared, struct lb_err *err);

/* The coordinator receives the measurements: fills shared, and the histograms, seconds, .hosts and steal of stage. The
 * measurements of a lost host are missing, and then the stage is partial. 0, or -1 with err, which names the host whose figures are missing. */
int stage_pieces_gather(struct hosts *hosts, struct stage *stage, struct shared *shared,
                        struct lb_err *err);

/* stage_shape: the memory that the workers of a stage share, in the shape that the stage is asked for. */

/* NULL with err. The caller frees it with shared_free. */
struct shared *stage_shape(const struct stage_ask *ask, struct lb_err *err);

/* The time limit for the clients of a stage to open their sessions; it grows with their number. */
int64_t stage_connect_limit_ns(const struct stage_ask *ask);

#endif
