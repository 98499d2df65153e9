/* attempt: see client.h. This is the hot path: from the due time to the released time it allocates nothing, takes
 * no lock, prints nothing, and makes no system call except those of the measured lock. */
#include "bench/engine/loop.h"
#include "bench/load/account.h"
#include "bench/load/observe.h"
#include "bench/load/session.h"

/* entry: a client with a grant enters the memory that the lock guards, and leaves it before the release; both steps
 * check exclusion, and mark a grant that failed a check (client->at.marks). The memory is one cell, or a crowd of shared
 * holders. */

/* The entry of a grant that several holders may share. It is not known which release enabled this grant, so it has no
 * previous holder and no handoff. */
static const struct entry shared_entry = {.run = 1};

static void mark_met(struct client *client) {
    if (client->at.marks & MARK_MET) return;
    atomic_fetch_add(&client->worker->shared->findings.met, 1);
    client->at.marks |= MARK_MET;
    client->at.left_ns = 0;
    client->stats->met = true;
}

/* The cell of the client's key, where each key has one. */
static struct cell *cell_of(const struct client *client) {
    const struct shared *shared = client->worker->shared;
    return &shared->cells[shared->own_cells ? client->index : client->key_index];
}

static bool is_writer(const struct client *client) {
    return client->at.kind == ENTRY_READERS && !client->request.shared;
}

/* The client begins to want the key, at stamps.started_ns.
 *
 * Grants are numbered (turns) where each key has one cell. The cell of a reader/writer lock numbers the grants of writers
 * only. Notes the number of the present holder's grant among all grants of the key; without a holder that of the next grant.
 * It may note a greater number, never a smaller one: a holder's grant is counted before its owner word is seen. */
static void entry_ask(struct client *client) {
    client->at.asked_ns = client->stamps.started_ns;
    if (client->at.kind == ENTRY_PERMITS) return;
    const struct cell *cell = cell_of(client);
    bool held = atomic_load_explicit(&cell->owner, memory_order_acquire) != 0;
    uint64_t turn = atomic_load_explicit(&cell->grants, memory_order_relaxed);
    client->at.asked_turn = held && turn > 0 ? turn - 1 : turn;
    client->at.asked_left_ns = atomic_load_explicit(&cell->releasing_ns, memory_order_relaxed);
}

/* The entry is marked. One that met a client that was killed is not. */
static void note_marks(struct client *client) {
    const struct entry *entry = &client->at.entry;
    bool met = entry->marks & MARK_MET;
    if (met && !atomic_load(&client->worker->shared->client[entry->found - 1].doomed))
        mark_met(client);
    /* Who stood still between its stamp and its entry may come in after its lease. */
    if ((entry->marks & MARK_OLD_TOKEN) && lb_now() < client->at.lease_end_ns)
        client->at.marks |= MARK_OLD_TOKEN;
}

static void enter_crowd(struct client *client) {
    bool permits = client->at.kind == ENTRY_PERMITS;
    uint32_t units = permits ? client->request.permits : is_writer(client) ? CROWD_ALL : 1;
    uint32_t bound = permits ? client->request.bound : CROWD_ALL;
    if (!crowd_enter(&client->worker->shared->crowds, client->index, client->key_index, units,
                     bound, client->stamps.acquired_ns))
        mark_met(client);
}

/* The grants that ended while this client waited for the key, without those that another waiter has counted. During
 * each of them the lock had to keep this client out, so each is a trial of exclusion. The true count may be greater:
 * of permits, and of the readers' grants that a writer waited for, only the last one is counted. */
static uint64_t entry_trials(const struct client *client) {
    const struct client_inside *at = &client->at;
    bool reader = at->kind == ENTRY_READERS && client->request.shared;
    bool beside = at->kind == ENTRY_PERMITS || reader; /* its entry is shared_entry */
    int64_t left_ns = beside ? atomic_load_explicit(&at->cell->releasing_ns, memory_order_relaxed)
                             : at->entry.releasing_ns;
    if (left_ns <= at->asked_ns) return 0;
    if (at->kind == ENTRY_PERMITS) return 1;
    uint64_t turn =
        reader ? atomic_load_explicit(&at->cell->grants, memory_order_relaxed) : at->entry.turn;
    /* No writer's grant has ended since, so if one has, it is a reader's. It keeps writers out, but no readers. */
    if (at->kind == ENTRY_READERS && turn == at->asked_turn)
        return !reader && left_ns != at->asked_left_ns;
    uint64_t first = at->asked_turn;
    uint64_t tried = atomic_load_explicit(&at->cell->tried, memory_order_relaxed);
    if (tried > first) first = tried;
    if (turn <= first) return 0;
    atomic_store_explicit(&at->cell->tried, turn, memory_order_relaxed);
    return turn - first;
}

