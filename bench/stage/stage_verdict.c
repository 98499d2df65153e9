/* stage_verdict: whether the load generator itself was the limit of a stage, and what is to be read
 * beside its figures; see stage.h. It judges no lock: conclusion.c does. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "bench/evidence/stage_history.h"
#include "bench/stage/machine.h"
#include "bench/stage/stage.h"
#include "results/format/run_read.h"

#define BUSY_SHARE 0.95
#define LATE_NS LB_MS_NS /* at this quantile and later: it shows in the figures */
#define LATE_QUANTILE 0.99

__attribute__((format(printf, 2, 3))) static void warn(json_t *warnings, const char *format, ...) {
    va_list args;
    va_start(args, format);
    json_array_append_new(warnings, json_vsprintf(format, args));
    va_end(args);
}

static double late_ms(const struct stage *stage, enum metric metric) {
    return (double)hist_quantile(stage->hist[metric], LATE_QUANTILE) / 1e6;
}

/* ---- the load generator's own limits ---- */

/* The engine's own timers were late. A driver that blocks its thread by design makes them so: then the
 * time that was lost is not known (NAN). */
static bool timers_were_late(const struct stage *stage) {
    return hist_quantile(stage->hist[METRIC_HICCUP], LATE_QUANTILE) > LATE_NS &&
           stage->result.stood_still_ns >= STOOD_LEAST_NS;
}

static bool starts_were_late(const struct stage *stage) {
    return hist_quantile(stage->hist[METRIC_LAG], LATE_QUANTILE) > LATE_NS;
}

/* Requests that fell due while all clients were busy waited for those: for the lock, or for too
 * small a pool. */
static bool pool_was_busy(const struct stage *stage) {
    /* A closed loop has no slots (NAN): the comparison is false, so the answer is true. */
    return !(stage->result.queued < (1 - LATE_QUANTILE) * stage->result.due);
}

/* Requests started late although a client was free for them. No closed loop: it has no slots. */
static bool starts_were_late_for_no_reason(const struct stage *stage, const struct lb_lock *lock) {
    return starts_were_late(stage) && !pool_was_busy(stage) && !(lock->caps & LB_CAP_BLOCKS_THREAD);
}

static void add_stood_still(json_t *warnings, const struct stage *stage) {
    const struct run_stage *result = &stage->result;
    double longest_ns = fmin((double)stage->hist[METRIC_HICCUP]->max, result->stood_still_ns);
    char time[100] = "", slots[100] = "";
    if (result->stood_still_ns == 0) {
        snprintf(time, sizeof time, " before the window");
    } else if (result->stood_still_ns > 0) {
        snprintf(time, sizeof time, " for %.3g s of %.3g s, at most %.3g s at a time",
                 result->stood_still_ns / 1e9, (double)stage->window_ns / 1e9, longest_ns / 1e9);
    }
    if (result->stalled > 0)
        snprintf(slots, sizeof slots,
                 ", and %.0f of %.0f arrivals fell due meanwhile or waited behind those",
                 result->stalled, result->due);
    warn(
        warnings,
        "generator-limited: lockbench itself stood still%s (it was stopped, the machine was busy, or "
        "the driver blocked its thread)%s",
        time, slots);
}

/* The share of the window for which the threads ran; NAN = not known. */
static double busy_share(const struct stage *stage) {
    double have_ns = (double)stage->window_ns * stage->result.threads;
    return have_ns > 0 ? stage->client_cpu_ns / have_ns : NAN;
}

/* By how much holds lasted longer than asked, on average. A driver that blocks its thread hides the thread's stalls, and
 * this is left to see that the machine was busy. */
static double held_late_ns(const struct stage *stage) {
    const struct dist *asked =
        &stage->ask->of.plan->hold; /* of drawn holds a few may be long by chance */
    bool tells = asked->kind == DIST_CONSTANT && asked->mean_ns > 0;
    if (!tells || !(stage->ask->of.lock->lock->caps & LB_CAP_BLOCKS_THREAD)) return 0;
    return hist_mean(stage->hist[METRIC_HOLD]) - (double)asked->mean_ns;
}

