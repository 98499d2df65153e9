/* faults: the rows of injections, and what fault sections ask for; see plan.h. */
#include "bench/workload/sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/option/text.h"

#define TARGETS "any,holder,waiter,all,replication,leader,primary,one,minority,majority"
#define NODE_MAX 15

/* Sets of enum fault_target. */
#define CLIENTS (1 << TARGET_ANY | 1 << TARGET_HOLDER | 1 << TARGET_WAITER)
#define SERVERS                                                                                    \
    (1 << TARGET_ANY | 1 << TARGET_ALL | 1 << TARGET_LEADER | 1 << TARGET_PRIMARY |                \
     1 << TARGET_ONE | 1 << TARGET_MINORITY | 1 << TARGET_MAJORITY | 1 << TARGET_NODE)
#define WIRES (CLIENTS | 1 << TARGET_ALL)
#define BETWEEN (WIRES | 1 << TARGET_REPLICATION)
#define ONE_SERVER (1 << TARGET_ANY | 1 << TARGET_NODE)

#define LASTS INJECTION_LASTS
#define STOPS INJECTION_STOPS
#define SCRIPT INJECTION_SCRIPT

const struct injection_traits injections[INJECTIONS] = {[INJECT_NONE] = {.name = "none"},
#define TRAITS(kind, ...) [kind] = {__VA_ARGS__},
                                                        INJECTIONS_EACH(TRAITS)
#undef TRAITS
};

static int read_target(const struct option_into *into, const char *text, struct lb_err *err) {
    struct plan_fault *fault = into->values;
    int target = 0;
    int64_t node = 0;
    if (*text >= '0' && *text <= '9') {
        if (text_int(text, 0, NODE_MAX, &node, err)) return -1;
        target = TARGET_NODE;
    } else if (text_choice(text, TARGETS, &target, err)) {
        return -1;
    }
    fault->target = (enum fault_target)target;
    fault->node = (int)node;
    return 0;
}

char *fault_target_text(const struct plan_fault *fault, char *text, size_t size) {
    if (fault->target == TARGET_NODE) {
        snprintf(text, size, "%d", fault->node);
        return text;
    }
    return text_choice_name(TARGETS, (int)fault->target, text, size);
}

static void format_target(const struct lb_option *option, const void *in, char *text, size_t size) {
    fault_target_text((const void *)((const char *)in - option->offset), text, size);
}

const struct lb_option_type type_target = {
    .bytes = sizeof(enum fault_target),
    .read = read_target,
    .text = format_target,
    .words =
        "any, holder, waiter, all, replication, leader, primary, one, minority, majority, or a node's number",
};

char *faults_text(const struct plan *plan, char *text, size_t size) {
    size_t used = 0;
    snprintf(text, size, "none");
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        if (plan->faults[i].kind == INJECT_NONE) continue;
        int more = snprintf(text + used, size - used, "%s%s", used ? "+" : "",
                            injections[plan->faults[i].kind].name);
        if (more < 0 || (size_t)more >= size - used) break;
        used += (size_t)more;
    }
    return text;
}

bool fault_needs_processes(const struct plan_fault *fault) {
    if (fault->kind == INJECT_PAUSE || fault->kind == INJECT_KILL ||
        fault->kind == INJECT_CLIENT_CLOCK)
        return true;
    bool by_client = fault->kind == INJECT_TERMINATE || injections[fault->kind].on == ON_WIRES;
    return by_client && fault->target != TARGET_ALL && fault->target != TARGET_REPLICATION;
}

bool plan_acts_on(const struct plan *plan, enum fault_on on) {
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        if (plan->faults[i].kind != INJECT_NONE && injections[plan->faults[i].kind].on == on)
            return true;
    }
    return false;
}

bool plan_steps_clocks(const struct plan *plan) {
    bool any = false;
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) any |= plan->faults[i].kind == INJECT_CLOCK;
    return any;
}

char *fault_targets_text(enum injection kind, char *text, size_t size) {
    size_t used = 0;
    for (int target = 0; target <= TARGET_NODE; target++) {
        if (!(injections[kind].targets & (1u << target))) continue;
        char name[32];
        if (target == TARGET_NODE) {
            snprintf(name, sizeof name, "a node's number (from 0)");
        } else {
            text_choice_name(TARGETS, target, name, sizeof name);
        }
        int more = snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
        if (more < 0 || (size_t)more >= size - used) break;
        used += (size_t)more;
    }
    return text;
}