/* The client enters; to be called right after acquire returned, at stamps.acquired_ns. Fills client->at.entry, and counts
 * the trials. */
static void entry_enter(struct client *client) {
    struct client_inside *at = &client->at;
    bool crowd = at->kind != ENTRY_CELL;
    at->marks = 0;
    at->lease_end_ns = client->grant.lease_end_ns;
    at->cell = cell_of(client);
    if (__builtin_expect(!crowd || is_writer(client), 1)) {
        client->stats->inside = true;
        at->entry =
            cell_enter(at->cell, client->index, client->stamps.acquired_ns, client->grant.token);
        if (__builtin_expect(at->entry.marks != 0, 0)) note_marks(client);
    } else {
        at->entry = shared_entry;
    }
    if (__builtin_expect(crowd, 0)) enter_crowd(client);
    uint64_t trials = entry_trials(client);
    if (trials) client->stats->tested_grants += trials;
}

/* The client writes and leaves; to be called right before it calls release at releasing_ns. */
static inline void entry_leave(struct client *client, int64_t releasing_ns) {
    struct client_inside *at = &client->at;
    bool crowd = at->kind != ENTRY_CELL, met = false;
    if (__builtin_expect(!crowd || is_writer(client), 1)) {
        met = !cell_leave(at->cell, client->index, &at->entry, releasing_ns);
    } else {
        atomic_store_explicit(&at->cell->releasing_ns, releasing_ns, memory_order_relaxed);
    }
    if (__builtin_expect(crowd, 0))
        met |= !crowd_leave(&client->worker->shared->crowds, client->index);
    if (__builtin_expect(met, 0)) {
        at->marks |= MARK_MET;
        /* It held until now, since release has not been called: so its time and that of the other one overlap in the
         * record, too. */
        at->left_ns = lb_now();
        client->stats->met = true;
    }
    client->stats->inside = false;
}

/* The client leaves without writing, because it has learned that it lost the grant. */
static void entry_abandon(struct client *client) {
    struct shared *shared = client->worker->shared;
    bool crowd = client->at.kind != ENTRY_CELL, cell = !crowd || is_writer(client);
    if (cell && !cell_abandon(client->at.cell, client->index)) client->at.marks |= MARK_MET;
    if (crowd && !crowd_abandon(&shared->crowds, client->index)) client->at.marks |= MARK_MET;
    atomic_fetch_add(&shared->findings.detected, 1);
    client->stats->inside = false;
}

/* Whether a fiber renews the client's grant (session.c). */
static bool is_renewed(const struct client *client) {
    return __builtin_expect(client->session->watchdog != NULL, 0);
}

static bool is_observed(const struct client *client) {
    return __builtin_expect(client->worker->shared->observed, 0);
}

/* Counts a grant by its time. */
static inline void count_by_time(struct client *client, int64_t granted_ns) {
    const struct shared *shared = client->worker->shared;
    struct worker_stats *stats = client->worker->stats;
    if (granted_ns < stage_begin_ns(shared)) return;
    if (granted_ns < stage_end_ns(shared)) {
        count_by(&stats->window_grants, 1);
    } else if (client->stamps.measured) {
        count_by(&stats->drain_grants, 1);
    }
}

/* Sleeps until end_ns, or until the client is told that its grant is lost. */
static void sleep_holding(struct client *client, int64_t end_ns) {
    client->hold.asleep = true;
    while (client->hold.told == LB_OK && lb_now() < end_ns && !lb_stopping())
        lb_sleep_until(end_ns);
    client->hold.asleep = false;
}

/* Lets the hold time pass once. LB_OK, or what the client was told about its grant. */
static enum lb_outcome pass_time(struct client *client, int64_t from_ns) {
    const struct shared *shared = client->worker->shared;
    const struct plan *plan = shared->plan;
    if (shared->no_hold) return client->hold.told;
    int64_t hold_ns = plan->hold.mean_ns ? dist_draw(&plan->hold, &client->rng) : 0;
    if (hold_ns < plan->at_least_ns) hold_ns = plan->at_least_ns;
    if (hold_ns > 0) {
        sleep_holding(client, from_ns + hold_ns);
        return client->hold.told;
    }
    /* If no two clients can meet on a key, there is no overlap to make room for. */
    bool can_meet = shared->clients > 1 && plan->keys.pick != KEYS_OWN;
    if (plan->gap_yields && can_meet) lb_yield();
    return client->hold.told;
}

