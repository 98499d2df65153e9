/* apply: stores one setting in the plan, or in the options of a lock or backend. */
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/workload/draft.h"
#include "bench/workload/sections.h"
#include "drivers/registry.h"

static int options_of_all(struct draft *draft, struct lb_err *err) {
    const struct lb_lock *const *locks = registry_locks();
    const struct lb_backend *const *backends = registry_backends();
    for (int i = 0; locks[i]; i++) {
        const struct lb_algorithm *algorithm = locks[i]->algorithm;
        draft->lock_options[i] =
            options_new(algorithm->options, algorithm->options_bytes, draft->arena, err);
        if (!draft->lock_options[i]) {
            err_prefix(err, "%s", locks[i]->name);
            return -1;
        }
    }
    for (int i = 0; backends[i]; i++) {
        const struct lb_connector *connector = backends[i]->connector;
        draft->backend_options[i] =
            options_new(lb_backend_options(backends[i]), connector ? connector->options_bytes : 0,
                        draft->arena, err);
        if (!draft->backend_options[i]) {
            err_prefix(err, "%s", backends[i]->name);
            return -1;
        }
    }
    return 0;
}

int draft_defaults(struct draft *draft, struct lb_err *err) {
    for (const struct section *section = sections(); section->name; section++) {
        for (int i = 0; i < section_count(section); i++) {
            void *values = section_values(section, draft->plan, i);
            if (options_fill(section->keys, values, draft->arena, err)) {
                err_prefix(err, "[%s]", section->name);
                return -1;
            }
        }
    }
    int locks = 0, backends = 0;
    while (registry_locks()[locks]) locks++;
    while (registry_backends()[backends]) backends++;
    draft->lock_options = arena_alloc(draft->arena, sizeof(void *) * (size_t)(locks + 1));
    draft->backend_options = arena_alloc(draft->arena, sizeof(void *) * (size_t)(backends + 1));
    if (!draft->lock_options || !draft->backend_options) {
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    return options_of_all(draft, err);
}

/* The tables that may contain the keys of a section, and the structs that these tables fill. There are two
 * tables if a lock and a backend have the same name ("sim"): the section then has the keys of both. */
struct target {
    struct {
        const struct lb_option *table;
        void *values;
    } part[2];
    int count;
    bool missing; /* the driver was built without its library */
};

static void add_part(struct target *target, const struct lb_option *table, void *values,
                     bool missing) {
    target->part[target->count].table = table;
    target->part[target->count++].values = values;
    target->missing |= missing;
}

static struct target find_target(const struct draft *draft, const char *name) {
    const struct lb_lock *const *locks = registry_locks();
    const struct lb_backend *const *backends = registry_backends();
    struct target target = {0};
    int number;
    const struct section *section = section_find(name, &number);
    if (section) {
        add_part(&target, section->keys, section_values(section, draft->plan, number), false);
        return target;
    }
    for (int i = 0; locks[i]; i++) {
        if (strcmp(locks[i]->name, name) != 0) continue;
        add_part(&target, locks[i]->algorithm->options, draft->lock_options[i],
                 lb_unavailable(locks[i]->backend) != NULL);
    }
    for (int i = 0; backends[i]; i++) {
        if (strcmp(backends[i]->name, name) != 0) continue;
        add_part(&target, lb_backend_options(backends[i]), draft->backend_options[i],
                 lb_unavailable(backends[i]) != NULL);
    }
    return target;
}

/* What is said of a key that its section does not have: what became of it, another section that has it, the nearest key
 * of this section, or the last two. Uses at most size bytes of text; the result is text or static. */
static const char *key_hint(const struct setting *setting, const struct target *target, char *text,
                            size_t size) {
    struct nearest nearest, whole;
    char name[128];
    snprintf(name, sizeof name, "%s.%s", setting->section, setting->key);
    nearest_init(&whole, name);
    const char *gone = nearest_hint(&whole, text, size);
    if (*gone) return gone;
    nearest_init(&nearest, setting->key);
    for (int i = 0; i < target->count; i++) options_offer(target->part[i].table, &nearest);
    for (const struct section *section = sections(); section->name; section++) {
        if (!options_find(section->keys, setting->key)) continue;
        int used = snprintf(text, size, ", it belongs to [%s]", section->name);
        if (nearest.best)
            snprintf(text + used, size - (size_t)used, "; or did you mean '%.60s' of this section?",
                     nearest.best);
        return text;
    }
    return nearest_hint(&nearest, text, size);
}

static int unknown_key(const struct setting *setting, const struct target *target,
                       const char *place, struct lb_err *err) {
    char text[200];
    const char *hint = key_hint(setting, target, text, sizeof text);
    return err_set(err, LB_EXIT_USAGE, "%s: there is no such key%s%s", place, hint,
                   *hint ? "" : "; 'lockbench list --keys' and 'lockbench list LOCK' show them");
}

static int unknown_section(const struct setting *setting, const char *place, struct lb_err *err) {
    struct nearest nearest;
    char hint[120];
    nearest_init(&nearest, setting->section);
    for (const struct section *section = sections(); section->name; section++)
        nearest_offer(&nearest, section->name);
    for (int i = 0; registry_locks()[i]; i++) nearest_offer(&nearest, registry_locks()[i]->name);
    for (int i = 0; registry_backends()[i]; i++)
        nearest_offer(&nearest, registry_backends()[i]->name);
    return err_set(
        err, LB_EXIT_USAGE,
        "%s: there is no section [%.40s]%s; allowed: workload, load, acquire, run, slo, check, "
        "fault, fault.2 to fault.8, servers, or a lock's or backend's name",
        place, setting->section, nearest_hint(&nearest, hint, sizeof hint));
}

int draft_apply(struct draft *draft, const struct setting *setting, struct lb_err *err) {
    char place[256];
    setting_place(setting, place, sizeof place);
    /* run.json contains every value, and must be UTF-8. */
    json_t *probe = json_string(setting->value);
    if (!probe) return err_set(err, LB_EXIT_USAGE, "%s: the value is not UTF-8 text", place);
    json_decref(probe);
    struct target target = find_target(draft, setting->section);
    for (int i = 0; i < target.count; i++) {
        const struct lb_option *option = options_find(target.part[i].table, setting->key);
        if (option)
            return option_set(option, target.part[i].values, setting->value, place, draft->arena,
                              err);
    }
    if (target.count == 0) return unknown_section(setting, place, err);
    /* A driver that was built without its library may have no option tables. The plan leaves its locks out, so
     * a workload that sets such options can still run. */
    return target.missing ? 0 : unknown_key(setting, &target, place, err);
}
