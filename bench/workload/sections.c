/* sections: the tables, and plans as text; see sections.h and plan.h. */
#include "bench/workload/sections.h"

#include <string.h>

#include "bench/slo/slo.h"
#include "bench/workload/faults.h"
#include "bench/workload/plan.h"
#include "bench/workload/shape.h"
#include "bench/workload/stages.h"

#define HOUR_NS (3600.0 * LB_S_NS)
#define DAY_NS (24 * HOUR_NS)
#define NAME_MAX_BYTES 40
#define SEED_MAX 999999999999999.0 /* exact in a double, so in JavaScript too */

/* The workload's name becomes a folder's: no separators, no leading dot. */
static int read_name(const struct option_into *into, const char *text, struct lb_err *err) {
    size_t good = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    if (*text == '\0') return err_set(err, LB_EXIT_USAGE, "the name is empty");
    if (*text == '.' || *text == '-') return err_set(err, LB_EXIT_USAGE, "begins with '%c'", *text);
    if (text[good])
        return err_set(err, LB_EXIT_USAGE, "'%.40s' has a character that a folder's name can't",
                       text);
    return option_read_text(into, text, err);
}

static const struct lb_option_type type_name = {
    .bytes = sizeof(char *),
    .read = read_name,
    .text = option_format_text,
    .words = "up to 40 letters, digits, dots, underscores and hyphens",
};

static const struct lb_option_type type_locks = {
    .bytes = sizeof(char *),
    .read = option_read_text,
    .text = option_format_text,
    .words = "all, one-of-each (backend), controls, or names of locks, backends or primitives",
};

static int read_promises(const struct option_into *into, const char *text, struct lb_err *err) {
    struct threshold unused[THRESHOLDS_MAX];
    if (thresholds_read(text, unused, err) < 0) return -1;
    return option_read_text(into, text, err);
}

static const struct lb_option_type type_promises = {
    .bytes = sizeof(char *),
    .read = read_promises,
    .text = option_format_text,
    .words = "promises with commas between, as acquire_due.p99<=20ms, not_granted<=0.1%",
};

static const struct lb_option workload_keys[] = {
    {"name", &type_name, offsetof(struct plan, name), NULL, 0, NAME_MAX_BYTES, NULL,
     "name of the run's folder and report; without it the name of the file"},
    {"summary", LB_OPT_TEXT, offsetof(struct plan, summary), "", 0, 200, NULL,
     "the question that this workload answers"},
    {"locks", &type_locks, offsetof(struct plan, lock_words), "all", 0, 4000, NULL,
     "which locks to run when the command line names none"},
    {0},
};

static const struct lb_option load_keys[] = {
    {"clients", &type_numbers, offsetof(struct plan, clients), "1", 1, PLAN_CLIENTS_MAX, NULL,
     "how many clients compete; one stage for each number"},
    {"processes", LB_OPT_INT32, offsetof(struct plan, processes), "1", 1, 256, NULL,
     "worker processes of a stage"},
    {"threads", LB_OPT_INT32, offsetof(struct plan, threads), "auto", 1, 4096, "auto",
     "OS threads of all processes together, at most one for each client; auto: one for two processors"},
    {"keys", &type_keyspace, offsetof(struct plan, keys), "1", 0, 0, NULL,
     "how many lock names, and how a client picks one; own: each client has its own"},
    {"key_names", &type_key_names, offsetof(struct plan, key_names), "", 0, 0, NULL,
     "the keys' names, on every stage; as many keys as names; empty: each stage makes new names"},
    {"key_prefix", LB_OPT_TEXT, offsetof(struct plan, key_prefix), "", 0, PLAN_KEY_PREFIX_MAX, NULL,
     "what the names of new keys begin with, for an account that may use such names alone"},
    {"arrival", &type_arrival, offsetof(struct plan, arrival), "closed", 0, 0, NULL,
     "closed: the next attempt starts when the last is done; else at this rate of all clients together"},
    {"rates", &type_numbers, offsetof(struct plan, rates), "none", 1, 10000000, "none",
     "open arrival: rates a second instead of load.arrival's; one stage for each"},
    {"hold", &type_dist, offsetof(struct plan, hold), "0", 0, 0, NULL,
     "how long a holder works before it releases"},
    {"think", &type_dist, offsetof(struct plan, think), "0", 0, 0, NULL,
     "how long a client rests after each attempt; closed arrival only"},
    {"tick", LB_OPT_DURATION, offsetof(struct plan, tick_ns), "none", 10 * LB_MS_NS, HOUR_NS,
     "none", "closed arrival: every client starts an attempt at each tick, late by load.think"},
    {"seed", LB_OPT_INT, offsetof(struct plan, seed), "1", 0, SEED_MAX, NULL,
     "seed of arrivals, keys, holds, faults and the order of the locks"},
    {"clients_per_session", LB_OPT_INT32, offsetof(struct plan, clients_per_session), "1", 1, 1000,
     NULL, "how many clients share a connection (or ZooKeeper handle, etcd lease)"},
    {"session", LB_OPT_CHOICE8, offsetof(struct plan, churn), "keep", 0, 0, "keep,each",
     "keep: a client connects once; each: it connects for each attempt and disconnects after it"},
    {0},
};