static void add_limits(json_t *warnings, const struct stage *stage) {
    const struct lb_lock *lock = stage->ask->of.lock->lock;
    if (run_stood_still(&stage->result)) {
        add_stood_still(warnings, stage);
    } else if (timers_were_late(stage)) {
        warn(warnings,
             "generator-limited: lockbench's own timers were late by %.1f ms at p99: use fewer "
             "clients, more threads or a less busy machine",
             late_ms(stage, METRIC_HICCUP));
    }
    if (held_late_ns(stage) > LATE_NS)
        warn(warnings,
             "generator-limited: holds lasted %.1f ms longer than load.hold says (a busy machine)",
             held_late_ns(stage) / 1e6);
    /* A lock in our own memory is itself what the threads run. */
    if (lock->backend->topologies && busy_share(stage) > BUSY_SHARE)
        warn(warnings,
             "generator-limited: lockbench's %.0f threads were busy for %.0f %% of the window: use "
             "more threads (load.threads) or another machine",
             stage->result.threads, 100 * busy_share(stage));
    if (steal_shows(stage->stolen_ns, stage->window_ns + stage->drain_ns))
        warn(
            warnings,
            "generator-limited: the host of this virtual machine took %.2g s of processor time in %.2g s "
            "(steal): clients and servers stood still meanwhile",
            (double)stage->stolen_ns / 1e9, (double)(stage->window_ns + stage->drain_ns) / 1e9);
    if (!run_stood_still(&stage->result) && starts_were_late_for_no_reason(stage, lock))
        warn(
            warnings,
            "generator-limited: starts were late by %.1f ms at p99 although clients were free: use "
            "a less busy machine",
            late_ms(stage, METRIC_LAG));
}

bool stage_is_limited(const struct stage *stage) {
    json_t *limits = json_array();
    add_limits(limits, stage);
    bool any = json_array_size(limits) > 0;
    json_decref(limits);
    return any;
}

/* ---- what else is to be read beside the figures ---- */

static void add_left_behind(json_t *warnings, const struct stage *stage) {
    if (stage->result.residue > 0)
        warn(warnings, "left on the server after everybody had gone: %.0f, such as %s",
             stage->result.residue, stage->result.residue_example);
    if (stage->tidy_err.code)
        warn(warnings, "could not ask the server what was left on it: %s", stage->tidy_err.text);
}

static void add_idle_keys(json_t *warnings, const struct stage_idle_keys *idle, bool to_the_end) {
    if (idle->count == 0) return;
    warn(warnings,
         "key %u: nobody was granted it for %s%.1f s, while %d client%s waited for it and nobody "
         "held it%s",
         idle->key, to_the_end ? "the last " : "", (double)idle->idle_ns / 1e9, idle->clients,
         idle->clients == 1 ? "" : "s", to_the_end ? "" : "; then it was granted again");
    if (idle->count > 1)
        warn(warnings, "the same of %llu keys; key %u is the one that was idle for longest",
             (unsigned long long)idle->count, idle->key);
}

static void add_starved(json_t *warnings, const struct stage *stage) {
    add_idle_keys(warnings, &stage->stuck_keys, true);
    add_idle_keys(warnings, &stage->idle_keys, false);
    if (!(stage->result.starved > 0)) return;
    char stood[80] = "";
    if (stage->starved_stood_ns > LB_S_NS / 10)
        snprintf(stood, sizeof stood, "; lockbench itself stood still for up to %.1f s of them",
                 (double)stage->starved_stood_ns / 1e9);
    warn(
        warnings,
        "the drain limit, %.3g s after the window (run.drain), had to end %.0f wait%s: no percentile "
        "of acquire has them%s%s",
        (double)stage->ask->of.plan->drain_ns / 1e9, stage->result.starved,
        stage->result.starved == 1 ? "" : "s", stood,
        stage->stuck_keys.count > 0
            ? ""
            : "; a longer drain shows whether the lock would have granted them");
}

static void add_stale_writes(json_t *warnings, const struct run_stage *result) {
    if (result->refused_fenced > 0)
        warn(
            warnings,
            "fencing tokens: %.0f write%s of the rightful holder %s refused: its token was not greater than an "
            "earlier holder's",
            result->refused_fenced, result->refused_fenced == 1 ? "" : "s",
            result->refused_fenced == 1 ? "was" : "were");
    if (!(result->stale_accepted_unfenced > 0 || result->stale_accepted_fenced > 0)) return;
    char fence[160] = "the lock has no tokens by which to reject them";
    if (!isnan(result->stale_rejected_fenced))
        snprintf(fence, sizeof fence, "a check of tokens rejected %.0f and let %.0f pass",
                 result->stale_rejected_fenced, result->stale_accepted_fenced);
    warn(warnings, "stale writes: %.0f overwrote a value after a later holder had got the lock; %s",
         result->stale_accepted_unfenced, fence);
}

