/* tidy: when all sessions of a stage have ended, removes from the server the things that were created for the stage's
 * keys, then asks the lock what it left there; see stage.h. It uses a new session, in the calling thread. */
#include <stdlib.h>

#include "bench/engine/loop.h"
#include "bench/load/session.h"
#include "bench/stage/stage.h"
#include "drivers/clean.h"
#include "results/format/write.h"

#define TIDY_NS (10 * LB_S_NS) /* to connect */

struct job {
    struct worker worker;
    struct session session;
    struct stage *stage;
    bool ask, guest;
    struct lb_own_keys only; /* the only keys that a server at --url is asked for */
    struct lb_err err;
};

static int clear_away(const struct shared *shared, struct lb_session *session, struct lb_err *err) {
    const struct lb_lock *lock = session->lock;
    if (!lock->algorithm->disarm) return 0;
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
                                   .number = shared_key_number(shared, 0)};
    return clean ? clean(session, &cleaning, err) : 0;
}

/* Removes what was made for the stage's keys. 0, or -1 with err. */
static int clear_stage(const struct job *job, struct lb_session *session, struct lb_err *err) {
    const struct shared *shared = job->worker.shared;
    bool whole = job->stage->status == STAGE_COMPLETE;
    bool named = shared->plan->key_names.count > 0;
    if (whole && !(job->guest && named) && clear_away(shared, session, err) != 0) return -1;
    if (!job->guest || named || (whole && !session->lock->keeps)) return 0;
    return clear_all(shared, session, err);
}

#define HELD_LOOKED 16 /* keys */

/* Whether a wait was cut off, or nobody was granted anything. */
static bool any_in_vain(const struct shared *shared) {
    uint64_t grants = 0;
    for (int i = 0; i < shared->clients; i++) {
        if (shared->client[i].cut_off_ns > 0) return true;
        grants += shared->client[i].grants;
    }
    return grants == 0;
}

/* Counts the keys that somebody holds now that no client of ours is left: one try for each of the first few. 0 if the
 * lock can't be tried. */
static int count_held(const struct shared *shared, struct lb_session *session) {
    const struct lb_algorithm *algorithm = session->lock->algorithm;
    struct lb_grant grant = {.data = calloc(1, algorithm->grant_bytes + 1)};
    int held = 0;
    enum lb_primitive primitive = session->lock->primitive; /* of a shared lock a writer tries */
    bool tries =
        (session->lock->caps & LB_CAP_TRY) && (primitive == LB_MUTEX || primitive == LB_RWLOCK);
    for (uint32_t i = 0; tries && grant.data && i < shared->key_count && i < HELD_LOOKED; i++) {
        char name[KEY_TEXT_MAX];
        struct lb_request request = shared_request(shared, i, name);
        request.deadline_ns = 0;
        enum lb_outcome outcome = algorithm->acquire(session, &request, &grant);
        held += outcome == LB_BUSY || outcome == LB_TIMEOUT;
        if (outcome == LB_OK) algorithm->release(session, &request, &grant);
        session->err.code = 0;
    }
    free(grant.data);
    return held;
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
        struct lb_residue left = {0};
        if (cleared && job->ask && ours &&
            residue(&session->lb, shared->key_prefix, &left, &job->err) == 0) {
            stage->result.residue = (double)left.count;
            if (left.count > 0)
                stage->result.residue_example =
                    run_stage_keep_text(&stage->result, "%s", left.example);
            if (job->guest && left.count > 0) clear_all(shared, &session->lb, &job->err);
        }
        if (job->guest && !ours && any_in_vain(shared))
            stage->result.held_elsewhere = count_held(shared, &session->lb);
        session_close(session);
    }
    session_done(session);
}

void stage_tidy(struct stage *stage) {
    struct shared *shared = stage->shared;
    const struct lb_algorithm *algorithm = shared->lock->lock->algorithm;
    bool whole = stage->status == STAGE_COMPLETE, guest = place_is_guest(stage->ask->place);
    if ((!whole && !guest) || stage->faults.servers_lost) return;
    /* nothing should be left */
    bool sure = whole && !stage->cut && atomic_load(&shared->lost) == 0;
    for (int i = 0; i < shared->threads; i++) sure &= !shared->worker[i].unsure;
    /* On a server of the user a wait that was cut off may leave something that does not end by itself. */
    bool asks = (sure || guest) && algorithm->residue;
    if (!algorithm->disarm && !asks && !guest) return;
    struct job job = {.worker = {.shared = shared},
                      .stage = stage,
                      .ask = asks,
                      .guest = guest,
                      .only = {.number = shared_key_number(shared, 0), .count = shared->key_count}};
    loop_once("tidy", run_tidy, &job, &job.err);
    stage->tidy_err = job.err;
    stage->keeps_named = guest && !job.err.code && shared->plan->key_names.count > 0 &&
                         (algorithm->arm || shared->lock->lock->keeps);
}
