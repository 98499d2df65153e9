/* stage_sum: see stage.h. What clients and workers count is added up here, into the members of stage->result that
 * the rows of results/format/stage.def have declared. */
#include "bench/stage/stage.h"

#include <math.h>
#include <stdlib.h>

#include "bench/evidence/stage_history.h"
#include "bench/load/observe.h"
#include "bench/stage/stuck.h"
#include "results/format/bound.h"
#include "results/format/write.h"

#define STATES_PART 0.02 /* of clients x window, by which the clients' times may miss it */

/* NAN when one of the two is not known, or there was no grant. */
static double per_grant(double value, double grants) {
    return grants > 0 ? value / grants : NAN;
}

static double *outcome_of(struct run_stage *result, enum lb_outcome outcome) {
    double *const members[LB_OUTCOMES] = {
        [LB_OK] = &result->ok,           [LB_BUSY] = &result->busy,
        [LB_TIMEOUT] = &result->timeout, [LB_LOST] = &result->lost,
        [LB_UNKNOWN] = &result->unknown, [LB_REFUSED] = &result->refused,
        [LB_BROKEN] = &result->broken};
    return members[outcome];
}

/* Adds n to a figure that is absent until something was added. */
static void add_to(double *figure, double n) {
    *figure = isnan(*figure) ? n : *figure + n;
}

/* Raises a figure to n. n below 0: not known. */
static void raise_to(double *figure, double n) {
    if (n >= 0) *figure = fmax(*figure, n);
}

static void sum_worker(struct run_stage *result, const struct worker_stats *worker, bool open) {
    for (int outcome = 0; outcome < LB_OUTCOMES; outcome++) {
        double count = (double)atomic_load(&worker->outcomes[outcome]);
        add_to(outcome_of(result, (enum lb_outcome)outcome), count);
        add_to(&result->attempts, count);
    }
    result->blocked_ns_max = fmax(result->blocked_ns_max, (double)worker->blocked_max_ns);
    result->stood_still_ns = fmax(result->stood_still_ns, (double)worker->stalls.lost_ns);
    if (!open) return;
    add_to(&result->due, (double)worker->due);
    add_to(&result->started, (double)worker->started);
    add_to(&result->missed, (double)worker->missed);
    add_to(&result->queued, (double)worker->queued);
    add_to(&result->stalled, (double)worker->stalled);
}

static void sum_workers(struct stage *stage, const struct shared *shared) {
    const struct lb_lock *lock = shared->lock->lock;
    bool cpu_known = true, idle_known = true, open = shared->plan->arrival.kind != ARRIVAL_CLOSED;
    double cpu_ns = 0, idle_ns_per_s = 0;
    for (int i = 0; i < shared->threads; i++) {
        const struct worker_stats *worker = &shared->worker[i];
        sum_worker(&stage->result, worker, open);
        stage->stalled_missed += worker->stalled_missed;
        cpu_known &= worker->cpu.end_ns > 0;
        cpu_ns += (double)(worker->cpu.end_cpu_ns - worker->cpu.begin_cpu_ns);
        idle_known &= worker->idle_cpu.end_ns > worker->idle_cpu.begin_ns;
        const struct cpu_span *idle = &worker->idle_cpu;
        if (idle_known)
            idle_ns_per_s += (double)(idle->end_cpu_ns - idle->begin_cpu_ns) * 1e9 /
                             (double)(idle->end_ns - idle->begin_ns);
        if (!stage->err.code && worker->first_err.code) stage->err = worker->first_err;
    }
    if (cpu_known) stage->client_cpu_ns = cpu_ns;
    if (idle_known) stage->result.client_idle_ns_per_s = idle_ns_per_s;
    /* A driver that blocks its thread by design has a loop to itself. Nothing else waits for that thread,
     * and its waits can't be told from stalls of lockbench. */
    if (lock->caps & LB_CAP_BLOCKS_THREAD)
        stage->result.blocked_ns_max = stage->result.stood_still_ns = NAN;
}

/* Sums over clients that become quotients. */
struct client_sums {
    uint64_t commands;
    double wakeups, bytes, connect_ns, retries;
    double least_grants; /* of the client with the fewest */
    double squares;      /* of each client's grants */
    bool bytes_known;
    bool sessions_known; /* what sessions count until they drain: requests, wake-ups */
};

