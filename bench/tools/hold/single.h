/* single: one client outside of a stage, that takes a plan's first key once and holds it until single_release: for
 * `lockbench hold`. Sessions, renewals and clearing up are those of every other client.
 *
 * Call all functions but single_init, single_done and single_cut_off on the client's fiber. The cut-off of its loop
 * (loop_config.cutoff_ns) must be single->shared->cutoff_ns. */
#ifndef BENCH_TOOLS_HOLD_SINGLE_H
#define BENCH_TOOLS_HOLD_SINGLE_H

#include "bench/load/client.h"
#include "bench/load/session.h"

struct single {
    struct shared *shared;
    struct worker worker;
    struct session session;
    struct client client;
};

/* plan: of one client and one key. The plan and the server must outlive the struct. 0, or -1 with err. */
int single_init(struct single *single, const struct plan *plan, struct lb_server *server,
                struct lb_err *err);
void single_done(struct single *single);

/* Ends every wait that is not shielded. May be called on any thread and in a signal handler. */
void single_cut_off(struct single *single);

/* Opens the session and makes what the key must have on the server. 0, or -1 with err. */
int single_open(struct single *single, int64_t deadline_ns, struct lb_err *err);

/* Acquires the key. After LB_OK the client holds the key, and renews it, if the lock can, until
 * single_release. After LB_UNKNOWN nothing of the attempt is left on the server, unless *ret_unsettled is
 * true. After any other outcome than LB_OK the reason is in err, if the driver gave one. */
enum lb_outcome single_acquire(struct single *single, int64_t deadline_ns, bool *ret_unsettled,
                               struct lb_err *err);

/* Waits until one of the polls is ready, the time has come, or the grant is lost. LB_OK, or what is
 * known of the grant, with the reason in err: LB_LOST, or the outcome of a renewal that failed. */
enum lb_outcome single_wait(struct single *single, struct lb_poll *polls, int count,
                            int64_t until_ns, struct lb_err *err);

/* Releases the key, unless it is known to be lost, and ends the session. Returns LB_OK; LB_LOST: the client did
 * not hold the key any more; or another outcome with err: it is not known whether the key is free. */
enum lb_outcome single_release(struct single *single, struct lb_err *err);

/* Ends the session; for a key that is not held. */
void single_close(struct single *single);

#endif
