/* list_json: the list for machines; see list.h. */
#include <string.h>

#include "bench/cli/list.h"
#include "bench/cli/list_about.h"
#include "bench/workload/sections.h"
#include "drivers/registry.h"

/* Makes ["try", "wait"] of "try, wait". */
static json_t *words_json(char *text) {
    json_t *array = json_array();
    for (char *word; (word = strsep(&text, ","));) {
        word += strspn(word, " ");
        if (*word) json_array_append_new(array, json_string(word));
    }
    return array;
}

static json_t *topologies_json(const char *const *names) {
    json_t *array = json_array();
    for (; names && *names; names++) json_array_append_new(array, json_string(*names));
    return array;
}

static json_t *listed_lock_json(struct list *list, const struct lb_lock *lock) {
    char caps[256], claims[256];
    const char *install, *reason = available_lock(&list->available, lock, &install);
    return json_pack(
        "{s:s, s:s, s:s, s:b, s:s?, s:s?, s:s, s:o, s:o, s:s?, s:s?, s:s?, s:o, s:o, s:o, s:o}",
        "name", lock->name, "backend", lock->backend->name, "primitive",
        lb_primitive_name(lock->primitive), "available", !reason, "reason", reason, "install",
        install, "summary", lock->summary, "caps",
        words_json(list_caps(lock->caps, caps, sizeof caps)), "claims",
        words_json(list_claims(lock->claims, claims, sizeof claims)), "waits", lock->waits,
        "durability_note", lock->durability_note, "keeps", lock->keeps, "topologies",
        topologies_json(lb_topologies(lock)), "about", about_json(lock), "expected",
        about_expected_json(lock), "options", options_table_json(lock->algorithm->options));
}

static json_t *backend_json(struct list *list, const struct lb_backend *backend) {
    const char *install,
        *reason = available_why_not(&list->available, backend, NULL, NULL, &install);
    json_t *schemes = json_array();
    for (int i = 0; backend->schemes && backend->schemes[i]; i++) {
        json_array_append_new(schemes, json_string(backend->schemes[i]));
    }
    /* `install`: the packages that are missing for the backend; `packages`: all packages that the backend needs. */
    return json_pack("{s:s, s:b, s:s?, s:s?, s:s?, s:s, s:s?, s:o, s:o}", "name", backend->name,
                     "available", !reason, "reason", reason, "install", install, "packages",
                     backend->install, "summary", backend->summary, "topology",
                     backend->topologies ? backend->topologies[0] : NULL, "schemes", schemes,
                     "options", options_table_json(lb_backend_options(backend)));
}

/* True if the backend is asked for, or one of its locks. */
static bool backend_is_wanted(const struct list *list, const struct lb_backend *backend) {
    if (list_wants_backend(list, backend)) return true;
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lock->backend == backend && list_wants_lock(list, lock)) return true;
    }
    return false;
}

json_t *list_json(struct list *list) {
    json_t *locks = json_array(), *backends = json_array(), *workloads = json_array();
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (list_wants_lock(list, lock)) json_array_append_new(locks, listed_lock_json(list, lock));
    }
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        if (backend_is_wanted(list, backend))
            json_array_append_new(backends, backend_json(list, backend));
    }
    for (int i = 0; i < list->workloads.count; i++) {
        const struct workload_file *file = &list->workloads.item[i];
        if (!list_wants_workload(list, file)) continue;
        json_array_append_new(workloads, json_pack("{s:s, s:s, s:s}", "name", file->name, "summary",
                                                   file->summary, "file", file->path));
    }
    return json_pack("{s:o, s:o, s:o}", "locks", locks, "backends", backends, "workloads",
                     workloads);
}

json_t *list_keys_json(void) {
    json_t *keys = json_array();
    for (const struct section *section = sections(); section->name; section++) {
        for (const struct lb_option *key = section->keys; key->name; key++) {
            char allowed[256];
            json_array_append_new(
                keys, json_pack("{s:s, s:s, s:s?, s:s, s:s}", "section", section->name, "key",
                                key->name, "default", key->def, "allowed",
                                option_allowed(key, allowed, sizeof allowed), "help", key->help));
        }
    }
    return json_pack("{s:o}", "keys", keys);
}
