/* validate: rules about several values of a plan. An error names the key that should change. A
 * combination that is allowed, but is perhaps a mistake, gives a warning. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "bench/slo/slo.h"
#include "bench/workload/draft.h"
#include "bench/workload/schedule.h"
#include "bench/workload/sections.h"
#include "bench/workload/stages.h"

static int most_clients(const struct plan *plan) {
    int most = 0;
    for (int i = 0; i < plan->clients_count; i++) {
        if (plan->clients[i] > most) most = plan->clients[i];
    }
    return most;
}

/* A combination of values that is refused. */
struct rule {
    bool wrong;
    int number; /* the %d of why */
    const char *section, *key, *why;
};

/* Fills err with the key of the first rule that is broken, where its value was set (or that it is the default), and why
 * it is wrong. 0, or -1. */
static int refuse_first(const struct draft *draft, const struct rule *rules, size_t count,
                        struct lb_err *err) {
    const struct rule *rule = rules;
    char source[256], value[200], why[200];
    while (rule < rules + count && !rule->wrong) rule++;
    if (rule == rules + count) return 0;
    const struct setting *from = settings_find(&draft->settings, rule->section, rule->key);
    if (from) {
        setting_source(from, source, sizeof source);
    } else {
        snprintf(source, sizeof source, "%.120s: %s.%s", draft->plan->source, rule->section,
                 rule->key);
    }
    plan_key_text(draft->plan, rule->section, rule->key, value, sizeof value);
    snprintf(why, sizeof why, rule->why, rule->number);
    return err_set(err, LB_EXIT_USAGE, "%s = %s%s: %s", source, value, from ? "" : " (the default)",
                   why);
}

__attribute__((format(printf, 2, 3))) static void add_warning(struct draft *draft,
                                                              const char *format, ...) {
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_array_append_new(draft->plan->warnings, json_string(text));
}

/* Checks the values of a fault section against each other. */
static int check_fault(const struct draft *draft, int number, struct lb_err *err) {
    const struct plan *plan = draft->plan;
    const struct plan_fault *fault = &plan->faults[number];
    const char *section = fault_section_name(number);
    enum injection kind = fault->kind;
    char targets[160], wrong_target[200];
    int fewest = plan->clients[0];
    if (kind == INJECT_NONE) return 0;
    for (int i = 1; i < plan->clients_count; i++)
        fewest = plan->clients[i] < fewest ? plan->clients[i] : fewest;
    bool lasts = kind == INJECT_PAUSE || kind == INJECT_STARVE || kind == INJECT_SERVER_PAUSE;
    bool jumps = kind == INJECT_CLOCK || kind == INJECT_CLIENT_CLOCK;
    snprintf(wrong_target, sizeof wrong_target, "%s can't have this target; allowed: %s",
             injections[kind].name, fault_targets_text(kind, targets, sizeof targets));
    const struct rule rules[] = {
        {!(injections[kind].targets & (1u << fault->target)), 0, section, "target", wrong_target},
        {fault->for_ns == 0 && lasts, 0, section, "for",
         "it must end: set how long it lasts, for = 2s for example"},
        {fault->for_ns == 0 && kind == INJECT_SERVER_EMPTY, 0, section, "for",
         "a server comes back empty: set after how long, for = 2s for example"},
        {fault->by_ns == 0 && jumps, 0, section, "by",
         "set how far the clock jumps: by = 60s or by = -60s, for example"},
        {fault->by_ns <= 0 && kind == INJECT_WIRE_DELAY, 0, section, "by",
         "set by above 0: how much later each byte comes, by = 50ms for example"},
        {fault_needs_processes(fault) && (plan->processes < 2 || fewest < 2), 0, section, "kind",
         "it hits clients by their worker processes: set load.processes and load.clients to 2 or "
         "more"},
    };
    return refuse_first(draft, rules, sizeof rules / sizeof *rules, err);
}

/* Refuses promises about due times in a closed loop, which has no due times. */
static int check_promises(const struct draft *draft, struct lb_err *err) {
    struct threshold threshold[THRESHOLDS_MAX];
    int count = thresholds_read(draft->plan->promises, threshold, err);
    if (count < 0) return -1;
    bool closed = draft->plan->arrival.kind == ARRIVAL_CLOSED;
    struct stage_promise unused;
    if (draft->plan->stops && !slo_of_waits(threshold, count, closed, &unused))
        return err_set(err, LB_EXIT_USAGE,
                       "slo.stop: there is no promise to stop for: slo.promises = %s, say",
                       closed ? SLO_BY_CLIENTS : SLO_BY_RATE);
    for (int i = 0; i < count && closed; i++) {
        if (!threshold_needs_schedule(&threshold[i])) continue;
        return err_set(err, LB_EXIT_USAGE,
                       "%s can't be promised: a closed loop has no due times: promise acquire "
                       "instead, or set load.arrival = poisson:100/s, say",
                       threshold[i].text);
    }
    return 0;
}

