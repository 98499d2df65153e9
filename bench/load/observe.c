/* observe: ticks, the guarded store and the record of operations; see observe.h. */
#include "bench/load/observe.h"

void tick_sum(struct run_stage *result, const struct shared *shared) {
    double with[3] = {0}; /* no run, one, several */
    int64_t tick_ns = shared->plan->tick_ns;
    for (uint32_t i = 0; i < shared->ticks; i++) {
        int64_t begin_ns = shared->go_ns + (int64_t)i * tick_ns;
        if (begin_ns < stage_begin_ns(shared) || begin_ns + tick_ns > stage_end_ns(shared))
            continue;
        uint32_t runs = atomic_load(&shared->tick_runs[i]);
        with[runs < 2 ? runs : 2]++;
    }
    if (with[0] + with[1] + with[2] == 0) return;
    result->ticks = with[0] + with[1] + with[2];
    result->ticks_none = with[0];
    result->ticks_once = with[1];
    result->ticks_more = with[2];
}

/* The guarded value of the grant's key. */
static struct guarded *value_of(const struct client *client) {
    const struct shared *shared = client->worker->shared;
    return &shared->store.keys[client->at.cell - shared->cells];
}

#define STALL_LEAST_NS (50 * LB_MS_NS) /* beats may be 20 ms apart */

_Static_assert((int)OPLOG_OK == (int)LB_OK && (int)OPLOG_UNKNOWN == (int)LB_UNKNOWN &&
                   (int)OPLOG_OUTCOMES == (int)LB_OUTCOMES,
               "a history's outcomes are the drivers'");

static enum oplog_model model_of(const struct shared *shared) {
    switch (shared->entry) {
    case ENTRY_READERS:
        return OPLOG_RWLOCK;
    case ENTRY_PERMITS:
        return OPLOG_SEMAPHORE;
    default:
        return shared->depth > 1 ? OPLOG_REENTRANT : OPLOG_MUTEX;
    }
}

/* If grants end with their session, and a session ends when its client gives no sign of life, a thread that stands still
 * for so long ends the grants of its clients: half of the session, since the server counts from the last sign of life that
 * it got, and clients give one every third of the session. 0 = a thread that stands still ends nothing. */
static int64_t session_ns(const struct shared *shared) {
    const struct lb_lock *lock = shared->lock->lock;
    bool ends = (lock->caps & LB_CAP_SESSION) && !(lock->claims & LB_CLAIM_SAFE_PAUSE);
    return ends ? shared->lease_ns / 2 : 0;
}

struct oplog_rules trace_rules(const struct shared *shared) {
    const struct plan *plan = shared->plan;
    const struct lb_lock *lock = shared->lock->lock;
    bool session = lock->caps & LB_CAP_SESSION, at_once = lock->about.crash == LB_CRASH_AT_ONCE;
    return (struct oplog_rules){
        .model = model_of(shared),
        .bound = plan->bound > 0 ? (uint32_t)plan->bound : 1,
        .clients = (uint32_t)shared->clients,
        .lease_ns = lock->caps & LB_CAP_LEASE ? shared->lease_ns : 0,
        .session_ns = session_ns(shared),
        .cut_ns = !session  ? LB_NEVER
                  : at_once ? 0
                            : shared->lease_ns / 2,
        .begin_ns = atomic_load(&shared->window_begin_ns),
        .end_ns = atomic_load(&shared->window_end_ns),
    };
}

static struct oplog_ring *ring_of(const struct client *client) {
    const struct worker *worker = client->worker;
    return &worker->shared->oplog->rings[worker->thread];
}

/* A record of the attempt's key. */
static struct oplog_record record_of(const struct client *client, enum oplog_kind kind,
                                     int64_t begin_ns, int64_t end_ns, enum lb_outcome outcome) {
    return (struct oplog_record){
        .kind = (uint8_t)kind,
        .outcome = (uint8_t)outcome,
        .flags = client->request.shared ? OPLOG_SHARED : 0,
        .client = client->index,
        .key = client->key_index,
        .permits = client->request.permits,
        .begin_ns = begin_ns,
        .end_ns = end_ns,
        .lease_end_ns = LB_NEVER,
    };
}

static void record_grant(struct client *client, int64_t lease_end_ns) {
    struct oplog_record record = record_of(client, OPLOG_ACQUIRE, client->stamps.started_ns,
                                           client->stamps.acquired_ns, LB_OK);
    record.lease_end_ns = lease_end_ns;
    record.token = client->grant.token;
    client->recorded = oplog_granted(ring_of(client), &record);
}

void observe_entered(struct client *client) {
    struct shared *shared = client->worker->shared;
    if (shared->store.kept && !client->request.shared)
        client->visit = store_enter(value_of(client), client->grant.token, shared->store.fenced);
    if (shared->recorded) record_grant(client, client->grant.lease_end_ns);
    if (client->tick < shared->ticks)
        atomic_fetch_add_explicit(&shared->tick_runs[client->tick], 1, memory_order_relaxed);
}

