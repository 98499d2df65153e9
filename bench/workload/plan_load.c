/* plan_load: makes a plan from a workload file and a command line; see plan.h. sections.c prints
 * plans, stages.c lists their stages. */
#define _GNU_SOURCE

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/base/text.h"
#include "bench/option/text.h"
#include "bench/slo/slo.h"
#include "bench/workload/draft.h"
#include "bench/workload/plan.h"
#include "bench/workload/sections.h"
#include "bench/workload/stages.h"
#include "bench/workload/workfile.h"
#include "drivers/registry.h"

/* Adds what has keys, with their defaults; values NULL = a new struct of `bytes`. 0, or -1 with err. */
static int add_owner(struct draft *draft, struct owner owner, size_t bytes, struct lb_err *err) {
    if (!owner.values) owner.values = arena_alloc(draft->arena, bytes);
    if (!owner.values) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    draft->owners[draft->owner_count++] = owner;
    if (options_fill(owner.keys, owner.values, draft->arena, err) == 0) return 0;
    return err_prefix(err, "[%s]", owner.name);
}

/* Lists all that has keys, with the defaults. 0, or -1 with err. */
static int draft_defaults(struct draft *draft, struct lb_err *err) {
    const struct lb_lock *const *locks = registry_locks();
    const struct lb_backend *const *backends = registry_backends();
    size_t room = 0;
    for (int i = 0; sections()[i].name; i++) room++;
    for (int i = 0; locks[i]; i++) room++;
    for (int i = 0; backends[i]; i++) room++;
    draft->owners = arena_alloc(draft->arena, sizeof *draft->owners * room);
    if (!draft->owners) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    int failed = 0;
    for (const struct section *of = sections(); of->name && !failed; of++) {
        struct owner owner = {of->name, of->keys, section_values(of, draft->plan), NULL};
        failed = add_owner(draft, owner, 0, err);
    }
    draft->locks = &draft->owners[draft->owner_count];
    for (; *locks && !failed; locks++) {
        const struct lb_algorithm *of = (*locks)->algorithm;
        struct owner owner = {(*locks)->name, of->options, NULL, (*locks)->backend};
        failed = add_owner(draft, owner, of->options_bytes, err);
    }
    draft->backends = &draft->owners[draft->owner_count];
    for (; *backends && !failed; backends++) {
        const struct lb_connector *of = (*backends)->connector;
        struct owner owner = {(*backends)->name, lb_backend_options(*backends), NULL, *backends};
        failed = add_owner(draft, owner, of ? of->options_bytes : 0, err);
    }
    return failed;
}

/* What is said of a key that its section does not have: another section that has it, the nearest key of this section, or
 * both. Uses at most size bytes of text; the result is text or static. */
static const char *key_hint(const struct draft *draft, const struct setting *setting, char *text,
                            size_t size) {
    struct nearest nearest;
    nearest_init(&nearest, setting->key);
    for (int i = 0; i < draft->owner_count; i++) {
        const struct owner *owner = &draft->owners[i];
        if (strcmp(owner->name, setting->section) == 0) options_offer(owner->keys, &nearest);
    }
    for (const struct section *section = sections(); section->name; section++) {
        if (!options_find(section->keys, setting->key)) continue;
        int used = snprintf(text, size, ", it belongs to [%s]", section->name);
        if (*nearest.best)
            snprintf(text + used, size - (size_t)used, "; or did you mean '%.60s' of this section?",
                     nearest.best);
        return text;
    }
    return nearest_hint(&nearest, text, size);
}

static int unknown_key(const struct draft *draft, const struct setting *setting, const char *source,
                       struct lb_err *err) {
    char text[200];
    const char *hint = key_hint(draft, setting, text, sizeof text);
    return err_set(err, LB_EXIT_USAGE, "%s: there is no such key%s%s", source, hint,
                   *hint ? "" : "; 'lockbench list --keys' and 'lockbench list LOCK' show them");
}

static int unknown_section(const struct draft *draft, const struct setting *setting,
                           const char *source, struct lb_err *err) {
    struct nearest nearest;
    char hint[120];
    nearest_init(&nearest, setting->section);
    for (int i = 0; i < draft->owner_count; i++) nearest_offer(&nearest, draft->owners[i].name);
    return err_set(
        err, LB_EXIT_USAGE,
        "%s: there is no section [%.40s]%s; allowed: workload, load, acquire, run, slo, check, "
        "fault, fault.2 to fault.8, servers, or a lock's or backend's name",
        source, setting->section, nearest_hint(&nearest, hint, sizeof hint));
}

/* Applies one setting of the file or the command line. 0, or -1 with err: source, reason, what is allowed. */
static int draft_apply(struct draft *draft, const struct setting *setting, struct lb_err *err) {
    char source[256];
    setting_source(setting, source, sizeof source);
    /* run.json contains every value, and must be UTF-8. */
    json_t *probe = json_string(setting->value);
    if (!probe) return err_set(err, LB_EXIT_USAGE, "%s: the value is not UTF-8 text", source);
    json_decref(probe);
    bool known = false, missing = false;
    for (int i = 0; i < draft->owner_count; i++) {
        const struct owner *owner = &draft->owners[i];
        if (strcmp(owner->name, setting->section) != 0) continue;
        const struct lb_option *key = options_find(owner->keys, setting->key);
        if (key) return option_set(key, owner->values, setting->value, source, draft->arena, err);
        known = true;
        missing |= owner->backend && lb_unavailable(owner->backend);
    }
    if (!known) return unknown_section(draft, setting, source, err);
    /* A driver that was built without its library may have no option tables. The plan leaves its locks out, so
     * a workload that sets such options can still run. */
    return missing ? 0 : unknown_key(draft, setting, source, err);
}