/* Acquires the key again, or releases inner grants, until the client holds the key `depth` times. */
static enum lb_outcome reenter_to(struct client *client, uint32_t depth) {
    struct lb_session *session = &client->session->lb;
    const struct lb_algorithm *algorithm = session->lock->algorithm;
    enum lb_outcome outcome = LB_OK;
    while (client->request.held != depth && outcome == LB_OK) {
        bool release = client->request.held > depth;
        if (is_renewed(client)) client_calls(client);
        if (client->hold.told == LB_OK) {
            int64_t begin_ns = is_observed(client) ? lb_now() : 0;
            outcome = (release ? algorithm->release : algorithm->acquire)(session, &client->request,
                                                                          &client->grant);
            if (is_observed(client)) observe_reentered(client, release, begin_ns, outcome);
        }
        if (is_renewed(client)) client_called(client);
        if (client->hold.told != LB_OK) return client->hold.told;
        if (outcome != LB_OK) break;
        if (release) {
            client->request.held--;
        } else {
            client->request.held++;
            client_renewed(client);
        }
    }
    return outcome;
}

/* What a client does with a grant: it passes the hold time, and takes the key again inside it where the plan asks for
 * re-entry. Lasts until the last release is due; request.held is 1 before and after. Returns LB_OK, or the outcome that
 * ended the hold early; then the caller must not release. *ret_inner: the outcome of an inner acquire that was not
 * granted; untouched if there is none. */
static enum lb_outcome hold(struct client *client, enum lb_outcome *ret_inner) {
    const struct shared *shared = client->worker->shared;
    int64_t acquired_ns = client->stamps.acquired_ns;
    if (shared->depth <= 1) return pass_time(client, acquired_ns);
    enum lb_outcome outcome = reenter_to(client, shared->depth);
    if (outcome == LB_BUSY || outcome == LB_TIMEOUT || outcome == LB_REFUSED) {
        *ret_inner = outcome; /* the inner grants until then are released in order */
        return reenter_to(client, 1);
    }
    if (outcome == LB_OK) outcome = pass_time(client, acquired_ns);
    if (outcome == LB_OK) outcome = reenter_to(client, 1);
    /* The inner grants are released, and the outer one must still hold: this exposes a lock whose
     * first unlock frees the key. */
    return outcome == LB_OK ? pass_time(client, lb_now()) : outcome;
}

/* update: one guarded update with an optimistic lock, which holds nothing. The client reads a
 * version, works, and writes on the condition that the version is still the same. If another client
 * was faster, it starts again from the read. A lock of one statement (LB_CAP_ATOMIC) has written at
 * the read, and never starts again.
 *
 * The time until the read that the successful write was based on counts as `acquire`, like the
 * waiting of other locks. So the failed tries are part of `acquire`. */

static enum lb_outcome try_until_written(struct client *client) {
    struct lb_session *session = &client->session->lb;
    const struct lb_lock *lock = session->lock;
    const struct shared *shared = client->worker->shared;
    struct stamps *stamps = &client->stamps;
    _Atomic uint64_t *granted = &client->worker->stats->granted;
    for (;;) {
        client->request.held = 0;
        enum lb_outcome outcome =
            lock->algorithm->acquire(session, &client->request, &client->grant);
        stamps->acquired_ns = stamps->releasing_ns = lb_now();
        if (outcome != LB_OK) return outcome;
        /* Taken back if the write fails: until then nobody can tell. */
        if (stamps->measured) count_by(granted, 1);
        enum lb_outcome inner = LB_OK;
        client->hold.told = LB_OK;
        client->request.held = 1;
        hold(client, &inner);
        stamps->releasing_ns = lb_now();
        outcome = lock->algorithm->release(session, &client->request, &client->grant);
        if (outcome == LB_OK) {
            versions_add(&shared->versions[client->key_index], client->grant.token);
        } else if (stamps->measured) {
            count_by(granted, -UINT64_C(1));
        }
        if (outcome != LB_BUSY) return outcome;
        client->stats->retries += stamps->measured;
        if (shared->plan->mode == MODE_TRY) return LB_BUSY;
        if (lb_now() >= client->request.deadline_ns || lb_stopping()) return LB_TIMEOUT;
    }
}