static const struct lb_option acquire_keys[] = {
    {"mode", LB_OPT_CHOICE32, offsetof(struct plan, mode), "wait", 0, 0, "wait,try,timed",
     "wait until granted, try once, or wait for at most acquire.timeout"},
    {"timeout", LB_OPT_DURATION, offsetof(struct plan, timeout_ns), "none", LB_US_NS, HOUR_NS,
     "none", "the longest wait for a grant; mode = timed needs it"},
    {"lease", &type_leases, offsetof(struct plan, leases_ns), "10s", LB_MS_NS, DAY_NS, NULL,
     "how long a grant lasts unless renewed, for locks that have leases; one stage for each"},
    {"at_least", LB_OPT_DURATION, offsetof(struct plan, at_least_ns), "none", LB_US_NS, HOUR_NS,
     "none",
     "how long a grant is kept at least: a holder that is done earlier releases it only then"},
    {"renew", LB_OPT_BOOL8, offsetof(struct plan, renew), "no", 0, 0, NULL,
     "whether a holder extends its lease while it works"},
    {"readers", &type_numbers, offsetof(struct plan, readers), "0", 0, 100, NULL,
     "per cent of the attempts that ask as readers (shared); one stage for each number"},
    {"permits", LB_OPT_INT32, offsetof(struct plan, permits), "1", 1, 10000, NULL,
     "semaphores: how many permits an attempt wants"},
    {"bound", LB_OPT_INT32, offsetof(struct plan, bound), "4", 1, 10000, NULL,
     "a semaphore's permits"},
    {"depth", LB_OPT_INT32, offsetof(struct plan, depth), "1", 1, 100, NULL,
     "how often a client takes its key before it releases it as often; 1: no re-entry"},
    {0},
};

static const struct lb_option run_keys[] = {
    {"warmup", LB_OPT_DURATION, offsetof(struct plan, warmup_ns), "1s", 0, HOUR_NS, NULL,
     "load before the measured window, checked but not measured"},
    {"duration", LB_OPT_DURATION, offsetof(struct plan, duration_ns), "5s", 10 * LB_MS_NS, DAY_NS,
     NULL, "the measured window of each stage"},
    {"drain", LB_OPT_DURATION, offsetof(struct plan, drain_ns), "10s", 10 * LB_MS_NS, HOUR_NS, NULL,
     "how long attempts in progress at the end of the window may take to finish"},
    {"repeat", LB_OPT_INT32, offsetof(struct plan, repeat), "1", 1, 1000, NULL,
     "how often the whole list of stages is measured"},
    {"processors", LB_OPT_CHOICE8, offsetof(struct plan, processors_shared), "split", 0, 0,
     "split,shared",
     "split: of four processors and more the servers get one half and the clients the other"},
    {0},
};

static const struct lb_option check_keys[] = {
    {"gap", LB_OPT_CHOICE8, offsetof(struct plan, gap_yields), "yield", 0, 0, "none,yield",
     "what a holder does between reading and writing the guarded counter"},
    {"store", LB_OPT_CHOICE8, offsetof(struct plan, store), "none", 0, 0, "none,memory",
     "a value that holders write with and without a check of their tokens"},
    {"history", LB_OPT_BOOL8, offsetof(struct plan, history), "no", 0, 0, NULL,
     "whether each operation is recorded, and all of them are judged after the stage"},
    {0},
};

static const struct lb_option slo_keys[] = {
    {"promises", &type_promises, offsetof(struct plan, promises), "", 0, 2000, NULL,
     "limits of figures that each lock is to keep, with commas between"},
    {"stop", LB_OPT_BOOL8, offsetof(struct plan, stops), "no", 0, 0, NULL,
     "whether a stage ends early once its promise of acquire or acquire_due can only be broken"},
    {0},
};

