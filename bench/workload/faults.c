/* faults: see faults.h. */
#include "bench/workload/faults.h"

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

enum { LASTS = 1 << 0, STOPS = 1 << 1, SCRIPT = 1 << 2 };

static const struct {
    const char *name;
    enum fault_on on;
    unsigned properties, targets;
} traits[INJECTIONS] = {[INJECT_NONE] = {.name = "none"},
#define TRAITS(kind, ...) [kind] = {__VA_ARGS__},
                        INJECTIONS_EACH(TRAITS)
#undef TRAITS
};

char *fault_section_text(int number, char *text, size_t size) {
    if (number == 0) {
        snprintf(text, size, "fault");
    } else {
        snprintf(text, size, "fault.%d", number + 1);
    }
    return text;
}

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

const char *injection_name(enum injection kind) {
    return traits[kind].name;
}

const char *injection_act(enum injection kind) {
    return traits[kind].properties & SCRIPT ? injection_name(kind) : NULL;
}

char *faults_text(const struct plan *plan, char *text, size_t size) {
    size_t used = 0;
    snprintf(text, size, "none");
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        if (plan->faults[i].kind == INJECT_NONE) continue;
        int more = snprintf(text + used, size - used, "%s%s", used ? "+" : "",
                            injection_name(plan->faults[i].kind));
        if (more < 0 || (size_t)more >= size - used) break;
        used += (size_t)more;
    }
    return text;
}

enum fault_on injection_acts_on(enum injection kind) {
    return traits[kind].on;
}

bool injection_lasts(enum injection kind) {
    return traits[kind].properties & LASTS;
}

bool injection_stops(enum injection kind) {
    return traits[kind].properties & STOPS;
}

bool fault_needs_processes(const struct plan_fault *fault) {
    if (fault->kind == INJECT_PAUSE || fault->kind == INJECT_KILL ||
        fault->kind == INJECT_CLIENT_CLOCK)
        return true;
    bool by_client = fault->kind == INJECT_TERMINATE || injection_acts_on(fault->kind) == ON_WIRES;
    return by_client && fault->target != TARGET_ALL && fault->target != TARGET_REPLICATION;
}

bool plan_acts_on(const struct plan *plan, enum fault_on on) {
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        if (plan->faults[i].kind != INJECT_NONE && injection_acts_on(plan->faults[i].kind) == on)
            return true;
    }
    return false;
}

bool plan_steps_clocks(const struct plan *plan) {
    bool any = false;
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) any |= plan->faults[i].kind == INJECT_CLOCK;
    return any;
}

/* The targets that an injection can have, in words. Returns text. */
static char *targets_text(enum injection kind, char *text, size_t size) {
    size_t used = 0;
    for (int target = 0; target <= TARGET_NODE; target++) {
        if (!(traits[kind].targets & (1u << target))) continue;
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

int fault_check(const struct plan_fault *fault, const char **ret_key, struct lb_err *err) {
    char targets[160];
    enum injection kind = fault->kind;
    const char *name = injection_name(kind);
    if (!(traits[kind].targets & (1u << fault->target))) {
        *ret_key = "target";
        return err_set(err, LB_EXIT_USAGE, "%s can't have this target; allowed: %s", name,
                       targets_text(kind, targets, sizeof targets));
    }
    if (fault->for_ns == 0 &&
        (kind == INJECT_PAUSE || kind == INJECT_STARVE || kind == INJECT_SERVER_PAUSE)) {
        *ret_key = "for";
        return err_set(err, LB_EXIT_USAGE,
                       "%s must end: set how long it lasts, for = 2s for example", name);
    }
    if (kind == INJECT_SERVER_EMPTY && fault->for_ns == 0) {
        *ret_key = "for";
        return err_set(err, LB_EXIT_USAGE,
                       "a server comes back empty: set after how long, for = 2s for example");
    }
    if ((kind == INJECT_CLOCK || kind == INJECT_CLIENT_CLOCK) && fault->by_ns == 0) {
        *ret_key = "by";
        return err_set(err, LB_EXIT_USAGE,
                       "set how far the clock jumps: by = 60s or by = -60s, for example");
    }
    if (kind == INJECT_WIRE_DELAY && fault->by_ns <= 0) {
        *ret_key = "by";
        return err_set(err, LB_EXIT_USAGE,
                       "set by above 0: how much later each byte comes, by = 50ms for example");
    }
    return 0;
}