void observe_leaving(struct client *client) {
    struct shared *shared = client->worker->shared;
    if (shared->store.kept && !client->request.shared &&
        store_leave(value_of(client), &shared->store.counts, &client->visit))
        client->at.marks |= MARK_REFUSED;
}

void observe_refused(struct client *client, enum lb_outcome outcome) {
    if (!client->worker->shared->recorded) return;
    struct oplog_record record = record_of(client, OPLOG_ACQUIRE, client->stamps.started_ns,
                                           client->stamps.acquired_ns, outcome);
    oplog_note(ring_of(client), &record);
}

void observe_reentered(struct client *client, bool release, int64_t begin_ns,
                       enum lb_outcome outcome) {
    if (!client->recorded) return;
    struct oplog_record record =
        record_of(client, release ? OPLOG_RELEASE : OPLOG_ACQUIRE, begin_ns, lb_now(), outcome);
    uint32_t depth = release ? client->request.held - 1 : client->request.held;
    record.depth = (uint8_t)(depth < UINT8_MAX ? depth : UINT8_MAX);
    record.lease_end_ns = client->grant.lease_end_ns;
    oplog_note(ring_of(client), &record);
}

static void record_renewal(struct client *client, int64_t at_ns) {
    if (!client->recorded) return;
    struct oplog_record record = record_of(client, OPLOG_RENEWAL, at_ns, at_ns, LB_OK);
    record.lease_end_ns = client->grant.lease_end_ns;
    oplog_note(ring_of(client), &record);
}

void observe_renewed(struct client *client) {
    record_renewal(client, lb_now());
}

/* A grant that is evidence, of a stage that is not recorded. A renewal in time belongs to the lease that the grant is
 * recorded with. Of renewals that came too late the first and the last are known, and the grant is recorded as if there
 * had been no lease between them. */
static void record_evidence(struct client *client) {
    bool lapsed = client->at.marks & MARK_LAPSED;
    record_grant(client, lapsed ? client->at.lapsed_ns : client->grant.lease_end_ns);
    if (lapsed) record_renewal(client, client->at.renewed_ns);
}

void observe_ended(struct client *client, enum lb_outcome outcome, bool learned, bool over) {
    const struct shared *shared = client->worker->shared;
    const struct stamps *stamps = &client->stamps;
    const uint32_t marks = client->at.marks;
    int64_t told_ns = learned ? client->hold.told_ns : stamps->ended_ns;
    /* A lease that had ended explains a loss. */
    bool lost = outcome == LB_LOST && told_ns < client->grant.lease_end_ns;
    bool evidence = (marks & ~(uint32_t)MARK_LAPSED) || lost;
    if (evidence && shared->oplog && !shared->recorded) record_evidence(client);
    /* It had left then, or later. */
    int64_t left_ns = learned                                         ? told_ns
                      : (marks & MARK_MET) && client->at.left_ns != 0 ? client->at.left_ns
                                                                      : stamps->releasing_ns;
    struct oplog_record record =
        record_of(client, OPLOG_RELEASE, left_ns, stamps->ended_ns, outcome);
    if (learned) record.flags |= OPLOG_LEARNED;
    if (over) record.flags |= OPLOG_OVER;
    if (marks & MARK_OLD_TOKEN) record.flags |= OPLOG_OLD_TOKEN;
    if (marks & MARK_REFUSED) record.flags |= OPLOG_REFUSED_TOKEN;
    if (client->recorded) oplog_released(ring_of(client), &record);
    client->recorded = client->stats->met = false;
}

/* A longer stall is recorded; LB_NEVER = none is, since the lock blocks its threads by design. */
static int64_t stall_limit_ns(const struct shared *shared) {
    int64_t half_ns = shared->lease_ns / 2;
    if (shared->lock->lock->caps & LB_CAP_BLOCKS_THREAD) return LB_NEVER;
    if (session_ns(shared) > 0) return session_ns(shared);
    if (!shared->recorded) return LB_NEVER;
    return half_ns > STALL_LEAST_NS ? half_ns : STALL_LEAST_NS;
}

void trace_beat(struct shared *shared, int thread, int64_t now_ns) {
    int64_t last_ns = atomic_load_explicit(&shared->worker[thread].beat_ns, memory_order_relaxed);
    if (last_ns <= 0 || last_ns >= now_ns - stall_limit_ns(shared)) return;
    struct oplog_record record = {
        .kind = OPLOG_STALL, .begin_ns = last_ns, .end_ns = now_ns, .lease_end_ns = LB_NEVER};
    shared_slice(shared, thread, &record.client, &record.clients);
    oplog_note(&shared->oplog->rings[thread], &record);
}