static const struct lb_option fault_keys[] = {
    {"kind", LB_OPT_CHOICE32, offsetof(struct plan_fault, kind), "none", 0, 0, INJECTION_CHOICES,
     "the action on clients, servers or connections; more sections: [fault.2] to [fault.8]"},
    {"target", &type_target, offsetof(struct plan_fault, target), "any", 0, 0, NULL,
     "the target: which client, whose connections, which server"},
    {"first", LB_OPT_DURATION, offsetof(struct plan_fault, first_ns), "500ms", 0, DAY_NS, NULL,
     "time of the first injection, from the begin of the measured window"},
    {"every", LB_OPT_DURATION, offsetof(struct plan_fault, every_ns), "none", 10 * LB_MS_NS, DAY_NS,
     "none",
     "time from one injection to the next, each on the next possible target; none: only one injection"},
    {"for", LB_OPT_DURATION, offsetof(struct plan_fault, for_ns), "2s", 0, HOUR_NS, NULL,
     "how long an injection lasts; 0: to the end of the load, so that a killed server stays dead"},
    {"times", LB_OPT_INT32, offsetof(struct plan_fault, times), "0", 0, 1000000, NULL,
     "at most this many injections; 0: no limit"},
    {"after", LB_OPT_CHOICE32, offsetof(struct plan_fault, after), "nothing", 0, 0,
     "nothing,holder",
     "holder: wait up to 2s for a holder whose grant began after the previous section acted"},
    {"by", LB_OPT_DURATION, offsetof(struct plan_fault, by_ns), "0", -DAY_NS, DAY_NS, NULL,
     "clock, client-clock: how far it jumps; wire-delay: how much later each byte arrives"},
    {"way", LB_OPT_CHOICE32, offsetof(struct plan_fault, way), "both", 0, 0,
     "both,requests,answers", "wire-cut: what is dropped"},
    {0},
};

static const struct lb_option servers_keys[] = {
    {"topology", &type_topologies, offsetof(struct plan, topologies), "default", 0, 0, NULL,
     "which servers to start: each lock runs on those that it supports, or else on its default"},
    {"durability", LB_OPT_CHOICE_WORD, offsetof(struct plan, durability), "default", 0, 0,
     "default,none,sync",
     "of servers that lockbench starts; none: nothing is flushed; sync: on disk before each answer"},
    {"tls", LB_OPT_CHOICE32, offsetof(struct plan, tls), "no", 0, 0, "no,yes,both",
     "whether servers that lockbench starts speak TLS; both: each lock without and with it"},
    {"rtt", &type_rtts, offsetof(struct plan, rtts_ns), "none", 0, DISTANCE_MAX_NS, "none",
     "round trip that a wire adds between clients and servers; one stage for each; none: no wire"},
    {"fresh", LB_OPT_BOOL8, offsetof(struct plan, fresh), "no", 0, 0, NULL,
     "yes: each stage gets servers that were just started"},
    {"program", LB_OPT_TEXT, offsetof(struct plan, program), "", 0, 500, NULL,
     "server to start instead of the topology's own, of the same protocol: a path, or a name in PATH"},
    {"listen", LB_OPT_TEXT, offsetof(struct plan, listen), "", 0, 45, NULL,
     "an IPv4 address of this machine at which its servers listen, too, for a run on several hosts"},
    {0},
};

#define FAULT(number) fault_keys, offsetof(struct plan, faults[(number)-1]), (number) > 1

static const struct section table[] = {
    {"workload", workload_keys, 0, false},
    {"load", load_keys, 0, false},
    {"acquire", acquire_keys, 0, false},
    {"run", run_keys, 0, false},
    {"slo", slo_keys, 0, false},
    {"check", check_keys, 0, false},
    {"fault", FAULT(1)},
    {"fault.2", FAULT(2)},
    {"fault.3", FAULT(3)},
    {"fault.4", FAULT(4)},
    {"fault.5", FAULT(5)},
    {"fault.6", FAULT(6)},
    {"fault.7", FAULT(7)},
    {"fault.8", FAULT(PLAN_FAULTS_MAX)},
    {"servers", servers_keys, 0, false},
    {0},
};

const struct section *sections(void) {
    return table;
}

const struct section *section_find(const char *name) {
    const struct section *section = table;
    while (section->name && strcmp(section->name, name) != 0) section++;
    return section->name ? section : NULL;
}

const char *fault_section_name(int number) {
    return section_find("fault")[number].name;
}

void *section_values(const struct section *section, const struct plan *plan) {
    return (char *)(uintptr_t)plan + section->offset;
}

char *plan_key_text(const struct plan *plan, const char *section, const char *key, char *text,
                    size_t size) {
    const struct section *found = section_find(section);
    return option_text(options_find(found->keys, key), section_values(found, plan), text, size);
}

static bool section_is_used(const struct section *section, const struct plan *plan) {
    const struct plan_fault *fault = section_values(section, plan);
    return !section->later || fault->kind != INJECT_NONE;
}

/* write: a plan as text and as JSON; see plan.h. The text is a workload file that gives the same
 * plan again. */

/* Whether a lock is the first of its backend: the backend's options are printed once. */
static bool first_of_backend(const struct plan *plan, int index) {
    for (int i = 0; i < index; i++) {
        if (plan->locks[i].lock->backend == plan->locks[index].lock->backend) return false;
    }
    return true;
}