static void sum_client(struct run_stage *result, struct client_sums *sums,
                       const struct client_stats *client) {
    /* the counts whose rows say how they are combined */
#define CLIENT_COUNT(type, member, combine) combine(&result->member, (double)client->member);
#include "bench/load/counts.def"
    sums->commands += client->commands;
    sums->wakeups += (double)client->wakeups;
    sums->retries += (double)client->retries;
    sums->bytes += (double)client->bytes;
    sums->bytes_known &= client->bytes_known || client->joined || client->grants == 0;
    sums->sessions_known &= client->drained || !(client->dead || client->grants > 0);
    sums->least_grants = fmin(sums->least_grants, (double)client->grants);
    sums->squares += (double)client->grants * (double)client->grants;
    if (client->connect_ns < 0) return;
    add_to(&result->connect_count, 1);
    sums->connect_ns += (double)client->connect_ns;
    result->connect_max_ns = fmax(result->connect_max_ns, (double)client->connect_ns);
}

/* Processor time of the window that the same parties would not have taken idle; NAN = not known. An
 * idle thread wakes more often than a busy one, so that the difference may come out below 0. */
static double net_of_idle(const struct stage *stage, double cpu_ns, double idle_ns_per_s) {
    double net_ns = cpu_ns - idle_ns_per_s * (double)stage->window_ns / 1e9;
    return net_ns < 0 ? NAN : net_ns;
}

static void fill_cpu(struct stage *stage) {
    struct run_stage *result = &stage->result;
    double client_net = net_of_idle(stage, stage->client_cpu_ns, result->client_idle_ns_per_s);
    double server_net = net_of_idle(stage, stage->server_cpu_ns, result->server_idle_ns_per_s);
    result->client_cpu_ns_per_grant = per_grant(stage->client_cpu_ns, result->grants);
    result->server_cpu_ns_per_grant = per_grant(stage->server_cpu_ns, result->grants);
    result->client_cpu_net_ns_per_grant = per_grant(client_net, result->grants);
    result->server_cpu_net_ns_per_grant = per_grant(server_net, result->grants);
}

/* Over all grants, since writes and fsyncs are counted from before the load until its end. */
static void fill_disk(struct stage *stage) {
    struct run_stage *result = &stage->result;
    result->written_bytes_per_grant = per_grant(stage->written_bytes, result->checked_grants);
    result->fsyncs_per_grant = per_grant(stage->fsyncs, result->checked_grants);
    if (stage->sessions_memory_bytes >= 0)
        result->memory_bytes_per_session =
            per_grant(stage->sessions_memory_bytes, result->connect_count);
}

static void fill_cost(struct stage *stage, const struct client_sums *sums,
                      const struct lb_lock *lock) {
    struct run_stage *result = &stage->result;
    double grants = result->grants;
    const struct lb_backend *backend = lock->backend;
    bool asks_server = backend->schemes && backend->topologies && !backend->program_speaks;
    if (asks_server && sums->sessions_known) {
        result->commands_per_grant = per_grant((double)sums->commands, grants);
        result->wakeups_per_grant = per_grant(sums->wakeups, grants);
    }
    if (sums->bytes_known && sums->bytes > 0)
        result->bytes_per_grant = per_grant(sums->bytes, grants);
    fill_cpu(stage);
    if (lock->primitive != LB_OPTIMISTIC) return;
    result->retries = sums->retries;
    result->retries_per_grant = per_grant(sums->retries, grants);
}

