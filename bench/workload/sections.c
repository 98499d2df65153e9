/* sections: the tables, and plans as text; see sections.h and plan.h. */
#include "bench/workload/sections.h"

#include <string.h>

#include "bench/base/text.h"
#include "bench/slo/slo.h"
#include "bench/workload/plan.h"

#define HOUR_NS (3600.0 * LB_S_NS)
#define DAY_NS (24 * HOUR_NS)
#define NAME_MAX_BYTES 40
#define SEED_MAX 999999999999999.0 /* exact in a double, so in JavaScript too */

/* The workload's name becomes a folder's: no separators, no leading dot. */
static int read_name(const struct option_into *into, const char *text, struct lb_err *err) {
    size_t good = strspn(text, PLAIN_NAME);
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

#define SECTION(name) static const struct lb_option name##_keys[] = {
#define SECTION_END                                                                                \
    { 0 }                                                                                          \
    }                                                                                              \
    ;
#define KEY(c_type, member, name, type, ...)                                                       \
    {name, type, offsetof(struct plan, member), __VA_ARGS__},
#define LIST(c_type, member, count, ...) KEY(c_type, member, __VA_ARGS__)
#include "bench/workload/keys.def"

#define INJECTION_CHOICE(kind, name, ...) "," name

static const struct lb_option fault_keys[] = {
    {"kind", LB_OPT_CHOICE32, offsetof(struct plan_fault, kind), "none", 0, 0,
     "none" INJECTIONS_EACH(INJECTION_CHOICE),
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
