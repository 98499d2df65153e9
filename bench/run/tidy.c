/* tidy: see tidy.h. */
#include "bench/run/tidy.h"

#include <stdio.h>

#include "bench/engine/loop.h"
#include "bench/load/session.h"
#include "bench/load/store.h"
#include "drivers/clean.h"

#define TIDY_NS (10 * LB_S_NS) /* to connect */

struct job {
    struct worker worker;
    struct session session;
    struct stage *stage;
    bool ask, guest;
    struct lb_own_keys only; /* the only keys that a server at --url is asked for */
    struct lb_err err;
};

static uint32_t bound_of(const struct shared *shared) {
    return shared->plan->bound > 0 ? shared->plan->bound : 1;
}

static int clear_away(const struct shared *shared, struct lb_session *session, struct lb_err *err) {
    const struct lb_lock *lock = session->lock;
    if (!lock->algorithm->disarm || lock->primitive == LB_LATCH)
        return 0; /* a latch: done after each round */
    bool many = lock->algorithm->disarm_range && shared->plan->key_names.count == 0;
    uint32_t step = many ? LB_RANGE_MAX : 1;
    for (uint32_t i = 0; i < shared->key_count; i += step) {
        char name[KEY_TEXT_MAX];
        struct lb_request request = shared_request(shared, i, name);
        uint32_t left = shared->key_count - i;
        const struct lb_key_range range = {
            .prefix = shared->key_prefix, .first = i, .count = left < step ? left : step};
        int failed = many ? lock->algorithm->disarm_range(session, &range, &request, err)
                          : lock->algorithm->disarm(session, &request, err);
        if (failed) return -1;
    }
    return 0;
}

/* Removes all keys of the stage: those of a stage that was cut off, and what the lock keeps by design. */
static int clear_all(const struct shared *shared, struct lb_session *session, struct lb_err *err) {
    lb_clean_fn *clean = session->lock->backend->connector->clean;
    struct lb_cleaning cleaning = {.scope = LB_CLEAN_STAGE,
                                   .name = shared->key_prefix,
                                   .count = shared->key_count,
                                   .bound = bound_of(shared)};
    return clean ? clean(session, &cleaning, err) : 0;
}

/* Removes what was made for the stage's keys. 0, or -1 with err. */
static int clear_stage(const struct job *job, struct lb_session *session, struct lb_err *err) {
    const struct shared *shared = job->worker.shared;
    bool whole = job->stage->status == STAGE_COMPLETE;
    bool named = shared->plan->key_names.count > 0;
    if (whole && !(job->guest && named) && clear_away(shared, session, err) != 0) return -1;
    if (whole && shared->store.backend && store_collect(job->worker.shared, session, err) != 0)
        return -1;
    if (!job->guest || named || (whole && !session->lock->keeps)) return 0;
    return clear_all(shared, session, err);
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
    if (job->guest) session->lb.only = &job->only;
    if (session_open(session, lb_now() + TIDY_NS, &job->err) == 0) {
        lb_residue_fn *residue = session->lb.lock->algorithm->residue;
        bool cleared = clear_stage(job, &session->lb, &job->err) == 0;
        /* Names that the user gave may also be keys of other clients. */
        bool ours = shared->plan->key_names.count == 0;
        if (cleared && job->ask && ours) {
            stage->residue_known =
                residue(&session->lb, shared->key_prefix, &stage->residue, &job->err) == 0;
        }
        session_close(session);
    }
    session_done(session);
}

/* For a server at --url: notes in the stage whether keys are left there. */
static void note_untidy(const struct shared *shared, struct stage *stage) {
    const struct lb_algorithm *algorithm = shared->lock->lock->algorithm;
    if (stage->tidy_err.code)
        snprintf(stage->unsure, sizeof stage->unsure, "%s", stage->tidy_err.text);
    else
        stage->keeps_named =
            shared->plan->key_names.count > 0 && (algorithm->arm || shared->lock->lock->keeps);
}

void tidy(const struct shared *shared, struct stage *stage, bool ask, bool guest) {
    const struct lb_algorithm *algorithm = shared->lock->lock->algorithm;
    bool asks = ask && algorithm->residue;
    if (!algorithm->disarm && !shared->store.backend && !asks && !guest) return;
    struct job job = {.worker = {.shared = (struct shared *)shared},
                      .stage = stage,
                      .ask = asks,
                      .guest = guest,
                      .only = {.count = shared->key_count, .bound = bound_of(shared)}};
    loop_once("tidy", run_tidy, &job, &job.err);
    if (job.err.code) stage->tidy_err = job.err;
    if (guest) note_untidy(shared, stage);
}
