/* write: a plan as text and as JSON; see plan.h. The text is a workload file that gives the same
 * plan again. */
#include <string.h>

#include "bench/workload/plan.h"
#include "bench/workload/sections.h"

/* Whether a lock is the first of its backend: the backend's options are printed once. */
static bool first_of_backend(const struct plan *plan, int index) {
    for (int i = 0; i < index; i++) {
        bool printed = !plan->locks[i].plan;
        if (printed && plan->locks[i].lock->backend == plan->locks[index].lock->backend)
            return false;
    }
    return true;
}

/* Whether a text was neither given nor has a default. */
static bool is_missing(const struct lb_option *option, const void *options) {
    return option->type == LB_OPT_TEXT && !*(const char *const *)option_in(option, options);
}

static void print_options(const struct lb_option *table, const void *options, FILE *out) {
    for (const struct lb_option *option = table; option && option->name; option++) {
        char text[4096];
        /* Prints an option without a value as a comment, because an empty value would be read as a given value. */
        fprintf(out, "%s%s = %s\n", is_missing(option, options) ? "; " : "", option->name,
                option_text(option, options, text, sizeof text));
    }
}

static bool has_entries(const struct lb_option *table) {
    return table && table->name;
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
    char name[16];
    for (const struct section *section = sections(); section->name; section++) {
        for (int i = 0; i < section_count(section); i++) {
            if (!section_is_used(section, plan, i)) continue;
            fprintf(out, "\n[%s]\n", section_text(section, i, name, sizeof name));
            print_options(section->keys, section_values(section, plan, i), out);
        }
    }
}

void plan_print(const struct plan *plan, FILE *out) {
    fprintf(
        out,
        "; stages: %d (locks: %d, client counts: %d, repeat: %d); warm-ups and windows take %.1f s\n",
        plan_stages(plan), plan->lock_count, plan->clients_count, plan->repeat,
        (double)plan_time_ns(plan) / 1e9);
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
    for (int i = 0; i < plan->lock_count; i++) {
        const struct plan_lock *lock = &plan->locks[i];
        if (lock->plan)
            fprintf(out, "; control: %s by workload %s\n", lock->lock->name, lock->plan->name);
    }
    print_sections(plan, out);
    for (int i = 0; i < plan->lock_count; i++) {
        if (!plan->locks[i].plan)
            print_lock(plan, i, out); /* a lock with a plan of its own has its options there */
    }
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
        if (plan->locks[i].plan) continue; /* .control_plans has its options */
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
    char name[16];
    for (const struct section *section = sections(); section->name; section++) {
        for (int i = 0; i < section_count(section); i++) {
            if (!section_is_used(section, plan, i)) continue;
            json_t *object = object_of(root, section_text(section, i, name, sizeof name));
            if (!object || options_json(section->keys, section_values(section, plan, i), object))
                return -1;
        }
    }
    return 0;
}

json_t *plan_json(const struct plan *plan) {
    json_t *root = json_object();
    if (root && add_sections(plan, root) == 0 && add_locks(plan, root) == 0) return root;
    json_decref(root);
    return NULL;
}
