/* account: see account.h. */
#include "bench/load/account.h"

/* Notes a wait that the drain limit ended, if the attempt had no deadline (MODE_WAIT). LB_UNKNOWN counts, too: the
 * client waited for an answer that did not come. */
static void note_cut_off(struct client *client, enum lb_outcome outcome) {
    const struct stamps *stamps = &client->stamps;
    const struct worker *worker = client->worker;
    struct client_stats *stats = client->stats;
    if (outcome != LB_TIMEOUT && outcome != LB_UNKNOWN) return;
    if (worker->shared->plan->mode != MODE_WAIT || !lb_stopping()) return;
    stats->cut_off_ns = stamps->ended_ns - stamps->started_ns;
    stats->cut_off_at_ns = stamps->ended_ns;
    /* Waits of a driver that blocks its thread by design can't be told from stalls of the thread. */
    if (!(worker->shared->lock->lock->caps & LB_CAP_BLOCKS_THREAD))
        stats->cut_off_stood_ns =
            stalls_sum(&worker->stats->stalls, stamps->ended_ns) - stamps->stood_ns;
}

/* Records a grant in the window. */
static void record_grant(struct client *client) {
    const struct stamps *stamps = &client->stamps;
    const struct shared *shared = client->worker->shared;
    const struct entry *entry = &client->at.entry;
    struct client_stats *stats = client->stats;
    struct recorder *recorder = &client->worker->stats->recorder;
    int64_t waited_ns = stamps->acquired_ns - stamps->started_ns;
    bool reader = client->request.shared;
    recorder_add(recorder, METRIC_ACQUIRE, waited_ns);
    if (__builtin_expect(shared->readers > 0, 0))
        recorder_add(recorder, reader ? METRIC_ACQUIRE_SHARED : METRIC_ACQUIRE_EXCLUSIVE,
                     waited_ns);
    if (shared->due_apart)
        recorder_add(recorder, METRIC_ACQUIRE_DUE, stamps->acquired_ns - stamps->due_ns);
    recorder_add(recorder, METRIC_HOLD, stamps->releasing_ns - stamps->acquired_ns);
    if (stamps->released)
        recorder_add(recorder, METRIC_RELEASE, stamps->ended_ns - stamps->releasing_ns);
    /* There is a handoff only if the client was already waiting when the previous holder called release. */
    if (entry->releasing_ns > stamps->started_ns && !shared->split)
        recorder_add(recorder, METRIC_HANDOFF, stamps->acquired_ns - entry->releasing_ns);
    stats->grants++;
    if (reader) stats->shared_grants++;
    if (entry->run > stats->longest_run) stats->longest_run = entry->run;
}

/* The time in the window that is nearest to time_ns. */
static int64_t in_window(int64_t time_ns, int64_t begin_ns, int64_t end_ns) {
    if (time_ns < begin_ns) time_ns = begin_ns;
    return time_ns < end_ns ? time_ns : end_ns;
}

void client_spent(struct client *client, int64_t *state_ns, int64_t until_ns) {
    const struct shared *shared = client->worker->shared;
    int64_t begin_ns = stage_begin_ns(shared), end_ns = stage_end_ns(shared);
    *state_ns +=
        in_window(until_ns, begin_ns, end_ns) - in_window(client->state_since_ns, begin_ns, end_ns);
    client->state_since_ns = until_ns;
}

/* The states of an attempt follow each other, from one stamp to the next. */
static void add_states(struct client *client) {
    const struct stamps *stamps = &client->stamps;
    struct client_stats *stats = client->stats;
    int64_t begin_ns = stage_begin_ns(client->worker->shared);
    int64_t end_ns = stage_end_ns(client->worker->shared);
    int64_t at_ns[] = {client->state_since_ns, stamps->began_ns,     stamps->started_ns,
                       stamps->acquired_ns,    stamps->releasing_ns, stamps->ended_ns};
    if (!stamps->granted) at_ns[4] = stamps->ended_ns;
    client->state_since_ns = stamps->ended_ns;
    if (__builtin_expect(at_ns[0] < begin_ns || at_ns[5] > end_ns, 0))
        for (size_t i = 0; i < sizeof at_ns / sizeof *at_ns; i++)
            at_ns[i] = in_window(at_ns[i], begin_ns, end_ns);
    stats->state_idle_ns += at_ns[1] - at_ns[0];
    stats->state_connecting_ns += at_ns[2] - at_ns[1];
    stats->state_waiting_ns += at_ns[3] - at_ns[2];
    stats->state_holding_ns += at_ns[4] - at_ns[3];
    stats->state_releasing_ns += at_ns[5] - at_ns[4];
}

void account_attempt(struct client *client, enum lb_outcome outcome) {
    const struct stamps *stamps = &client->stamps;
    struct worker_stats *worker = client->worker->stats;
    add_states(client);
    if (!stamps->granted) note_cut_off(client, outcome);
    if (!stamps->measured) return;
    count_by(&worker->outcomes[outcome], 1);
    if (client->worker->shared->due_apart)
        recorder_add(&worker->recorder, METRIC_LAG, stamps->began_ns - stamps->due_ns);
    if (stamps->granted) {
        record_grant(client);
    } else {
        recorder_add(&worker->recorder, METRIC_WAIT_FAILED,
                     stamps->acquired_ns - stamps->started_ns);
    }
}
