/* account: see account.h. */
#include "bench/load/account.h"

#include "bench/engine/loop.h"
#include "bench/load/session.h"
#include "bench/load/traffic.h"

void client_failed(struct client *client, int64_t waited_ns) {
    recorder_add(&client->worker->stats->recorder, METRIC_WAIT_FAILED, waited_ns);
    if (waited_ns > client->stats->max_wait_ns) client->stats->max_wait_ns = waited_ns;
}

void client_mend(struct client *client, enum lb_outcome outcome) {
    session_keep_err(client->session);
    if (outcome == LB_UNKNOWN) {
        client->unsettled_until_ns = lb_after(lb_now(), client->request.lease_ns);
    }
    /* A grant that could not be released is left until its lease ends. */
    if (outcome == LB_UNKNOWN || (outcome != LB_LOST && client->request.held > 0)) {
        client->worker->stats->unsure = true;
    }
    if (outcome == LB_UNKNOWN || outcome == LB_BROKEN) session_break(client->session);
}

void worker_mark(struct worker *worker, int64_t now_ns) {
    struct worker_stats *stats = worker->stats;
    struct shared *shared = worker->shared;
    if (!stats->cpu_began && now_ns >= stage_begin_ns(shared)) {
        stats->cpu_begin_ns = thread_cpu_ns();
        stats->cpu_began = true;
    }
    if (stats->cpu_began && !stats->cpu_ended && now_ns >= stage_end_ns(shared)) {
        stats->cpu_end_ns = thread_cpu_ns();
        stats->cpu_ended = true;
    }
}
