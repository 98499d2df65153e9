/* self_facts: see self_facts.h. */
#include "bench/run/self_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/sort.h"
#include "bench/load/worker.h"
#include "bench/run/stage_log.h"

static void take_counts(struct self_facts *facts, const struct stage *stage,
                        const struct shared *shared) {
    const struct run_stage *result = &stage->result;
    for (int i = 0; i < shared->threads; i++) {
        facts->attempts += (double)atomic_load(&shared->worker[i].attempts);
        for (int outcome = 0; outcome < LB_OUTCOMES; outcome++)
            facts->outcomes += (double)atomic_load(&shared->worker[i].outcomes[outcome]);
        facts->due += (double)shared->worker[i].due;
    }
    for (int i = 0; i < shared->clients; i++) {
        facts->grants_of_clients += (double)shared->client[i].grants;
        facts->whole &= !shared->client[i].dead;
    }
    const struct hist *acquire = stage->hist[METRIC_ACQUIRE];
    const struct hist *failed = stage->hist[METRIC_WAIT_FAILED];
    facts->grants_recorded = (double)(acquire->count + acquire->over);
    facts->failed_recorded = (double)(failed->count + failed->over);
    facts->clients_ns = (double)shared->clients * (double)stage->window_ns;
    facts->states_ns = result->state_connecting_ns + result->state_thinking_ns +
                       result->state_waiting_ns + result->state_holding_ns +
                       result->state_releasing_ns + result->state_idle_ns;
}

static void visit_log(void *arg, enum metric metric, int interval, int64_t length_ns,
                      const struct hist *hist) {
    double *counts = arg;
    (void)interval;
    (void)length_ns;
    counts[metric] += (double)hist->count;
}

static void take_log(struct self_facts *facts, const struct stage *stage,
                     const struct stage_ask *ask) {
    double counts[METRICS] = {0};
    struct lb_err unread = {0}; /* a log that could not be written has its own message */
    if (!ask->hlog_path || stage->log_err.code || !facts->whole) return;
    if (stage_log_read(ask->hlog_path, visit_log, counts, &unread) != 0) return;
    facts->log_read = true;
    for (int metric = 0; metric < METRICS; metric++) {
        if (metric == METRIC_PING) continue;                  /* not in the log */
        if (metric == METRIC_HANDOFF && ask->hosts) continue; /* made of the history */
        double apart = fabs((double)stage->hist[metric]->count - counts[metric]);
        facts->log_apart = fmax(facts->log_apart, apart);
    }
}

/* The distance of an arrival from the nearest time at which a constant rate has an arrival. */
static double off_grid_ns(const struct shared *shared, int64_t due_ns) {
    double gap_ns = 1e9 / shared->arrival.rate_per_s;
    double number = (double)(due_ns - shared->go_ns) / gap_ns;
    return fabs(number - round(number)) * gap_ns;
}

/* Notes the thread's arrivals until end_ns, and returns how many there are. */
static int take_arrivals_of(struct self_facts *facts, const struct shared *shared, int thread,
                            int64_t end_ns, int64_t *due_ns) {
    const struct worker_stats *worker = &shared->worker[thread];
    int count = 0;
    for (uint32_t i = 0; i < worker->arrival_count; i++) {
        int64_t at_ns = worker->arrivals_ns[i];
        facts->grid_off_ns = fmax(facts->grid_off_ns, off_grid_ns(shared, at_ns));
        if (at_ns <= end_ns) due_ns[count++] = at_ns;
    }
    return count;
}

/* Each thread keeps only its first arrivals: the end of the time of which all are known. */
static int64_t arrivals_known_until(const struct shared *shared) {
    int64_t end_ns = LB_NEVER;
    for (int i = 0; i < shared->threads; i++) {
        const struct worker_stats *worker = &shared->worker[i];
        bool full = worker->arrival_count == ARRIVALS_KEPT;
        if (full && worker->arrivals_ns[ARRIVALS_KEPT - 1] < end_ns)
            end_ns = worker->arrivals_ns[ARRIVALS_KEPT - 1];
    }
    return end_ns;
}

/* The gaps of all threads' arrivals together, which are Poisson at the whole rate. The gaps of one thread would not do
 * where each thread has few: the window's end cuts the last gap of each, so that short ones are too many. The first gap
 * is the one from the window's begin, which has the same distribution. */
static int take_arrivals(struct self_facts *facts, const struct stage *stage,
                         const struct shared *shared) {
    size_t room = 1;
    int count = 0;
    double gap_ns = 1e9 / shared->arrival.rate_per_s;
    int64_t last_ns = atomic_load(&shared->window_begin_ns), end_ns = arrivals_known_until(shared);
    facts->arrival = shared->arrival.kind;
    facts->due_expected = shared->arrival.rate_per_s * (double)stage->window_ns / 1e9;
    for (int i = 0; i < shared->threads; i++) room += shared->worker[i].arrival_count;
    int64_t *due_ns = malloc(room * sizeof *due_ns);
    facts->gaps = malloc(room * sizeof *facts->gaps);
    if (due_ns && facts->gaps) {
        for (int i = 0; i < shared->threads && facts->arrival != ARRIVAL_CLOSED; i++)
            count += take_arrivals_of(facts, shared, i, end_ns, due_ns + count);
        sort_times(due_ns, (size_t)count);
        for (int i = 0; i < count; last_ns = due_ns[i++])
            facts->gaps[i] = (double)(due_ns[i] - last_ns) / gap_ns;
        facts->gap_count = count;
    }
    free(due_ns);
    return due_ns && facts->gaps ? 0 : -1;
}

/* The window's last interval is not a second. */
static int take_seconds(struct self_facts *facts, const struct stage *stage) {
    bool open = stage->offered_per_s > 0;
    facts->seconds = malloc((size_t)(stage->second_count + 1) * sizeof *facts->seconds);
    if (!facts->seconds) return -1;
    for (int i = 0; i + 1 < stage->second_count && !stage->seconds[i + 1].draining; i++) {
        double value = open ? stage->seconds[i].due_mean_ns : (double)stage->seconds[i].ok;
        if (isnan(value)) continue; /* then that of no second is known */
        facts->seconds[facts->second_count++] = value;
    }
    return 0;
}

int self_facts_take(struct self_facts *facts, const struct stage *stage,
                    const struct stage_ask *ask, const struct shared *shared, struct lb_err *err) {
    bool whole = stage->status == STAGE_COMPLETE && !stage->hung && stage->window_ns > 0;
    *facts = (struct self_facts){.whole = whole};
    facts->early = ask->plan->duration_ns > stage->window_ns;
    facts->rounds = ask->lock->lock->primitive == LB_LATCH;
    facts->disturbed = stage->faults.count > 0;
    if (!facts->whole) return 0;
    take_counts(facts, stage, shared);
    take_log(facts, stage, ask);
    if (take_arrivals(facts, stage, shared) == 0 && take_seconds(facts, stage) == 0) return 0;
    return err_set(err, LB_EXIT_MACHINE, "out of memory for the self-checks");
}

void self_facts_done(struct self_facts *facts) {
    free(facts->gaps);
    free(facts->seconds);
    facts->gaps = facts->seconds = NULL;
}