/* The tries before the last one are part of the waiting, and that one too, if it failed. */
enum lb_outcome update_attempt(struct client *client) {
    struct stamps *stamps = &client->stamps;
    enum lb_outcome outcome = try_until_written(client);
    stamps->ended_ns = lb_now();
    stamps->granted = stamps->released = outcome == LB_OK;
    if (outcome == LB_OK) {
        count_by_time(client, stamps->ended_ns);
    } else {
        stamps->acquired_ns = stamps->ended_ns;
    }
    client_waited(client);
    return outcome;
}

/* Notes that the client now waits for its key, unless it already waits: several tries of one key in a row are one
 * wait. */
static void begin_waiting(struct client *client) {
    _Atomic int64_t *waiting_ns = &client->stats->waiting_ns;
    int64_t since_ns = atomic_load_explicit(waiting_ns, memory_order_relaxed);
    if (since_ns == 0)
        atomic_store_explicit(waiting_ns, client->stamps.started_ns, memory_order_relaxed);
    /* The earlier tries may have been for another key. */
    if (since_ns == 0 || !client->worker->shared->one_key) entry_ask(client);
}

/* Leaves after a hold that ended early; the grant must not be released. Returns whether the client knew that it lost the
 * grant, and left without writing. A holder that was not told so, and whose lease still lasts, writes even after a failed
 * call, so that the checks see the damage if the lock has lost the grant. */
static __attribute__((noinline)) bool leave_unreleased(struct client *client, int64_t now_ns) {
    bool was_told = client->hold.told == LB_LOST;
    if (!was_told && now_ns < client->grant.lease_end_ns) {
        if (is_observed(client)) observe_leaving(client);
        entry_leave(client, now_ns);
        return false;
    }
    if (!was_told) client->hold.told_ns = now_ns;
    entry_abandon(client);
    return true;
}

/* After a grant: enters, holds, leaves, releases. Returns the outcome of the attempt. */
static enum lb_outcome use_grant(struct client *client) {
    struct session *session = client->session;
    struct stamps *stamps = &client->stamps;
    const bool observed = is_observed(client);
    client->hold.told = LB_OK;
    entry_enter(client);
    client->hold.on = true;
    client->request.held = 1;
    if (observed) observe_entered(client);

    enum lb_outcome inner = LB_OK, outcome = LB_OK;
    if (!client->worker->shared->no_hold) outcome = hold(client, &inner);

    if (is_renewed(client)) client_calls(client);
    client->hold.on = false;
    if (outcome == LB_OK) outcome = client->hold.told;
    bool learned = false;
    int64_t releasing_ns = stamps->releasing_ns = lb_now();
    if (__builtin_expect(outcome == LB_OK, 1)) {
        if (observed) observe_leaving(client);
        atomic_store_explicit(&client->stats->releasing, true, memory_order_relaxed);
        entry_leave(client, releasing_ns);
        outcome = session->algorithm->release(&session->lb, &client->request, &client->grant);
        atomic_store_explicit(&client->stats->releasing, false, memory_order_relaxed);
        stamps->released = outcome == LB_OK || outcome == LB_LOST;
    } else {
        learned = leave_unreleased(client, releasing_ns);
    }
    if (is_renewed(client)) client_called(client);
    stamps->ended_ns = lb_now();
    const bool evidence = client->at.marks != 0 || outcome == LB_LOST;
    if (__builtin_expect(observed || evidence, 0)) {
        int64_t when_ns = learned ? client->hold.told_ns : stamps->ended_ns;
        bool over = outcome != LB_OK && session_is_over(client, when_ns);
        observe_ended(client, outcome, learned, over);
    }
    return outcome == LB_OK ? inner : outcome;
}

enum lb_outcome attempt(struct client *client) {
    struct session *session = client->session;
    struct stamps *stamps = &client->stamps;
    begin_waiting(client);
    client->request.held = 0;
    enum lb_outcome outcome =
        session->algorithm->acquire(&session->lb, &client->request, &client->grant);
    stamps->acquired_ns = stamps->ended_ns = lb_now();
    stamps->granted = outcome == LB_OK;
    stamps->released = false;
    client_waited(client);
    if (outcome != LB_BUSY && outcome != LB_TIMEOUT) {
        atomic_store_explicit(&client->stats->waiting_ns, 0, memory_order_relaxed);
    } else {
        /* until the next try it rests: it is not known whether it could get the key meanwhile */
        atomic_store_explicit(&client->stats->refused_ns, stamps->acquired_ns,
                              memory_order_relaxed);
    }
    if (outcome != LB_OK) {
        if (is_observed(client)) observe_refused(client, outcome);
        return outcome;
    }
    count_by_time(client, stamps->acquired_ns);
    if (stamps->measured) count_by(&client->worker->stats->granted, 1);
    return use_grant(client);
}
