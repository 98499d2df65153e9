/* table: the known answers. A new answer is a row below; a new situation is an experiment, and
 * where the fake server must do something new, a member of struct fake_script.
 *
 * Scripted times are milliseconds, long against the noise of a machine with two processors. Where a
 * row says "the log", the truth is the fake server's own record; "the wire" is the time between a
 * grant's answer and the client's release in that log. */
#include "bench/tests/answers/answers.h"

#include "bench/base/clock.h"
#include "bench/tests/answers/studies.h"

#define MS LB_MS_NS
#define LOCKED_FOREVER "acquire.lease=1h"

#define EXPERIMENT(id, words, ...)                                                                 \
    static const struct experiment id = {.name = #id, .scripted = words, __VA_ARGS__}
#define RESP(...) .lock = "redis-setnx", .script = {__VA_ARGS__}
#define MEMCACHED(...) .lock = "memcached-add", .script = {.protocol = FAKE_MEMCACHED, __VA_ARGS__}
#define NATS(...) .lock = "nats-kv", .script = {.protocol = FAKE_NATS, __VA_ARGS__}
/* settings, of which answers.ini has the usual ones: 4 clients, a key each */
#define WITH(...) .settings = {__VA_ARGS__}

/* ---- percentiles of closed loops ---- */

EXPERIMENT(fixed,
           "RESP: an acquire takes 20 ms, a release 5 ms; 4 clients in a closed loop, a key each",
           RESP(.acquire_ns = 20 * MS, .release_ns = 5 * MS), .seconds = 10, .brief_seconds = 1);

EXPERIMENT(slow_replies,
           "RESP: an acquire takes 10 ms, each 100th 200 ms more; 8 clients, a key each",
           RESP(.acquire_ns = 10 * MS, .slow_every = 100, .slow_ns = 200 * MS),
           WITH("load.clients=8"), .seconds = 20);

EXPERIMENT(serial_loop,
           "memcached: one acquire is served at a time, 5 ms each; 8 clients, a key each",
           MEMCACHED(.acquire_ns = 5 * MS, .serial = true), WITH("load.clients=8"), .seconds = 10);

EXPERIMENT(nats,
           "NATS: the write that acquires takes 20 ms, the look before it nothing; 4 "
           "clients, a key each",
           NATS(.acquire_ns = 20 * MS), .seconds = 10);

/* ---- open loops ---- */

EXPERIMENT(md1, "RESP, M/D/1: Poisson arrivals, 30/s; one acquire is served at a time, 20 ms each",
           RESP(.acquire_ns = 20 * MS, .serial = true),
           WITH("load.clients=256", "load.arrival=poisson:30/s"), .seconds = 120);

EXPERIMENT(mm1,
           "memcached, M/M/1: Poisson arrivals, 25/s; one acquire is served at a time, "
           "exponential with mean 20 ms",
           MEMCACHED(.acquire_ns = 20 * MS, .serial = true, .exponential = true, .seed = 3),
           WITH("load.clients=256", "load.arrival=poisson:25/s"), .seconds = 90);

EXPERIMENT(freeze,
           "RESP: 100 arrivals a second, an acquire takes 1 ms; the server stands still for "
           "1.4 s, once in 10 s",
           RESP(.acquire_ns = MS, .freeze_after_ns = 3000 * MS, .freeze_ns = 1400 * MS),
           WITH("load.clients=256", "load.arrival=constant:100/s"), .seconds = 10);

EXPERIMENT(small_pool,
           "RESP: 40 arrivals a second for one client, an acquire takes 50 ms: the queue grows",
           RESP(.acquire_ns = 50 * MS), WITH("load.clients=1", "load.arrival=constant:40/s"),
           .seconds = 8);

/* ---- one key: handoff, fairness ---- */

EXPERIMENT(fifo,
           "RESP: 4 clients on one key, hold 10 ms, served in order, 10 ms after each release",
           RESP(.queue = true, .handoff_ns = 10 * MS, .pattern = "0123"), WITH("load.keys=1"),
           .hold_ns = 10 * MS, .seconds = 10, .brief_seconds = 1);

EXPERIMENT(unfair,
           "RESP: the same, granted in the order 0 0 0 1 0 2 0 0 0 3, again and again, 5 ms each",
           RESP(.queue = true, .handoff_ns = 5 * MS, .pattern = "0001020003"), WITH("load.keys=1"),
           .hold_ns = 5 * MS, .seconds = 20);

/* ---- what is not granted ---- */

EXPERIMENT(busy, "RESP: each 4th try is told busy; 4 clients, a key each, 5 ms a try",
           RESP(.acquire_ns = 5 * MS, .busy_every = 4), WITH("acquire.mode=try"), .seconds = 5,
           .brief_seconds = 0.5);

EXPERIMENT(timeouts,
           "memcached: after 100 grants nobody is granted anything; clients give up after 50 ms",
           MEMCACHED(.acquire_ns = 2 * MS, .stop_after = 100),
           WITH("acquire.mode=timed", "acquire.timeout=50ms"), .seconds = 5);

EXPERIMENT(lost, "memcached: each 10th release is told that the key is gone; 4 clients, a key each",
           MEMCACHED(.acquire_ns = 5 * MS, .lose_every = 10), .seconds = 5, .brief_seconds = 0.5);

EXPERIMENT(silent, "RESP: each 20th acquire is never answered; clients wait 200 ms for an answer",
           RESP(.acquire_ns = 5 * MS, .silent_every = 20), WITH("redis.command_timeout=200ms"),
           .seconds = 5);

EXPERIMENT(
    stops_granting,
    "sim: the 300th release is forgotten, and its lease is an hour: 16 clients wait for ever",
    .lock = "sim", .polls = true,
    WITH("load.clients=16", "load.keys=1", "sim.lose_every=300", LOCKED_FOREVER, "run.drain=1s"),
    .hold_ns = MS, .seconds = 5);

EXPERIMENT(never_again,
           "RESP: after 100 grants the server tells everybody that the key is held; 4 "
           "clients, a key each, nobody holds",
           RESP(.acquire_ns = 5 * MS, .stop_after = 100), WITH(LOCKED_FOREVER, "run.drain=8s"),
           .seconds = 3);

/* ---- exclusion ---- */

EXPERIMENT(doubled,
           "sim: each 50th acquire of 8 clients on one key is granted though the key is held",
           .lock = "sim", .polls = true,
           WITH("load.clients=8", "load.keys=1", "sim.double_every=50", "sim.service=1ms"),
           .hold_ns = 2 * MS, .seconds = 5, .brief_seconds = 0.7);

EXPERIMENT(doubled_once,
           "sim: each 100,000th acquire of 16 clients on one key, hold 50 us, is granted "
           "though the key is held",
           .lock = "sim", .polls = true,
           WITH("load.clients=16", "load.keys=1", "sim.double_every=100000", "sim.service=0"),
           .hold_ns = 50 * LB_US_NS, .seconds = 40);

EXPERIMENT(excludes, "sim: 8 clients on one key, hold 1 ms, no fault", .lock = "sim", .polls = true,
           WITH("load.clients=8", "load.keys=1"), .hold_ns = MS, .seconds = 5);

/* ---- connecting ---- */

EXPERIMENT(connecting,
           "RESP: a new connection's first answer takes 50 ms; each attempt connects anew",
           RESP(.greeting_ns = 50 * MS, .acquire_ns = 10 * MS), WITH("load.session=each"),
           .seconds = 10);

/* ---- was it the server or lockbench that froze ---- */

EXPERIMENT(server_froze,
           "RESP: 100 arrivals a second; the server stands still for 1 s in 3 s, twenty times",
           RESP(.acquire_ns = MS, .freeze_after_ns = 1000 * MS, .freeze_ns = 1000 * MS),
           WITH("load.clients=64", "load.arrival=constant:100/s"), .seconds = 3, .repeats = 20);

EXPERIMENT(tool_froze,
           "RESP: 100 arrivals a second; lockbench itself is stopped for 1 s in 3 s, twenty times",
           RESP(.acquire_ns = MS), WITH("load.clients=64", "load.arrival=constant:100/s"),
           .seconds = 3, .repeats = 20, .stop_after_ns = 1000 * MS, .stop_ns = 1000 * MS);

/* ---- how often it is wrong ---- */

EXPERIMENT(bound,
           "RESP: 4 clients on one key, hold 2 ms; a try that finds the key held is granted "
           "with a chance of 1 in 900; 200 seeds",
           RESP(.double_chance = 1. / 900, .seed = 1),
           WITH("load.keys=1", "redis-setnx.poll_min=1ms", "redis-setnx.poll_max=1ms"),
           .hold_ns = 2 * MS, .seconds = 1, .repeats = 200);

EXPERIMENT(comparison,
           "sim: 40 runs with a service of 20 ms, 40 with 21 ms; 40 comparisons of ten runs "
           "with ten, drawn from them",
           .lock = "sim", WITH("load.clients=8", "sim.service=20ms"), .seconds = 0.5);

EXPERIMENT(capacity,
           "RESP, M/D/1: one acquire is served at a time, 10 ms each; 20 searches for the "
           "rate that keeps acquire_due.p99<=200ms",
           RESP(.acquire_ns = 10 * MS, .serial = true), .seconds = 150, .repeats = 20);

/* ---- figures that are made of several ---- */

/* Little's law: clients = rate x time in the system. */
static double said_little(const struct seen *seen, double unused) {
    double round_ns = answers_figure(seen, "latency_ns.acquire.mean") +
                      answers_figure(seen, "latency_ns.hold.mean") +
                      answers_figure(seen, "latency_ns.release.mean");
    (void)unused;
    return answers_figure(seen, "throughput_per_s") * round_ns / 1e9;
}

/* Pollaczek and Khinchine: of M/D/1, from the share of time that the server is busy. */
static double truth_md1_mean(const struct seen *seen, double busy_share) {
    double service_ns = (double)seen->experiment->script.acquire_ns;
    return truth_time(seen, service_ns * (1 + busy_share / (2 * (1 - busy_share))));
}

/* Due by the schedule, which begins with the window: k/rate; begun: when the k - 1 before it are
 * done. argument: the rank among those begun. */
static double truth_pool_lag(const struct seen *seen, double quantile) {
    double service_ns = truth_time(seen, 50.0 * MS) + truth_wire(seen, 0);
    double begun = seen->stage->duration_s * 1e9 / service_ns;
    return quantile * begun * (service_ns - 25.0 * MS);
}

/* The lag, and then the service. */
static double truth_pool_due(const struct seen *seen, double quantile) {
    return truth_pool_lag(seen, quantile) + truth_time(seen, 50.0 * MS);
}

static double truth_pool_started(const struct seen *seen, double unused) {
    (void)unused;
    return seen->stage->duration_s * 1e9 / (truth_time(seen, 50.0 * MS) + truth_wire(seen, 0));
}

#define ACQUIRE "latency_ns.acquire."
#define DUE "latency_ns.acquire_due."

#define LOG(q)                                                                                     \
    .source = "times in the server's log, each with its wire", .truth = truth_residence,           \
    .argument = q
#define LINDLEY(formula, q)                                                                        \
    .source = "Lindley's recursion over the log's arrivals and service times, how late the "       \
              "server's answers are (median), and the wire",                                       \
    .truth = truth_lindley, .argument = q, .endless = formula
#define TIME(ns, words) .source = words, .truth = truth_time, .argument = (double)(ns)
#define SCRIPT(value, words) .source = words, .argument = value
#define COUNTED(outcome, words) .source = words, .truth = truth_count, .argument = outcome
/* Answers that several experiments have. */
#define GRANTS COUNTED(FAKE_GRANTED, "grants in the server's log"), .allowed = EXACT
#define RATE                                                                                       \
    "grants a second", .source = "grants in the server's log over their time",                     \
                       .truth = truth_rate, .path = "throughput_per_s", .allowed = .02
#define BYTES                                                                                      \
    "bytes a grant", .source = "bytes in the server's log", .truth = truth_bytes,                  \
                     .path = "cost.bytes_per_grant"
#define VERDICT(verdict, words)                                                                    \
    "verdict", .source = words, .path = "exclusion.verdict", .word = verdict
#define EXIT(code, words) "exit code", SCRIPT(code, words), .path = "exit", .allowed = EXACT
const struct answer answers[] = {
    {&fixed, "acquire, p50", TIME(20 * MS, "the script: 20 ms, and the wire"),
     .path = ACQUIRE "p50", .allowed = .02},
    {&fixed, "acquire, p99", LOG(.99), .path = ACQUIRE "p99", .allowed = .02},
    {&fixed, "release, p50", TIME(5 * MS, "the script: 5 ms, and the wire"),
     .path = "latency_ns.release.p50", .allowed = .03},
    {&fixed, RATE},
    {&fixed, "Little's law: clients", SCRIPT(4, "4 clients = rate x mean time of a round"),
     .said = said_little, .allowed = .02, .brief_allowed = .15},
    {&fixed, "commands a grant", SCRIPT(2, "the lock: SET and EVALSHA"),
     .path = "cost.commands_per_grant", .allowed = .001, .brief_allowed = .001},
    {&fixed, BYTES, .allowed = .005, .brief_allowed = .05},
    {&fixed, "grants", GRANTS, .path = "grants", .brief_allowed = EXACT},
    {&slow_replies, "acquire, p90", LOG(.9), .path = ACQUIRE "p90", .allowed = .02},
    {&slow_replies, "acquire, p99.9", LOG(.999), .path = ACQUIRE "p999", .allowed = .02},
    {&slow_replies, "acquire, mean", LOG(MEAN), .path = ACQUIRE "mean", .allowed = .02},
    {&serial_loop, "acquire, p50",
     TIME(40 * MS, "closed queue: 8 clients x 5 ms, less the release's way"), .path = ACQUIRE "p50",
     .allowed = .03},
    {&serial_loop, "grants a second", SCRIPT(200, "one each 5 ms: the server is never idle"),
     .path = "throughput_per_s", .allowed = .02},
    {&serial_loop, "commands a grant", SCRIPT(2, "the lock: ms and md"),
     .path = "cost.commands_per_grant", .allowed = .005},
    {&serial_loop, BYTES, .allowed = .01},
    {&nats, "acquire, p50", LOG(.5), .path = ACQUIRE "p50", .allowed = .03},
    {&nats, "commands a grant", SCRIPT(3, "the lock: a look, a write, a delete"),
     .path = "cost.commands_per_grant", .allowed = .001},
    {&nats, BYTES, .allowed = .01},
    {&md1, "due to held, p50", LINDLEY(truth_endless_md1, .5), .path = DUE "p50", .allowed = .02},
    {&md1, "due to held, p90", LINDLEY(truth_endless_md1, .9), .path = DUE "p90", .allowed = .02},
    {&md1, "due to held, p99", LINDLEY(truth_endless_md1, .99), .path = DUE "p99", .allowed = .02},
    {&md1, "due to held, mean",
     .source = "Pollaczek-Khinchine: D (1 + r / 2(1 - r)), r = 0.6; means of such runs scatter by "
               "3 %, three times that is allowed",
     .truth = truth_md1_mean, .argument = .6, .path = DUE "mean", .allowed = .09},
    {&mm1, "due to held, p50", LINDLEY(truth_endless_mm1, .5), .path = DUE "p50", .allowed = .02},
    {&mm1, "due to held, p90", LINDLEY(truth_endless_mm1, .9), .path = DUE "p90", .allowed = .02},
    {&mm1, "due to held, p99", LINDLEY(truth_endless_mm1, .99), .path = DUE "p99", .allowed = .02},
    {&mm1, "grants", GRANTS, .path = "grants"},
    {&freeze, "arrivals due", SCRIPT(1000, "100/s x 10 s"), .path = "arrivals.due",
     .allowed = .001},
    {&freeze, "due to held, p50", TIME(MS, "the script: 1 ms, and the wire"), .path = DUE "p50",
     .allowed = .25},
    {&freeze, "due to held, p90",
     SCRIPT(400. * MS, "1.4 s - 0.1 x 10 s: who came in the freeze waits for its end"),
     .path = DUE "p90", .allowed = .03},
    {&freeze, "due to held, p99", SCRIPT(1300. * MS, "1.4 s - 0.01 x 10 s"), .path = DUE "p99",
     .allowed = .02},
    {&small_pool, "arrivals begun", .source = "window / (50 ms + twice the wire)",
     .truth = truth_pool_started, .path = "arrivals.started", .allowed = .02},
    {&small_pool, "lag, p50", .source = "the k-th begins k (50 ms + twice the wire - 25 ms) late",
     .truth = truth_pool_lag, .argument = .5, .path = "latency_ns.lag.p50", .allowed = .02},
    {&small_pool, "due to held, p50",
     .source = "the same and 50 ms and the wire: the time runs from due, not from begun",
     .truth = truth_pool_due, .argument = .5, .path = DUE "p50", .allowed = .02},
    {&fifo, "handoff, p50", TIME(10 * MS, "the script: 10 ms, and the wire"),
     .path = "latency_ns.handoff.p50", .allowed = .02},
    {&fifo, "Jain's index", SCRIPT(1, "all get the same"), .path = "fairness.jain", .allowed = .001,
     .brief_allowed = .02},
    {&fifo, "longest run", SCRIPT(1, "the order of grants"), .path = "fairness.longest_run",
     .allowed = EXACT, .brief_allowed = EXACT},
    {&fifo, RATE},
    {&unfair, "handoff, p50", TIME(5 * MS, "the script: 5 ms, and the wire"),
     .path = "latency_ns.handoff.p50", .allowed = .03},
    {&unfair, "Jain's index", SCRIPT(100. / 208, "(sum x)^2 / (4 sum x^2) of 7, 1, 1, 1"),
     .path = "fairness.jain", .allowed = .01},
    {&unfair, "least share", SCRIPT(.4, "1 of 10, where 2.5 are fair"),
     .path = "fairness.min_share", .allowed = .01},
    {&unfair, "longest run", SCRIPT(3, "the order of grants"), .path = "fairness.longest_run",
     .allowed = EXACT},
    {&unfair, "longest wait", LOG(1), .path = "fairness.max_wait_ns", .allowed = .06},
    {&busy, "busy", COUNTED(FAKE_BUSY, "refused tries in the server's log"),
     .path = "outcomes.busy", .allowed = EXACT, .brief_allowed = EXACT},
    {&busy, "ok", GRANTS, .path = "outcomes.ok", .brief_allowed = EXACT},
    {&timeouts, "ok", SCRIPT(100, "the script"), .path = "outcomes.ok", .allowed = EXACT},
    {&timeouts, "wait that failed, p50", SCRIPT(50. * MS, "the deadline that was asked for"),
     .path = "latency_ns.wait_failed.p50", .allowed = .1},
    {&lost, "lost", COUNTED(FAKE_LOST, "refused releases in the server's log"),
     .path = "outcomes.lost", .allowed = EXACT, .brief_allowed = EXACT},
    {&silent, "unknown", COUNTED(FAKE_UNSENT, "unanswered acquires in the server's log"),
     .path = "outcomes.unknown", .allowed = EXACT},
    {&stops_granting, VERDICT("stuck", "a key that nobody holds, and that nobody gets")},
    {&stops_granting, EXIT(2, "a lock that is stuck ends the run with 2")},
    {&stops_granting, "waits that never ended", SCRIPT(16, "all clients wait"),
     .path = "fairness.starved", .allowed = EXACT},
    {&never_again, VERDICT("stuck", "keys that nobody holds, and that nobody gets")},
    {&never_again, EXIT(2, "a lock that is stuck ends the run with 2")},
    {&never_again, "waits that never ended", SCRIPT(4, "all clients wait"),
     .path = "fairness.starved", .allowed = EXACT},
    {&never_again, "grants", GRANTS, .path = "grants"},
    {&doubled, VERDICT("violated", "holders overlap"), .brief_allowed = 1},
    {&doubled, EXIT(3, "exclusion was violated"), .brief_allowed = EXACT},
    {&doubled_once,
     VERDICT("violated", "one grant in 100,000 overlaps; hold and service let it be seen")},
    {&excludes, VERDICT("clean", "nothing is wrong")},
    {&excludes, EXIT(0, "nothing is wrong")},
    {&connecting, "connect, p50", TIME(50 * MS, "the script: 50 ms, and the wire"),
     .path = "latency_ns.connect.p50", .allowed = .02},
    {&connecting, "sessions before the load, mean",
     TIME(50 * MS, "the script: 50 ms, and the wire"), .path = "connect_ns.mean", .allowed = .04},
    {&connecting, "acquire, p50", TIME(10 * MS, "the script: 10 ms, and the wire"),
     .path = ACQUIRE "p50", .allowed = .03},
    {&server_froze, "limited by", .source = "the server stood still, not lockbench",
     .path = "limited_by", .word = "null"},
    {&tool_froze, "limited by", .source = "lockbench stood still, not the server",
     .path = "limited_by", .word = "generator"},
    {&bound, "share of bounds that are below the truth",
     SCRIPT(.05, "3 / grants is a bound of 95 %"), .study = study_bound},
    {&comparison, "false alarms", SCRIPT(.05, "equal runs, alpha 5 %"),
     .study = study_false_alarms},
    {&comparison, "slower by 5 %, found", SCRIPT(.95, "the script"), .study = study_found,
     .is_least = true},
    {&capacity, "median, from the edge", SCRIPT(.03, "Erlang's formula for M/D/1"),
     .study = study_capacity},
    {&capacity, "intervals that hold the edge", SCRIPT(.9, "a 95 % interval; 18 of 20"),
     .study = study_capacity_intervals, .is_least = true},
    {.name = NULL},
};