static void sum_clients(struct stage *stage, const struct shared *shared) {
    const struct lb_lock *lock = shared->lock->lock;
    struct run_stage *result = &stage->result;
    struct client_sums sums = {
        .bytes_known = true, .sessions_known = true, .least_grants = INFINITY};
    json_t *each = run_stage_keep(result, json_array());
    result->grants_per_client = each;
    for (int i = 0; i < shared->clients; i++) {
        sum_client(result, &sums, &shared->client[i]);
        json_array_append_new(each, json_integer((json_int_t)shared->client[i].grants));
    }
    if (result->connect_count > 0)
        result->connect_mean_ns = sums.connect_ns / result->connect_count;
    if (result->grants > 0) {
        result->min_share = sums.least_grants * shared->clients / result->grants;
        /* Jain, Chiu, Hawe, "A Quantitative Measure of Fairness", DEC-TR-301, 1984 */
        result->jain = result->grants * result->grants / (shared->clients * sums.squares);
    }
    if (shared->split) result->longest_run = NAN; /* of one host's grants alone it says nothing */
    stage->commands = sums.commands;
    fill_cost(stage, &sums, lock);
}

/* A killed client never left the cell that it was in, so its update is missing there: the lock did not cause that. */
static void excuse_the_dead(struct stage *stage, const struct shared *shared) {
    uint64_t *lost = &stage->exclusion.lost_updates;
    for (int i = 0; i < shared->clients; i++) {
        const struct client_stats *client = &shared->client[i];
        if (client->dead && (client->inside || client->met) && *lost > 0) --*lost;
    }
}

/* Grants that failed a check were not judged: they found no room, or their client was killed before it recorded them. Then
 * nothing is clean, and it is not known whether lost updates are those of holders that had outlived their leases. */
static void weaken(struct stage *stage, const struct shared *shared) {
    struct exclusion *x = &stage->exclusion;
    bool partial = stage->history && stage->history->dropped > 0;
    for (int i = 0; i < shared->clients; i++)
        partial |= shared->client[i].dead && shared->client[i].met;
    if (!partial || atomic_load(&shared->findings.met) == 0) return;
    bool only_updates = !x->double_holders && !x->revoked && !x->token_errors;
    if (x->verdict == VERDICT_CLEAN) x->verdict = VERDICT_UNCHECKED;
    if (x->verdict == VERDICT_VIOLATED && only_updates) x->verdict = VERDICT_EXPIRED;
}

/* For how much of the wait that the drain limit ended lockbench itself stood still: by the beats of the
 * client's thread; where the lock blocks that thread by design, by the supervisor's looks. */
