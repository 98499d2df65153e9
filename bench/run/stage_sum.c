/* stage_sum: see stage_sum.h. */
#include "bench/run/stage_sum.h"

#include <stdlib.h>

#include "bench/run/stage_history.h"
#include "bench/run/stage_store.h"

double jain_index(const uint64_t *amounts, int count) {
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        sum += (double)amounts[i];
        squares += (double)amounts[i] * (double)amounts[i];
    }
    return squares > 0 ? sum * sum / (count * squares) : 0;
}

static void sum_workers(struct stage *stage, const struct shared *shared) {
    bool cpu_known = true;
    double cpu_ns = 0;
    for (int i = 0; i < shared->threads; i++) {
        const struct worker_stats *worker = &shared->worker[i];
        stage->attempts += atomic_load(&worker->attempts);
        for (int outcome = 0; outcome < LB_OUTCOMES; outcome++) {
            stage->outcomes[outcome] += atomic_load(&worker->outcomes[outcome]);
        }
        stage->due += worker->due;
        stage->started += worker->started;
        stage->missed += worker->missed;
        stage->queued += worker->queued;
        cpu_known &= worker->cpu_began && worker->cpu_ended;
        cpu_ns += (double)(worker->cpu_end_ns - worker->cpu_begin_ns);
        if (worker->blocked_max_ns > stage->blocked_max_ns)
            stage->blocked_max_ns = worker->blocked_max_ns;
        if (worker->stack_bytes_max > stage->stack_bytes_max)
            stage->stack_bytes_max = worker->stack_bytes_max;
        if (!stage->err.code && worker->first_err.code) stage->err = worker->first_err;
    }
    if (cpu_known) stage->client_cpu_ns = cpu_ns;
}

static void sum_clients(struct stage *stage, const struct shared *shared) {
    bool bytes_known = true;
    double bytes = 0, connect_ns = 0;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < shared->clients; i++) {
        const struct client_stats *client = &shared->client[i];
        if (stage->grants_per_client) stage->grants_per_client[i] = client->grants;
        stage->grants += client->grants;
        stage->commands += client->commands;
        stage->wakeups += client->wakeups;
        stage->shared_grants += client->shared_grants;
        stage->retries += client->retries;
        stage->inversions += client->inversions;
        if (client->detect_max_ns > stage->detect_max_ns)
            stage->detect_max_ns = client->detect_max_ns;
        bytes += (double)client->bytes;
        bytes_known &= client->bytes_known || client->guest || client->grants == 0;
        if (client->grants < least) least = client->grants;
        if (client->max_wait_ns > stage->max_wait_ns) stage->max_wait_ns = client->max_wait_ns;
        if (client->longest_run > stage->longest_run) stage->longest_run = client->longest_run;
        if (client->connect_ns >= 0) {
            stage->connected++;
            connect_ns += (double)client->connect_ns;
            if (client->connect_ns > stage->connect_max_ns)
                stage->connect_max_ns = client->connect_ns;
        }
    }
    if (stage->connected) stage->connect_mean_ns = connect_ns / (double)stage->connected;
    if (bytes_known && bytes > 0) stage->bytes = bytes;
    if (stage->grants) stage->min_share = (double)least * shared->clients / (double)stage->grants;
    if (stage->grants_per_client)
        stage->jain = jain_index(stage->grants_per_client, shared->clients);
}

static void sum_turns(struct stage *stage, const struct shared *shared) {
    struct hist *between = shared->turns ? hist_new(HIST_DIGITS, TURNS_HIGHEST) : NULL;
    if (!between) return;
    for (int i = 0; i < shared->threads; i++) hist_add(between, shared->worker[i].between);
    stage->turns = turns_sum(shared->turns, shared->clients, shared->turn_keys, between);
    hist_free(between);
}

/* What killed clients left undone is no fault of the lock's. */
static void excuse_the_dead(struct stage *stage, const struct shared *shared) {
    for (int i = 0; i < shared->clients; i++) {
        const struct client_stats *client = &shared->client[i];
        if (!client->dead || !client->inside) continue;
        exclusion_excuse(&stage->exclusion, &shared->findings, (uint32_t)i,
                         (uint32_t)client->inside);
    }
}

/* What is not in cells. */
static void judge_others(struct stage *stage, const struct shared *shared) {
    struct exclusion *x = &stage->exclusion;
    crowds_judge(x, &shared->crowds, shared->key_count);
    if (shared->versions) versions_judge(x, shared->versions, shared->key_count);
    x->oversold = stage->store.sale.oversold;
    stage->rounds = atomic_load(&shared->rounds);
    x->verdict = exclusion_verdict(x);
}

void stage_sum(struct stage *stage, const struct shared *shared, uint64_t stuck) {
    stage->clients = shared->clients;
    stage->threads = shared->threads;
    stage->processes = shared->processes;
    stage->grants_per_client = calloc((size_t)shared->clients, sizeof *stage->grants_per_client);
    sum_workers(stage, shared);
    sum_clients(stage, shared);
    sum_turns(stage, shared);
    stage->exclusion = cells_judge(shared->cells, shared->cell_count, &shared->findings);
    stage->exclusion.stuck = stuck;
    stage_store_sum(stage, shared);
    judge_others(stage, shared);
    excuse_the_dead(stage, shared);
    stage_history_weigh(stage);
    const struct exclusion *x = &stage->exclusion;
    stage->has_first = atomic_load(&shared->findings.first_state) == 2 &&
                       x->double_holders + x->expired_holders > 0;
    if (stage->has_first) {
        stage->first_key = shared->findings.first_key;
        stage->first_holder = shared->findings.first_holder;
        stage->first_intruder = shared->findings.first_intruder;
    }
    /* The identity that the counting stands on. Only a client that was killed may have been between
     * two counts, and is held to what it finished. */
    uint64_t sum = 0;
    bool killed = false;
    for (int outcome = 0; outcome < LB_OUTCOMES; outcome++) sum += stage->outcomes[outcome];
    for (int i = 0; i < shared->clients; i++) killed |= shared->client[i].dead;
    if (killed || stage->stuck) stage->attempts = sum;
    if (sum != stage->attempts) {
        stage->status = STAGE_FAILED;
        stage->err.code = 0;
        err_set(&stage->err, LB_EXIT_MACHINE,
                "accounting is wrong: %llu attempts, %llu outcomes: please report",
                (unsigned long long)stage->attempts, (unsigned long long)sum);
    }
}