/* Refuses the first key whose value contradicts the value of another key. */
static int check_values(const struct draft *draft, struct lb_err *err) {
    const struct plan *plan = draft->plan;
    int most = most_clients(plan);
    bool named = plan->key_names.count > 0;
    const struct rule rules[] = {
        {plan->threads > most, most, "load", "threads", "more threads than clients (%d at most)"},
        {plan->processes > most, most, "load", "processes",
         "more processes than clients (%d at most)"},
        {plan->threads > 0 && plan->processes > plan->threads, plan->threads, "load", "processes",
         "more processes than load.threads = %d, which counts all processes'"},
        {plan->clients_per_session > most, most, "load", "clients_per_session",
         "more than there are clients (%d at most)"},
        {plan->churn && plan->clients_per_session > 1, 0, "load", "session",
         "a session that clients share is kept: set load.clients_per_session = 1"},
        {plan->permits > plan->bound, (int)plan->bound, "acquire", "permits",
         "more than acquire.bound = %d has"},
        {plan->mode == MODE_TIMED && plan->timeout_ns == 0, 0, "acquire", "timeout",
         "acquire.mode = timed needs one: timeout = 50ms, say"},
        {named && plan->keys.pick == KEYS_OWN, 0, "load", "key_names",
         "with load.keys = own each client needs a key of its own; leave out one of the two"},
        {named && *plan->key_prefix, 0, "load", "key_prefix",
         "load.key_names says what the keys are called; leave out one of the two"},
        {strpbrk(plan->key_prefix, " \t,'\"\\*?") != NULL, 0, "load", "key_prefix",
         "no blanks, commas, quotes, backslashes, '*' or '?'"},
        {*plan->listen && plan->tls != PLAN_TLS_NO, 0, "servers", "tls",
         "the certificates of lockbench's servers are for 127.0.0.1, and servers.listen is for other "
         "hosts: leave out one of the two"},
    };
    return refuse_first(draft, rules, sizeof rules / sizeof *rules, err);
}

/* The same of times and rates. */
static int check_schedule(const struct draft *draft, struct lb_err *err) {
    const struct plan *plan = draft->plan;
    bool closed = plan->arrival.kind == ARRIVAL_CLOSED, ticks = plan->tick_ns > 0;
    bool one_job = plan->keys.pick != KEYS_OWN && plan->keys.count == 1;
    /* Ticks are counted from the begin of the warm-up. */
    int64_t before = ticks ? (plan->warmup_ns + plan->tick_ns - 1) / plan->tick_ns : 0;
    const struct rule rules[] = {
        {plan->rates_count > 0 && closed, 0, "load", "rates",
         "closed arrival has no rate: set load.arrival = poisson:100/s, whose rate these replace"},
        {plan->rates_count > 0 && plan->clients_count > 1, plan->clients_count, "load", "rates",
         "one list at a time: load.clients has %d numbers"},
        {!closed && plan->think.mean_ns > 0, 0, "load", "think",
         "with open arrival the schedule alone says when a client goes on; set think = 0"},
        {ticks && !closed, 0, "load", "tick",
         "ticks are a schedule of their own: set load.arrival = closed"},
        {ticks && !one_job, 0, "load", "tick",
         "all clients want the one job of a tick: set load.keys = 1"},
        {(before + 1) * plan->tick_ns > plan->warmup_ns + plan->duration_ns, 0, "load", "tick",
         "no tick lies in the window as a whole, so none would be counted: set run.duration to "
         "twice load.tick or more"},
        {ticks && plan->think.mean_ns >= plan->tick_ns, 0, "load", "think",
         "with load.tick, load.think is how long after a tick a client starts: set it below "
         "load.tick"},
    };
    return refuse_first(draft, rules, sizeof rules / sizeof *rules, err);
}

/* Warns if the arrivals ask for more holding time than the keys can give: each place on a key can be held for at most
 * one second in each second. Does not warn for readers, who hold together, or for clients that wait for a limited time
 * and then leave the queue. */
