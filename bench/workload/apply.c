/* apply: puts one setting where it belongs: into the plan, or into the options of a lock or
 * backend. */
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/workload/draft.h"
#include "bench/workload/faults.h"
#include "bench/workload/fields.h"
#include "bench/workload/options.h"
#include "drivers/registry.h"

static int options_of_all(struct draft *draft, struct lb_err *err) {
    const struct lb_lock *const *locks = registry_locks();
    const struct lb_backend *const *backends = registry_backends();
    for (int i = 0; locks[i]; i++) {
        draft->lock_options[i] =
            options_new(locks[i]->options, locks[i]->options_bytes, draft->arena, err);
        if (!draft->lock_options[i]) {
            err_prefix(err, "%s", locks[i]->name);
            return -1;
        }
    }
    for (int i = 0; backends[i]; i++) {
        draft->backend_options[i] =
            options_new(backends[i]->options, backends[i]->options_bytes, draft->arena, err);
        if (!draft->backend_options[i]) {
            err_prefix(err, "%s", backends[i]->name);
            return -1;
        }
    }
    return 0;
}

int draft_defaults(struct draft *draft, struct lb_err *err) {
    for (const struct field *field = fields(); field->section; field++) {
        if (!field->def) continue;
        int sections = strcmp(field->section, "fault") == 0 ? PLAN_FAULTS_MAX : 1;
        for (int i = 0; i < sections; i++) {
            struct field at = field_of_fault(field, i);
            if (field_read(&at, field->def, draft->plan, draft->arena, err)) {
                err_prefix(err, "the default of %s.%s", field->section, field->key);
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

static int refuse(const struct setting *setting, const struct lb_err *why, const char *allowed,
                  struct lb_err *err) {
    char place[256];
    setting_place(setting, place, sizeof place);
    if (why->code != LB_EXIT_USAGE) return err_set(err, why->code, "%s: %s", place, why->text);
    if (*setting->value == '\0') {
        return err_set(err, LB_EXIT_USAGE, "%s: the value is missing; allowed: %s", place, allowed);
    }
    /* A hint has named the right value, and the reason its neighbours. */
    bool hinted = why->text[strlen(why->text) - 1] == '?';
    return err_set(err, LB_EXIT_USAGE, "%s: %s%s%s", place, why->text,
                   hinted ? "" : "; allowed: ", hinted ? "" : allowed);
}

/* fault: the number of its fault section; -1 = it is none. */
static int apply_field(struct draft *draft, const struct field *field, int fault,
                       const struct setting *setting, struct lb_err *err) {
    struct lb_err why = {0};
    char allowed[256];
    struct field at = fault > 0 ? field_of_fault(field, fault) : *field;
    if (field_read(&at, setting->value, draft->plan, draft->arena, &why)) {
        return refuse(setting, &why, field_allowed(field, allowed, sizeof allowed), err);
    }
    if (fault >= 0)
        draft->from_fault[fault][field - fields()] = setting;
    else
        draft->from[field - fields()] = setting;
    return 0;
}

/* A key that its section doesn't have: the nearest that it has, or the section where the key is. */
static int unknown_key(const struct setting *setting, const struct nearest *nearest,
                       struct lb_err *err) {
    char place[256], hint[120];
    nearest_hint(nearest, hint, sizeof hint);
    for (const struct field *field = fields(); !*hint && field->section; field++) {
        if (strcmp(field->key, setting->key) == 0) {
            snprintf(hint, sizeof hint, ", it belongs to [%s]", field->section);
        }
    }
    return err_set(err, LB_EXIT_USAGE, "%s: there is no such key%s%s",
                   setting_place(setting, place, sizeof place), hint,
                   *hint ? "" : "; 'lockbench list --keys' and 'lockbench list LOCK' show them");
}

static int unknown_section(const struct setting *setting, struct lb_err *err) {
    struct nearest nearest;
    char place[256], hint[120];
    nearest_init(&nearest, setting->section);
    for (const struct field *field = fields(); field->section; field++)
        nearest_offer(&nearest, field->section);
    for (int i = 0; registry_locks()[i]; i++) nearest_offer(&nearest, registry_locks()[i]->name);
    for (int i = 0; registry_backends()[i]; i++)
        nearest_offer(&nearest, registry_backends()[i]->name);
    return err_set(
        err, LB_EXIT_USAGE,
        "%s: there is no section [%.40s]%s; allowed: workload, load, acquire, run, check, fault, "
        "fault.2 to fault.8, servers, or a lock's or backend's name",
        setting_place(setting, place, sizeof place), setting->section,
        nearest_hint(&nearest, hint, sizeof hint));
}

/* Locks and backends may share a name ("sim"): their keys then share the section. */
static int apply_option(struct draft *draft, const struct setting *setting, struct lb_err *err) {
    const struct lb_lock *const *locks = registry_locks();
    const struct lb_backend *const *backends = registry_backends();
    const struct lb_option *option = NULL;
    struct nearest nearest;
    void *options = NULL;
    bool known = false, missing = false;
    nearest_init(&nearest, setting->key);
    for (int i = 0; locks[i] && !option; i++) {
        if (strcmp(locks[i]->name, setting->section) != 0) continue;
        known = true;
        missing |= locks[i]->backend->unavailable != NULL;
        options = draft->lock_options[i];
        option = options_find(locks[i]->options, setting->key);
        options_offer(locks[i]->options, &nearest);
    }
    for (int i = 0; backends[i] && !option; i++) {
        if (strcmp(backends[i]->name, setting->section) != 0) continue;
        known = true;
        missing |= backends[i]->unavailable != NULL;
        options = draft->backend_options[i];
        option = options_find(backends[i]->options, setting->key);
        options_offer(backends[i]->options, &nearest);
    }
    if (!known) return unknown_section(setting, err);
    /* A driver that was built without its library may lack its options too. Its lock will be left
     * out, so a workload that sets them still runs here. */
    if (!option && missing) return 0;
    if (!option) return unknown_key(setting, &nearest, err);
    struct lb_err why = {0};
    char allowed[256];
    if (option_read(option, options, setting->value, draft->arena, &why)) {
        return refuse(setting, &why, option_allowed(option, allowed, sizeof allowed), err);
    }
    return 0;
}

int draft_apply(struct draft *draft, const struct setting *setting, struct lb_err *err) {
    int fault = fault_section(setting->section);
    const char *section = fault >= 0 ? "fault" : setting->section;
    const struct field *field = field_find(section, setting->key);
    /* Every value goes into run.json, which is UTF-8. */
    json_t *probe = json_string(setting->value);
    if (!probe) {
        char place[256];
        return err_set(err, LB_EXIT_USAGE, "%s: the value is not UTF-8 text",
                       setting_place(setting, place, sizeof place));
    }
    json_decref(probe);
    if (field) return apply_field(draft, field, fault, setting, err);
    struct nearest nearest;
    bool known = false;
    nearest_init(&nearest, setting->key);
    for (field = fields(); field->section; field++) {
        if (strcmp(field->section, section) != 0) continue;
        known = true;
        nearest_offer(&nearest, field->key);
    }
    return known ? unknown_key(setting, &nearest, err) : apply_option(draft, setting, err);
}