static void print_options(const struct lb_option *keys, const void *options, FILE *out) {
    for (const struct lb_option *option = keys; option && option->name; option++) {
        char text[4096];
        /* Prints an option without a value as a comment, because an empty value would be read as a given value. */
        bool missing =
            option->type == LB_OPT_TEXT && !*(const char *const *)option_in(option, options);
        fprintf(out, "%s%s = %s\n", missing ? "; " : "", option->name,
                option_text(option, options, text, sizeof text));
    }
}

static bool has_entries(const struct lb_option *keys) {
    return keys && keys->name;
}

static void print_lock(const struct plan *plan, int index, FILE *out) {
    const struct plan_lock *entry = &plan->locks[index];
    const struct lb_lock *lock = entry->lock;
    const struct lb_option *of_backend =
        first_of_backend(plan, index) ? lb_backend_options(lock->backend) : NULL;
    bool shared = strcmp(lock->name, lock->backend->name) == 0;
    if (has_entries(of_backend) && !shared) {
        fprintf(out, "\n[%s]\n", lock->backend->name);
        print_options(of_backend, entry->backend_options, out);
    }
    if (has_entries(lock->algorithm->options) || (shared && has_entries(of_backend))) {
        fprintf(out, "\n[%s]\n", lock->name);
        print_options(lock->algorithm->options, entry->options, out);
        if (shared) print_options(of_backend, entry->backend_options, out);
    }
}

static void print_sections(const struct plan *plan, FILE *out) {
    for (const struct section *section = table; section->name; section++) {
        if (!section_is_used(section, plan)) continue;
        fprintf(out, "\n[%s]\n", section->name);
        print_options(section->keys, section_values(section, plan), out);
    }
}

void plan_print(const struct plan *plan, FILE *out) {
    int64_t time_ns;
    int stages = plan_stages(plan, &time_ns);
    fprintf(
        out,
        "; stages: %d (locks: %d, client counts: %d, repeat: %d); warm-ups and windows take %.1f s\n",
        stages, plan->lock_count, plan->clients_count, plan->repeat, (double)time_ns / 1e9);
    fprintf(out, "; locks:");
    for (int i = 0; i < plan->lock_count; i++)
        fprintf(out, "%s %s", i ? "," : "", plan->locks[i].lock->name);
    fprintf(out, "\n");
    size_t index;
    json_t *entry;
    json_array_foreach(plan->skipped, index, entry) {
        const char *lock = "", *reason = "", *install = NULL;
        json_unpack(entry, "{s:s, s:s, s?:s?}", "lock", &lock, "reason", &reason, "install",
                    &install);
        fprintf(out, "; left out: %s: %s%s%s\n", lock, reason, install ? "; install: " : "",
                install ? install : "");
    }
    json_array_foreach(plan->warnings, index, entry) {
        fprintf(out, "; warning: %s\n", json_string_value(entry));
    }
    print_sections(plan, out);
    for (int i = 0; i < plan->lock_count; i++) print_lock(plan, i, out);
}

/* The member of parent with that name, a new empty object if there is none; borrowed. NULL when out
 * of memory. */
static json_t *object_of(json_t *parent, const char *name) {
    json_t *object = json_object_get(parent, name);
    if (object) return object;
    object = json_object();
    return json_object_set_new(parent, name, object) ? NULL : object;
}

static int add_locks(const struct plan *plan, json_t *root) {
    json_t *names = json_array(), *options = object_of(root, "options");
    if (!options || json_object_set_new(root, "locks", names)) return -1;
    for (int i = 0; i < plan->lock_count; i++) {
        const struct lb_lock *lock = plan->locks[i].lock;
        if (json_array_append_new(names, json_string(lock->name))) return -1;
        if (has_entries(lock->algorithm->options) &&
            options_json(lock->algorithm->options, plan->locks[i].options,
                         object_of(options, lock->name))) {
            return -1;
        }
        if (has_entries(lb_backend_options(lock->backend)) &&
            options_json(lb_backend_options(lock->backend), plan->locks[i].backend_options,
                         object_of(options, lock->backend->name))) {
            return -1;
        }
    }
    return 0;
}

static int add_sections(const struct plan *plan, json_t *root) {
    for (const struct section *section = table; section->name; section++) {
        if (!section_is_used(section, plan)) continue;
        json_t *object = object_of(root, section->name);
        if (!object || options_json(section->keys, section_values(section, plan), object))
            return -1;
    }
    return 0;
}

json_t *plan_json(const struct plan *plan) {
    json_t *root = json_object();
    if (root && add_sections(plan, root) == 0 && add_locks(plan, root) == 0) return root;
    json_decref(root);
    return NULL;
}