static void warn_overload(struct draft *draft) {
    const struct plan *plan = draft->plan;
    if (plan->arrival.kind == ARRIVAL_CLOSED || plan->mode != MODE_WAIT) return;
    double holders = INFINITY, keys = keys_count(&plan->keys, most_clients(plan));
    for (int i = 0; i < plan->lock_count; i++)
        holders = fmin(holders, keys_holders(plan, plan->locks[i].lock));
    double rate_per_s = plan->rates_count > 0 ? 0 : plan->arrival.rate_per_s;
    for (int i = 0; i < plan->rates_count; i++) {
        if (plan->rates[i] > rate_per_s) rate_per_s = plan->rates[i];
    }
    int readers = plan->readers_count > 0 ? 100 : 0;
    for (int i = 0; i < plan->readers_count; i++)
        readers = plan->readers[i] < readers ? plan->readers[i] : readers;
    double writers = 1 - readers / 100.0;
    double busy = rate_per_s * writers * (double)plan->hold.mean_ns / 1e9 / (keys * holders);
    if (busy >= 1) {
        add_warning(
            draft,
            "at %.6g requests a second load.hold takes %.2g times the time that the keys have (%.6g "
            "at a time may hold one): the queue grows without end",
            rate_per_s, busy, holders);
    }
}

/* Warns about a promise for `acquire` in an open loop: perhaps the greater figure acquire_due is meant. */
static void warn_promises(struct draft *draft) {
    struct threshold threshold[THRESHOLDS_MAX];
    struct lb_err checked = {0}; /* by check_promises */
    int count = thresholds_read(draft->plan->promises, threshold, &checked);
    for (int i = 0; i < count && draft->plan->arrival.kind != ARRIVAL_CLOSED; i++) {
        if (threshold_leaves_out_wait(&threshold[i]))
            add_warning(
                draft,
                "%s leaves out the wait for a free client; at a rate, a request waits from its due "
                "time: promise acquire_due",
                threshold[i].text);
    }
}

static void warn_about_values(struct draft *draft) {
    const struct plan *plan = draft->plan;
    int64_t kept_ns =
        plan->hold.mean_ns > plan->at_least_ns ? plan->hold.mean_ns : plan->at_least_ns;
    bool leased = false, any = false;
    for (int i = 0; i < plan->lock_count; i++) {
        leased |= (plan->locks[i].lock->caps & LB_CAP_LEASE) != 0;
        any |= !(plan->locks[i].lock->caps & LB_CAP_BASELINE);
    }
    if (plan->mode != MODE_TIMED && plan->timeout_ns > 0) {
        add_warning(draft, "acquire.timeout has no effect: acquire.mode is %s, not timed",
                    plan->mode == MODE_TRY ? "try" : "wait");
    }
    if (plan->mode == MODE_TRY && plan->arrival.kind == ARRIVAL_CLOSED &&
        plan->think.mean_ns == 0 && plan->tick_ns == 0) {
        add_warning(
            draft,
            "acquire.mode = try with load.think = 0: a busy client asks again at once, without rest");
    }
    if (leased && !plan->renew && kept_ns >= leases_shortest_ns(plan)) {
        add_warning(
            draft,
            "load.hold or acquire.at_least is no shorter than acquire.lease, which is not renewed: holders outlive their leases");
    }
    if (plan->renew && !leased && any) {
        add_warning(draft, "acquire.renew has no effect: no lock of this plan has a lease");
    }
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        if (plan->faults[i].kind == INJECT_NONE || plan->faults[i].first_ns < plan->duration_ns)
            continue;
        add_warning(draft, "%s.first is no earlier than run.duration: nothing will happen",
                    fault_section_name(i));
    }
    if (plan->hold.mean_ns > plan->duration_ns) {
        add_warning(draft,
                    "load.hold is longer than run.duration: there will be few grants to measure");
    }
    warn_overload(draft);
    warn_promises(draft);
}

int draft_check(struct draft *draft, struct lb_err *err) {
    struct plan *plan = draft->plan;
    if (plan->key_names.count > 0 && plan->keys.pick != KEYS_OWN)
        plan->keys.count = (uint32_t)plan->key_names.count;
    if (check_values(draft, err) || check_schedule(draft, err) || check_promises(draft, err))
        return -1;
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        if (check_fault(draft, i, err)) return -1;
    }
    warn_about_values(draft);
    return 0;
}