static int64_t stood_in_wait_ns(const struct stage *stage, const struct shared *shared,
                                const struct client_stats *client) {
    int64_t from_ns = client->cut_off_at_ns - client->cut_off_ns, to_ns = client->cut_off_at_ns;
    if (!(shared->lock->lock->caps & LB_CAP_BLOCKS_THREAD)) return client->cut_off_stood_ns;
    if (stage->stood_from_ns > from_ns) from_ns = stage->stood_from_ns;
    if (stage->stood_until_ns < to_ns) to_ns = stage->stood_until_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

#define PASSED_OVER_MEAN 100 /* grants of each other client */

/* Clients that waited through all of the window, and longer than any slow server explains, while others were granted the
 * lock again and again. A wait that the drain limit ended is not counted here. */
static uint64_t count_passed_over(const struct stage *stage, const struct shared *shared) {
    double others = stage->result.grants / (shared->clients > 1 ? shared->clients - 1 : 1);
    double least_ns = fmax((double)stage->window_ns, (double)VERDICT_STUCK_PATIENCE_NS);
    double stood_ns = stage->result.stood_still_ns > 0 ? stage->result.stood_still_ns : 0;
    uint64_t count = 0;
    if (!(others >= PASSED_OVER_MEAN)) return 0;
    for (int i = 0; i < shared->clients; i++) {
        const struct client_stats *client = &shared->client[i];
        if (client->dead || client->grants > 0 || client->cut_off_ns > 0) continue;
        count += (double)client->max_wait_ns - stood_ns >= least_ns;
    }
    return count;
}

/* Waits that the drain limit ended. Those that were longer than any slow server explains make the
 * verdict, unless there may be another reason: a fault of the plan, a grant that was left behind, or
 * an open loop, which may ask for more than any lock can do. The time for which lockbench itself stood
 * still is no wait for the lock. A stage that was cut short says nothing. */
static void note_starved(struct stage *stage, const struct shared *shared) {
    if (shared->plan->mode != MODE_WAIT || stage->status != STAGE_COMPLETE) return;
    uint64_t ended = 0, starved = 0;
    for (int i = 0; i < shared->clients; i++) {
        const struct client_stats *client = &shared->client[i];
        if (client->dead || client->cut_off_ns <= 0) continue;
        int64_t stood_ns = stood_in_wait_ns(stage, shared, client);
        ended++;
        starved += client->cut_off_ns - stood_ns > stuck_patience_ns(shared);
        if (stood_ns > stage->starved_stood_ns) stage->starved_stood_ns = stood_ns;
    }
    stage->result.starved = (double)ended;
    bool closed = shared->plan->arrival.kind == ARRIVAL_CLOSED;
    if (!closed || stage->disturbed || stage->faults.count > 0) return;
    uint64_t passed_over = count_passed_over(stage, shared);
    stage->result.passed_over = (double)passed_over;
    stage->exclusion.starved = starved + passed_over;
}

/* Adds what crowds, versions and the judge found to the sums of the cells. */
static void sum_exclusion(struct stage *stage, const struct shared *shared) {
    struct exclusion *x = &stage->exclusion;
    crowds_sum(x, &shared->crowds, shared->key_count);
    if (shared->versions) versions_sum(x, shared->versions, shared->key_count);
    excuse_the_dead(stage, shared);
    if (stage->history) stage_history_sum(x, stage->history, shared->faulted);
    x->verdict = exclusion_verdict(x);
    weaken(stage, shared);
}

/* Without a judgement it is not known whether clients excluded each other. */
static void need_judge(struct stage *stage, const struct shared *shared) {
    const struct stage_history *history = stage->history;
    if (!shared->oplog || (history && history->judged)) return;
    if (stage->exclusion.verdict < VERDICT_EXPIRED) stage->exclusion.verdict = VERDICT_UNCHECKED;
    if (stage->status != STAGE_COMPLETE) return;
    stage->status = STAGE_FAILED;
    stage->err.code = 0;
    err_set(&stage->err, LB_EXIT_MACHINE,
            "whether the clients excluded each other is not known: %.300s",
            history && history->err.code ? history->err.text : "their record was not kept");
}

static void fill_exclusion(struct stage *stage, const struct shared *shared) {
    struct exclusion *x = &stage->exclusion;
    struct run_stage *result = &stage->result;
    const struct lb_lock *lock = shared->lock->lock;
    bool own_keys = shared->plan->keys.pick == KEYS_OWN; /* each client has a key of its own */
    bool baseline = lock->caps & LB_CAP_BASELINE;
    /* Grants in the warm-up alone are no measurement. Who asked in the warm-up may have been granted in the window. */
    bool granted = result->grants > 0 || result->throughput_per_s > 0;
    if (x->verdict == VERDICT_CLEAN && !granted) x->verdict = VERDICT_UNCHECKED;
    result->verdict = verdict_name(baseline ? VERDICT_BASELINE : x->verdict);
    result->checked_grants = (double)x->grants;
    result->counter = (double)x->counter;
    result->lost_updates = (double)x->lost_updates;
    result->double_holders = (double)x->double_holders;
    result->expired_holders = (double)x->expired_holders;
    result->token_errors = (double)x->token_errors;
    result->stuck = (double)x->stuck;
    add_to(&result->held_elsewhere, 0);
    result->detected = (double)x->detected;
    result->revoked = (double)x->revoked;
    result->ended = (double)x->ended;
    /* No client waits for a holder of an optimistic lock. */
    if (lock->primitive == LB_OPTIMISTIC) result->tested_grants = NAN;
    /* Each host has counted the waits for its own clients only. */
    if (stage->history && stage->history->trials > result->tested_grants)
        result->tested_grants = (double)stage->history->trials;
    if (x->verdict != VERDICT_CLEAN || baseline) return;
    double tested = isnan(result->tested_grants) ? (double)x->grants : result->tested_grants;
    if (shared->clients < 2 || own_keys) tested = 0; /* nobody met anybody */
    result->bound95 = bound_of_grants(tested);
    if (tested == 0) result->verdict = verdict_name(VERDICT_UNTESTED);
}

/* When all clients have left. */
static void sum_store(struct stage *stage, const struct shared *shared) {
    struct run_stage *result = &stage->result;
    const struct shared_store *store = &shared->store;
    if (!store->keys) return;
    uint64_t rightful = stage->history ? stage->history->judgement.refused : 0;
    struct store_sum sum = store_judge(&store->counts, rightful);
    result->store_fenced = store->fenced;
    result->stale_attempted = result->stale_accepted_unfenced = (double)sum.stale;
    if (!store->fenced) return;
    result->stale_rejected_fenced = (double)sum.rejected;
    result->stale_accepted_fenced = (double)sum.accepted;
    result->refused_fenced = (double)sum.refused;
}

/* Two ways to count the same. */
struct identity {
    const char *one, *other;
    double left, right;
    double part; /* of the left one by which they may differ: 0 for counts */
    bool applies;
};

static double recorded(const struct stage *stage, enum metric metric) {
    return (double)(stage->hist[metric]->count + stage->hist[metric]->over);
}

/* The first that does not hold fails the stage: its figures can't be trusted. */
static void check_identities(struct stage *stage, const struct identity *identities, int count) {
    for (int i = 0; i < count; i++) {
        const struct identity *this = &identities[i];
        if (!this->applies || fabs(this->left - this->right) <= this->part * this->left) continue;
        stage->status = STAGE_FAILED;
        stage->err.code = 0;
        err_set(&stage->err, LB_EXIT_MACHINE,
                "the stage's figures contradict each other: %s are %.15g, %s are %.15g: please "
                "report",
                this->one, this->left, this->other, this->right);
        return;
    }
}

/* A client that was killed, or that did not return from its driver, may have been between two counts. */
static void check_accounting(struct stage *stage, const struct shared *shared) {
    struct run_stage *result = &stage->result;
    bool whole = stage->status == STAGE_COMPLETE && stage->window_ns > 0 && !stage->hung;
    for (int i = 0; i < shared->clients; i++) whole &= !shared->client[i].dead;
    double states_ns = result->state_connecting_ns + result->state_thinking_ns +
                       result->state_waiting_ns + result->state_holding_ns +
                       result->state_releasing_ns + result->state_idle_ns;
    double granted = recorded(stage, METRIC_ACQUIRE);
    const struct identity identities[] = {
        {"grants", "the waits that were recorded for them", result->grants, granted, 0, whole},
        {"attempts", "the waits that were recorded", result->attempts,
         granted + recorded(stage, METRIC_WAIT_FAILED), 0, whole},
        {"arrivals", "those that were started or missed", result->due,
         result->started + result->missed, 0, whole && !isnan(result->due)},
        {"clients x window (ns)", "the times of all that clients did (ns)",
         (double)shared->clients * (double)stage->window_ns, states_ns, STATES_PART,
         whole && !isnan(states_ns)}};
    check_identities(stage, identities, sizeof identities / sizeof *identities);
}

/* Grants count by their own time. Attempts that began in the window would not do: those that end after the window are
 * as many as waited at its end, and those that began before it are as many as waited at its begin. */
static void fill_throughput(struct stage *stage, const struct shared *shared) {
    double grants = 0;
    for (int i = 0; i < shared->threads; i++)
        grants += (double)atomic_load(&shared->worker[i].window_grants);
    if (stage->window_ns > 0)
        stage->result.throughput_per_s = grants * 1e9 / (double)stage->window_ns;
}

void stage_sum(struct stage *stage, const struct shared *shared) {
    struct run_stage *result = &stage->result;
    result->threads = shared->threads;
    result->processes = shared->processes;
    sum_workers(stage, shared);
    sum_clients(stage, shared);
    if (result->held_elsewhere > 0) stage->stuck_keys.count = 0; /* they are not free */
    stage->exclusion = cells_sum(shared->cells, shared->cell_count, &shared->findings);
    stage->exclusion.stuck = stage->stuck_keys.count;
    note_starved(stage, shared);
    sum_store(stage, shared);
    sum_exclusion(stage, shared);
    need_judge(stage, shared);
    fill_throughput(stage, shared);
    fill_exclusion(stage, shared);
    fill_disk(stage);
    tick_sum(result, shared);
    stage_history_fill(result, stage->history);
    check_accounting(stage, shared);
}
