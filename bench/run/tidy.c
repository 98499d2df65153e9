/* tidy: see tidy.h. */
#include "bench/run/tidy.h"

#include "bench/engine/loop.h"
#include "bench/load/session.h"
#include "bench/load/store.h"

#define TIDY_NS (10 * LB_S_NS) /* to connect */

struct job {
    struct worker worker;
    struct session session;
    struct stage *stage;
    bool ask;
    struct lb_err err;
};

static int clear_away(const struct shared *shared, struct lb_session *session, struct lb_err *err) {
    const struct lb_lock *lock = session->lock;
    if (!lock->algorithm->disarm || lock->primitive == LB_LATCH)
        return 0; /* a latch: done after each round */
    for (uint32_t i = 0; i < shared->key_count; i++) {
        char name[KEY_TEXT_MAX];
        struct lb_request request = shared_request(shared, i, name);
        if (lock->algorithm->disarm(session, &request, err) != 0) return -1;
    }
    return 0;
}

static void run_tidy(void *arg) {
    struct job *job = arg;
    const struct shared *shared = job->worker.shared;
    struct session *session = &job->session;
    struct stage *stage = job->stage;
    if (session_init(session, &job->worker, NULL, 0, 0) != 0) {
        err_set(&job->err, LB_EXIT_MACHINE, "out of memory");
        return;
    }
    if (session_open(session, lb_now() + TIDY_NS, &job->err) == 0) {
        lb_residue_fn *residue = session->lb.lock->algorithm->residue;
        bool cleared = clear_away(shared, &session->lb, &job->err) == 0;
        if (cleared && shared->store.backend) {
            cleared = store_collect(job->worker.shared, &session->lb, &job->err) == 0;
        }
        /* Under names that were asked for there may be other clients' keys too. */
        bool ours = shared->plan->key_names.count == 0;
        if (cleared && job->ask && residue && ours) {
            stage->residue_known =
                residue(&session->lb, shared->key_prefix, &stage->residue, &job->err) == 0;
        }
        session_close(session);
    }
    session_done(session);
}

void tidy(const struct shared *shared, struct stage *stage, bool ask) {
    const struct lb_lock *lock = shared->lock->lock;
    if (!lock->algorithm->disarm && !shared->store.backend && !(lock->algorithm->residue && ask))
        return;
    struct job job = {.worker = {.shared = (struct shared *)shared}, .stage = stage, .ask = ask};
    loop_once("tidy", run_tidy, &job, &job.err);
    if (job.err.code) stage->tidy_err = job.err;
}
