/* column: see column.h. */
#include "report/run/column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run/words.h"

#define NUMBER(path, title, brief, better, member, help)                                           \
    { path, title, brief, help, COLUMN_NUMBER, better, offsetof(struct run_stage, member), NULL }
#define SPECIAL(path, title, brief, better, member, replaces, help)                                \
    {                                                                                              \
        path, title, brief, help, COLUMN_NUMBER, better, offsetof(struct run_stage, member),       \
            replaces                                                                               \
    }
#define SPECIAL_TIME(path, title, brief, better, member, replaces, help)                           \
    { path, title, brief, help, COLUMN_TIME, better, offsetof(struct run_stage, member), replaces }
#define TIME(path, title, brief, better, member, help)                                             \
    { path, title, brief, help, COLUMN_TIME, better, offsetof(struct run_stage, member), NULL }
#define LATENCY(name, metric, part, help)                                                          \
    TIME("latency_ns." name "." #part, name " " #part, name, -1, latency[metric].part, help)
#define END                                                                                        \
    { NULL, NULL, NULL, NULL, COLUMN_NUMBER, 0, 0, NULL }

const struct column columns_compare[] = {
    NUMBER("throughput_per_s", "grants/s", "grants/s", 1, throughput_per_s,
           "acquires that were granted, per second, all clients together"),
    TIME("latency_ns.acquire.p50", "acquire p50", "acq p50", -1, latency[RUN_ACQUIRE].p50,
         "from asking to holding, waiting included: half of the grants took less"),
    TIME("latency_ns.acquire.p99", "acquire p99", "acq p99", -1, latency[RUN_ACQUIRE].p99,
         "99 of 100 grants took less"),
    SPECIAL_TIME("latency_ns.connect.p50", "connect p50", "connect", -1, latency[RUN_CONNECT].p50,
                 "latency_ns.release.p50",
                 "opening the session of an attempt, where each has its own"),
    TIME("latency_ns.release.p50", "release p50", "release", -1, latency[RUN_RELEASE].p50,
         "the release call"),
    SPECIAL_TIME("latency_ns.last_awake.p50", "last awake p50", "awake", -1,
                 latency[RUN_LAST_AWAKE].p50, "latency_ns.handoff.p50",
                 "latches: from the last count-down's call to the last awaiter's return"),
    TIME("latency_ns.handoff.p50", "handoff p50", "handoff", -1, latency[RUN_HANDOFF].p50,
         "from one holder's release call to the next waiter's grant"),
    TIME("latency_ns.ping.p50", "ping p50", "ping", 0, latency[RUN_PING].p50,
         "an empty round trip on the same connection: the floor"),
    NUMBER("fairness.jain", "Jain", "Jain", 1, jain,
           "Jain's index of grants a client: 1 = all got the same"),
    NUMBER("cost.commands_per_grant", "commands a grant", "cmds/gr", -1, commands_per_grant,
           "requests sent to the server for each grant, polling included"),
    SPECIAL("cost.wakeups_per_grant", "wake-ups a grant", "wakes/gr", -1, wakeups_per_grant,
            "latency_ns.ping.p50",
            "how often waiters were woken, or had slept, and looked again for each grant"),
    SPECIAL(
        "cost.retries_per_grant", "retries a write", "retries", -1, retries_per_grant,
        "cost.server_cpu_ns_per_grant",
        "optimistic locks: writes that found another's and were tried again, for each that succeeded"),
    TIME("cost.server_cpu_ns_per_grant", "server CPU a grant", "srv CPU", -1,
         server_cpu_ns_per_grant, "processor time of the server for each grant"),
    END,
};

#define PERCENTILES(name, metric)                                                                  \
    LATENCY(name, metric, p50, "half took less"), LATENCY(name, metric, p90, "9 of 10 took less"), \
        LATENCY(name, metric, p99, "99 of 100 took less"),                                         \
        LATENCY(name, metric, p999, "999 of 1,000 took less"),                                     \
        LATENCY(name, metric, max, "the longest")

const struct column columns_latency[] = {
    PERCENTILES("acquire", RUN_ACQUIRE),
    PERCENTILES("release", RUN_RELEASE),
    PERCENTILES("handoff", RUN_HANDOFF),
    END,
};

const struct column columns_fairness[] = {
    NUMBER("fairness.jain", "Jain's index", "Jain", 1, jain,
           "1 = all clients were granted the same number"),
    NUMBER("fairness.min_share", "least share", "share", 1, min_share,
           "grants of the least served client, as a part of a fair share: 1 = fair, 0 = starved"),
    TIME("fairness.max_wait_ns", "longest wait", "max wait", -1, max_wait_ns,
         "the longest wait of any client, granted or not"),
    NUMBER("fairness.longest_run", "longest run", "run", -1, longest_run,
           "grants of one key to one client in a row, while others may have waited"),
    NUMBER(
        "fairness.lwss", "working set", "LWSS", 0, lwss,
        "LWSS: different clients among the grants of a window of one key; all of them: fair also in the "
        "short "
        "run"),
    NUMBER("fairness.lwss_window", "its window", "window", 0, lwss_window,
           "grants of one key in such a window"),
    NUMBER(
        "fairness.mttr", "to reacquire", "MTTR", 0, mttr,
        "MTTR: grants to others until a client got the key again, median; in strict order one less than the "
        "clients"),
    END,
};

const struct column columns_cost[] = {
    NUMBER("cost.commands_per_grant", "commands a grant", "cmds/gr", -1, commands_per_grant,
           "requests sent to the server for each grant"),
    NUMBER("cost.wakeups_per_grant", "wake-ups a grant", "wakes/gr", -1, wakeups_per_grant,
           "how often waiters were woken, or had slept, and looked again for each grant"),
    NUMBER("cost.bytes_per_grant", "bytes a grant", "bytes", -1, bytes_per_grant,
           "sent and received for each grant"),
    TIME("cost.client_cpu_ns_per_grant", "client CPU a grant", "cli CPU", -1,
         client_cpu_ns_per_grant,
         "processor time of the clients for each grant, the tool's own work included"),
    TIME("cost.server_cpu_ns_per_grant", "server CPU a grant", "srv CPU", -1,
         server_cpu_ns_per_grant, "processor time of the server for each grant"),
    TIME("connect_ns.mean", "connect, mean", "connect", -1, connect_mean_ns, "opening one session"),
    TIME("latency_ns.connect.p50", "connect p50", "connect", -1, latency[RUN_CONNECT].p50,
         "opening the session of an attempt, where each has its own"),
    TIME("latency_ns.connect.p99", "connect p99", "connect", -1, latency[RUN_CONNECT].p99,
         "99 of 100 took less"),
    END,
};

#define COUNT(name, help) NUMBER("outcomes." #name, #name, #name, 0, name, help)

const struct column columns_outcome[] = {
    NUMBER("attempts", "attempts", "attempts", 0, attempts,
           "acquires begun in the measured window"),
    COUNT(ok, "granted"),
    COUNT(busy, "held by somebody else, and the client did not want to wait"),
    COUNT(timeout, "the client gave up waiting"),
    COUNT(lost, "the lease or session ended while held"),
    COUNT(unknown, "sent, and the answer was lost"),
    COUNT(refused, "the server said no for good"),
    COUNT(broken, "could not ask"),
    END,
};

const struct column columns_open[] = {
    NUMBER("arrivals.due", "due", "due", 0, due, "arrivals that the schedule had in the window"),
    NUMBER("arrivals.started", "started", "started", 0, started, "of them, begun in the window"),
    NUMBER("arrivals.missed", "missed", "missed", -1, missed,
           "of them, not begun: no client was free"),
    TIME("latency_ns.acquire_due.p50", "due to held p50", "due p50", -1,
         latency[RUN_ACQUIRE_DUE].p50,
         "from when it was due to when it was granted: what a user of an open system feels"),
    TIME("latency_ns.acquire_due.p99", "due to held p99", "due p99", -1,
         latency[RUN_ACQUIRE_DUE].p99, "99 of 100 took less"),
    TIME("latency_ns.lag.p99", "lag p99", "lag", -1, latency[RUN_LAG].p99,
         "due to started: how late the load generator itself was"),
    END,
};

const struct column columns_store[] = {
    NUMBER("store.stale_attempted", "stale writes", "stale", -1, stale_attempted,
           "writes by a holder after somebody else had come in"),
    NUMBER("store.stale_accepted_unfenced", "accepted unfenced", "accepted", -1,
           stale_accepted_unfenced, "of them, taken by the store that checks no token"),
    NUMBER("store.stale_rejected_fenced", "rejected fenced", "rejected", 0, stale_rejected_fenced,
           "of them, refused by the store that checks the fencing token"),
    NUMBER("store.stale_accepted_fenced", "accepted fenced", "leaked", -1, stale_accepted_fenced,
           "of them, taken in spite of the check: the token is at fault"),
    NUMBER("store.lost_updates_unfenced", "lost updates unfenced", "lost", -1,
           lost_updates_unfenced,
           "updates that are missing from the value that is written without a token"),
    NUMBER("store.lost_updates_fenced", "lost updates fenced", "lost f.", -1, lost_updates_fenced,
           "updates that are missing from the value that is written with a token"),
    END,
};

const struct column columns_history[] = {
    NUMBER("history.ops", "operations", "ops", 0, history_ops,
           "acquires, releases and renewals that were judged"),
    NUMBER("history.dropped", "dropped", "dropped", -1, history_dropped,
           "operations that there was no room for: what follows holds for the others"),
    NUMBER("history.violations", "violations", "violated", -1, history_violations,
           "two holders inside their leases"),
    NUMBER("history.expired", "outlived leases", "expired", -1, history_expired,
           "holders that went on after their lease while another held"),
    NUMBER("history.token_errors", "token errors", "tokens", -1, history_token_errors,
           "fencing tokens that did not grow from grant to grant"),
    NUMBER("history.spurious_busy", "spurious busy", "spurious", -1, spurious_busy,
           "said to be busy while nobody can have held it"),
    NUMBER("history.inversions", "inversions", "inverted", -1, history_inversions,
           "grants that somebody who asked later got before"),
    END,
};

const struct column columns_recovery[] = {
    NUMBER("recovery.count", "trials", "trials", 0, recovery_count,
           "faults that were recovered from"),
    NUMBER("recovery.unrecovered", "never", "never", -1, unrecovered,
           "keys that nobody got any more"),
    TIME("recovery.min_ns", "min", "min", -1, recovery_min,
         "from the fault to the first grant after it"),
    TIME("recovery.p50_ns", "p50", "p50", -1, recovery_p50, "half of the trials took less"),
    TIME("recovery.p90_ns", "p90", "p90", -1, recovery_p90, "9 of 10 took less"),
    TIME("recovery.max_ns", "max", "max", -1, recovery_max, "the longest"),
    TIME("recovery.theory_min_ns", "theory, least", "th. min", 0, theory_min,
         "the shortest that theory allows"),
    TIME("recovery.theory_max_ns", "theory, most", "th. max", 0, theory_max,
         "the longest that theory allows"),
    TIME("recovery.unavailable_ns", "longest without a grant", "outage", -1, unavailable,
         "the longest time around a fault in which nobody was granted anything"),
    NUMBER("recovery.grants_lost", "grants lost", "lost", -1, grants_lost,
           "grants whose holder was told, or whose release said, that they were lost"),
    NUMBER(
        "recovery.lost_wakeups", "lost wake-ups", "wakes", -1, lost_wakeups,
        "waits for a key that was free for longer than half a lease, while nothing else was wrong"),
    NUMBER("recovery.detect.count", "losses learned", "learned", 0, loss_detected,
           "holders that learned that they had lost the lock"),
    TIME("recovery.detect.p50_ns", "learned after, p50", "learn p50", -1, loss_detect_p50,
         "from the loss to learning of it"),
    TIME("recovery.detect.max_ns", "learned after, max", "learn max", -1, loss_detect_max,
         "the longest"),
    NUMBER("recovery.detect.never", "never learned", "never", -1, loss_never_detected,
           "holders that others met and that nobody told"),
    END,
};

const struct column columns_tool[] = {
    TIME(
        "executor.hiccup_ns.p99", "stall p99", "stall", -1, hiccup.p99,
        "how late the tool's own timers fired: noise of the machine and the tool, not of the lock"),
    TIME("executor.hiccup_ns.max", "stall max", "stall max", -1, hiccup.max,
         "the longest such stall"),
    TIME("executor.blocked_ns_max", "loop held", "held", -1, blocked_ns_max,
         "the longest time that one client kept the others of its thread from running"),
    NUMBER("executor.stolen_share", "stolen", "stolen", -1, stolen_share,
           "seconds of processor time that the host of this virtual machine took, a second"),
    TIME("latency_ns.lag.p99", "lag p99", "lag", -1, latency[RUN_LAG].p99, "due to started"),
    NUMBER("threads", "threads", "threads", 0, threads,
           "operating system threads that drove the clients"),
    NUMBER("executor.fibers", "fibers", "fibers", 0, fibers,
           "clients and helpers that shared them"),
    NUMBER("executor.stack_bytes_max", "deepest stack", "stack", 0, stack_bytes_max, "bytes"),
    END,
};

double column_value(const struct column *column, const struct report_row *row) {
    return run_stage_figure(&row->figures, column->offset);
}

const struct number_unit *column_unit(const struct column *column,
                                      const struct report_group *group) {
    if (column->kind != COLUMN_TIME || !column_used(column, group)) return &number_plain;
    double *values = malloc((size_t)group->row_count * sizeof *values);
    if (!values) return number_time_unit(NULL, 0);
    int count = 0;
    /* What is no lock, or none that waits, would pull the unit down to ns for all the others. */
    for (int r = 0; r < group->row_count; r++) {
        if (report_is_real(&group->rows[r].figures))
            values[count++] = column_value(column, &group->rows[r]);
    }
    const struct number_unit *unit = number_time_unit(values, count);
    free(values);
    return unit ? unit : number_time_unit(NULL, 0);
}

bool column_is_best(const struct column *column, const struct report_group *group, int row) {
    double mine = column_value(column, &group->rows[row]);
    enum durability durability = words_durability(group->rows[row].typical);
    int worse = 0;
    if (column->better == 0 || isnan(mine) || !group->rows[row].candidate) return false;
    for (int r = 0; r < group->row_count; r++) {
        double value = column_value(column, &group->rows[r]);
        if (r == row || isnan(value) || !group->rows[r].candidate) continue;
        if (words_durability(group->rows[r].typical) != durability) continue;
        if (column->better * value > column->better * mine) return false;
        worse += value != mine;
    }
    return worse > 0;
}

double column_ratio(const struct column *column, const struct report_group *group, int row) {
    double mine = column_value(column, &group->rows[row]), best = NAN;
    enum durability durability = words_durability(group->rows[row].typical);
    if (column->better == 0 || isnan(mine) || !group->rows[row].candidate) return NAN;
    for (int r = 0; r < group->row_count; r++) {
        double value = column_value(column, &group->rows[r]);
        if (isnan(value) || !group->rows[r].candidate) continue;
        if (words_durability(group->rows[r].typical) != durability) continue;
        if (isnan(best) || column->better * value > column->better * best) best = value;
    }
    if (!(best > 0 && mine > 0)) return NAN;
    return column->better > 0 ? best / mine : mine / best;
}

double column_ratio_mean(const struct report_group *group, int row) {
    double sum = 0;
    int count = 0;
    for (const struct column *column = columns_compare; column->key; column++) {
        double ratio = column->replaces ? NAN : column_ratio(column, group, row);
        if (isnan(ratio)) continue;
        sum += log(ratio);
        count++;
    }
    return count ? exp(sum / count) : NAN;
}

static bool is_special(const struct column *column, const struct report_group *group) {
    for (int r = 0; r < group->row_count && column->replaces; r++) {
        if (column_value(column, &group->rows[r]) > 0) return true;
    }
    return false;
}

bool column_shown(const struct column *column, const struct report_group *group, bool narrow) {
    if (column->replaces) return is_special(column, group);
    for (const struct column *other = columns_compare; narrow && other->key; other++) {
        if (!other->replaces || strcmp(other->replaces, column->key) != 0) continue;
        if (is_special(other, group)) return false;
    }
    return true;
}

bool column_used(const struct column *column, const struct report_group *group) {
    for (int r = 0; r < group->row_count; r++) {
        if (!isnan(column_value(column, &group->rows[r]))) return true;
    }
    return false;
}