static void add_history(json_t *warnings, const struct stage_history *history) {
    if (!history) return;
    if (history->err.code) {
        warn(warnings, "%.200s", history->err.text);
    } else if (history->dropped > 0) {
        warn(
            warnings,
            history->recorded
                ? "%llu operations found no room in the history and were not judged: they came faster than "
                  "the disk took them"
                : "%llu grants that failed a check found no room and were not judged: the findings are at least "
                  "those counted",
            (unsigned long long)history->dropped);
    }
}

static void add_wall_step(json_t *warnings, const struct stage *stage) {
    double step_s = stage->result.wall_step_ns / 1e9;
    double largest_s = (double)stage->wall_largest_ns / 1e9;
    const char *when = fabs(step_s) < largest_s ? "early or late" : step_s > 0 ? "early" : "late";
    char all[48] = "to and fro";
    if (stage->wall_largest_ns == 0) return;
    if (fabs(step_s) >= WALL_STEP_NS / 1e9) snprintf(all, sizeof all, "by %+.3g s in all", step_s);
    warn(
        warnings,
        "this machine's wall clock stepped %s, at most %.3g s at once, while the stage "
        "ran: servers on this machine that time leases by the wall clock ended leases %s by as much",
        all, largest_s, when);
}

static void add_overload(json_t *warnings, const struct stage *stage) {
    if (stage->enough && stage->ask->promise.limit_ns > 0)
        warn(warnings, "ended after %.1f s: by then the promise was broken for all of the window",
             (double)stage->window_ns / 1e9);
    if (stage->ask->of.plan->arrival.kind == ARRIVAL_CLOSED) return;
    double missed = stage->result.missed - (double)stage->stalled_missed;
    /* Chance leaves some there: arrivals scatter by the square root of their number, so a lock that just carries the rate
     * may be that far behind. */
    if (missed > 2 * sqrt(stage->result.due))
        warn(
            warnings,
            "%.0f of %.0f arrivals could not be started before the window's end: the lock does not "
            "carry this rate with %d clients",
            missed, stage->result.due, stage->ask->of.clients);
    if (starts_were_late(stage) && pool_was_busy(stage))
        warn(
            warnings,
            "starts were late by %.1f ms at p99: %.0f of %.0f arrivals fell due while all %sclients "
            "were busy",
            late_ms(stage, METRIC_LAG), stage->result.queued, stage->result.due,
            stage->result.threads > 1 ? "their thread's " : "");
}

static void add_unrecorded(json_t *warnings, const struct stage *stage) {
    double share = unrecorded_share(&stage->result);
    if (!(share > UNRECORDED_SHARE)) return;
    warn(
        warnings,
        "at least %.0f %% of the time that clients waited is in no percentile of acquire: such a wait began "
        "in the warm-up (the longest took %.3g s, the window %.3g s); run longer (run.duration)",
        unrecorded_per_cent(share), stage->result.max_wait_ns / 1e9,
        (double)stage->window_ns / 1e9);
}

json_t *stage_warnings(const struct stage *stage) {
    json_t *warnings = json_array();
    double blocked_ns = stage->result.blocked_ns_max; /* NAN where blocking is by design */
    if (blocked_ns > 10 * LB_MS_NS && !(stage->ask->of.lock->lock->caps & LB_CAP_BLOCKS_THREAD))
        warn(warnings,
             "a fiber kept its loop for %.1f ms (the driver blocking, or the machine busy): the "
             "latencies of that moment arose in lockbench, not in the server",
             blocked_ns / 1e6);
    add_starved(warnings, stage);
    add_left_behind(warnings, stage);
    add_stale_writes(warnings, &stage->result);
    add_history(warnings, stage->history);
    add_limits(warnings, stage);
    add_wall_step(warnings, stage);
    add_overload(warnings, stage);
    add_unrecorded(warnings, stage);
    return warnings;
}