/* The name of a workload that has none: its file's, without folder and ending, with "_" in place of
 * characters that a name must not have. */
static const char *name_from_path(const char *path, struct arena *arena) {
    const char *slash = strrchr(path, '/');
    char name[41];
    snprintf(name, sizeof name, "%.40s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot != name) *dot = '\0';
    for (char *c = name; *c; c++) {
        bool fit = strchr(PLAIN_NAME, *c) && *c != '.';
        if (!fit || (c == name && *c == '-')) *c = '_';
    }
    return arena_text(arena, *name ? name : "workload");
}

/* Splits "SECTION.KEY=VALUE" into its three parts. */
static int read_set(const char *text, struct arena *arena, struct setting *ret,
                    struct lb_err *err) {
    const char *equals = strchr(text, '=');
    /* The last dot: the name of the section "fault.2" has a dot, too. */
    const char *dot = equals ? memrchr(text, '.', (size_t)(equals - text)) : NULL;
    char section[64], key[64], value[4096];
    if (!dot)
        return err_set(err, LB_EXIT_USAGE, "--set %.80s: write --set SECTION.KEY=VALUE", text);
    if (text_trim(text, (size_t)(dot - text), section, sizeof section) ||
        text_trim(dot + 1, (size_t)(equals - dot - 1), key, sizeof key) ||
        text_trim(equals + 1, strlen(equals + 1), value, sizeof value)) {
        return err_set(err, LB_EXIT_USAGE, "--set %.80s...: too long", text);
    }
    /* Refuses a value that a workload file can't contain, because a printed plan must be readable as a workload
     * file. */
    if (strpbrk(value, "\n\r") || *value == ';' || *value == '#' || strstr(value, " ;") ||
        strstr(value, " #") || strstr(value, "\t;") || strstr(value, "\t#")) {
        return err_set(err, LB_EXIT_USAGE,
                       "--set %.80s: a value has no line break, and no ; or # behind a blank",
                       text);
    }
    struct setting setting = {arena_text(arena, section),
                              arena_text(arena, key),
                              arena_text(arena, value),
                              NULL,
                              0,
                              NULL};
    if (!setting.section || !setting.key || !setting.value)
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *ret = setting;
    return 0;
}

/* Appends the promises of the command line to those of the workload. */
static int add_promises(struct draft *draft, const struct plan_ask *ask, struct lb_err *err) {
    struct threshold all[THRESHOLDS_MAX];
    for (int i = 0; i < ask->promise_count; i++) {
        /* otherwise a script whose variable is not set would pass with any figure */
        if (!*ask->promises[i])
            return err_set(err, LB_EXIT_USAGE, "--slo: is empty: leave it out, or name a promise");
        const char *before = draft->plan->promises, *promise = ask->promises[i];
        size_t size = strlen(before) + strlen(promise) + 3;
        char *joined = arena_alloc(draft->arena, size);
        if (!joined) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        snprintf(joined, size, "%s%s%s", before, *before ? ", " : "", promise);
        if (thresholds_read(joined, all, err) < 0) return err_prefix(err, "--slo");
        draft->plan->promises = joined;
    }
    return 0;
}

static int load_draft(struct draft *draft, const struct plan_ask *ask, struct lb_err *err) {
    struct plan *plan = draft->plan;
    struct settings *settings = &draft->settings;
    char path[PATH_MAX];
    if (workload_path(ask->folder, ask->workload, path, sizeof path, err)) return -1;
    plan->source = arena_text(draft->arena, path);
    plan->name = plan->source ? name_from_path(path, draft->arena) : NULL;
    if (!plan->name) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (draft_defaults(draft, err)) return -1;
    if (workfile_read(plan->source, draft->arena, settings, err)) return -1;
    for (int i = 0; i < ask->set_count; i++) {
        struct setting setting;
        if (read_set(ask->sets[i], draft->arena, &setting, err)) return -1;
        if (settings_add(settings, draft->arena, &setting, err)) return -1;
    }
    for (const struct setting *each = settings->first; each; each = each->next) {
        if (draft_apply(draft, each, err)) return -1;
    }
    if (add_promises(draft, ask, err)) return -1;
    if (ask->locks) {
        plan->lock_words = arena_text(draft->arena, ask->locks);
        if (!plan->lock_words) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    if (draft_choose(draft, ask, err)) {
        const struct setting *from =
            ask->locks ? NULL : settings_find(settings, "workload", "locks");
        char source[256];
        if (from) err_prefix(err, "%s", setting_source(from, source, sizeof source));
        return -1;
    }
    return draft_check(draft, err);
}

struct plan *plan_load(const struct plan_ask *ask, struct lb_err *err) {
    struct plan *plan = calloc(1, sizeof *plan);
    struct arena *arena = calloc(1, sizeof *arena);
    if (!plan || !arena) {
        free(plan);
        free(arena);
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    plan->memory = arena;
    plan->skipped = json_array();
    plan->warnings = json_array();
    struct draft draft = {.plan = plan, .arena = arena};
    if (load_draft(&draft, ask, err)) {
        plan_free(plan);
        return NULL;
    }
    return plan;
}

void plan_free(struct plan *plan) {
    if (!plan) return;
    json_decref(plan->skipped);
    json_decref(plan->warnings);
    arena_done(plan->memory);
    free(plan->memory);
    free(plan);
}
