/* faults: the option types of fault sections' keys that have a grammar of their own, and the rules
 * between the values of a section. */
#ifndef BENCH_WORKLOAD_FAULTS_H
#define BENCH_WORKLOAD_FAULTS_H

#include "bench/option/option.h"
#include "bench/workload/plan.h"

/* The injections in the order of enum injection: ROW(constant, name, what it acts on, properties, targets). The
 * properties are LASTS: it lasts for a time, and is undone after that; STOPS: no client is served meanwhile; SCRIPT:
 * the servers' script does it. The targets are a set of 1 << enum fault_target. A new injection is a constant of enum
 * injection, a row here, a row with its functions in bench/faults/schedule.c, and a row in workloads/README.md. */
#define INJECTIONS_EACH(ROW)                                                                       \
    ROW(INJECT_PAUSE, "pause", ON_CLIENTS, LASTS, CLIENTS)                                         \
    ROW(INJECT_KILL, "kill", ON_CLIENTS, 0, CLIENTS)                                               \
    ROW(INJECT_STARVE, "starve", ON_CLIENTS, LASTS, CLIENTS)                                       \
    ROW(INJECT_CLIENT_CLOCK, "client-clock", ON_CLIENTS, LASTS, CLIENTS)                           \
    ROW(INJECT_SERVER_PAUSE, "server-pause", ON_SERVERS, LASTS | STOPS, SERVERS)                   \
    ROW(INJECT_SERVER_KILL, "server-kill", ON_SERVERS, LASTS | STOPS, SERVERS)                     \
    ROW(INJECT_SERVER_EMPTY, "server-empty", ON_SERVERS, LASTS | STOPS, SERVERS)                   \
    ROW(INJECT_PROMOTE, "promote", ON_SERVERS, SCRIPT, ONE_SERVER)                                 \
    ROW(INJECT_UNFOLLOW, "unfollow", ON_SERVERS, SCRIPT, ONE_SERVER)                               \
    ROW(INJECT_ISOLATE, "isolate", ON_SERVERS, LASTS | STOPS | SCRIPT, SERVERS)                    \
    ROW(INJECT_TERMINATE, "terminate", ON_SERVERS, STOPS | SCRIPT, CLIENTS)                        \
    ROW(INJECT_EVICT, "evict", ON_SERVERS, SCRIPT, SERVERS)                                        \
    ROW(INJECT_CLOCK, "clock", ON_SERVERS, 0, SERVERS)                                             \
    ROW(INJECT_WIRE_DELAY, "wire-delay", ON_WIRES, LASTS, BETWEEN)                                 \
    ROW(INJECT_WIRE_CUT, "wire-cut", ON_WIRES, LASTS | STOPS, BETWEEN)                             \
    ROW(INJECT_WIRE_RESET, "wire-reset", ON_WIRES, STOPS, BETWEEN)                                 \
    ROW(INJECT_WIRE_DROP, "wire-drop", ON_WIRES, LASTS | STOPS, WIRES)

#define INJECTION_CHOICE(kind, name, ...) "," name
#define INJECTION_CHOICES "none" INJECTIONS_EACH(INJECTION_CHOICE)

extern const struct lb_option_type type_target; /* struct plan_fault: .target and .node */

/* The target of an injection. */
enum fault_on { ON_NOTHING, ON_CLIENTS, ON_SERVERS, ON_WIRES };
enum fault_on injection_acts_on(enum injection kind);
/* The act of the servers' script that carries the injection out (topo_act); NULL = the script has no part in it. */
const char *injection_act(enum injection kind);
/* Whether an injection lasts for a time and is undone after that. */
bool injection_lasts(enum injection kind);
/* Whether an injection takes service away from all clients, unless it is aimed at some of them. */
bool injection_stops(enum injection kind);
/* Whether a fault acts on a single worker process, or on the connections of one. */
bool fault_needs_processes(const struct plan_fault *fault);
/* Whether the plan has faults with such a target. */
bool plan_acts_on(const struct plan *plan, enum fault_on on);

/* Whether the plan changes servers' clocks. */
bool plan_steps_clocks(const struct plan *plan);

/* Whether the injection can have its target; and the targets that an injection can have, in words. Returns text. */
bool fault_can_target(const struct plan_fault *fault);
char *fault_targets_text(enum injection kind, char *text, size_t size);

#endif
