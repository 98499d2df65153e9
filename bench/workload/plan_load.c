/* plan_load: makes a plan from a workload file and a command line; see plan.h. write.c prints
 * plans, stages.c lists their stages. */
#define _GNU_SOURCE
#include "bench/workload/plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/option/text.h"
#include "bench/slo/threshold.h"
#include "bench/workload/draft.h"
#include "bench/workload/leases.h"
#include "bench/workload/sections.h"
#include "bench/workload/workloads.h"

/* The name of a workload that has none: its file's, without folder and ending, with "_" in place of
 * characters that a name must not have. */
static const char *name_from_path(const char *path, struct arena *arena) {
    const char *slash = strrchr(path, '/');
    char name[41];
    snprintf(name, sizeof name, "%.40s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot != name) *dot = '\0';
    for (char *c = name; *c; c++) {
        bool fit =
            strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *c) != NULL;
        if (!fit || (c == name && *c == '-')) *c = '_';
    }
    return arena_text(arena, *name ? name : "workload");
}

/* The error for a --set that has no '.' before its '='. */
static int refuse_without_section(const char *text, struct lb_err *err) {
    size_t len = strcspn(text, "=");
    char key[64] = "";
    text_trim(text, len, key, sizeof key);
    for (const struct section *of = sections(); text[len] && of->name; of++) {
        if (!options_find(of->keys, key)) continue;
        return err_set(err, LB_EXIT_USAGE, "--set %.80s: lacks the section; write --set %s.%.80s",
                       text, of->name, text);
    }
    return err_set(err, LB_EXIT_USAGE, "--set %.80s: write --set SECTION.KEY=VALUE", text);
}

/* Splits "SECTION.KEY=VALUE" into its three parts. */
static int read_set(const char *text, struct arena *arena, struct setting *ret,
                    struct lb_err *err) {
    const char *equals = strchr(text, '=');
    /* The last dot: the name of the section "fault.2" has a dot, too. */
    const char *dot = equals ? memrchr(text, '.', (size_t)(equals - text)) : NULL;
    char section[64], key[64], value[4096];
    if (!dot) return refuse_without_section(text, err);
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
    struct setting setting = {arena_text(arena, section), arena_text(arena, key),
                              arena_text(arena, value), NULL, 0};
    if (!setting.section || !setting.key || !setting.value)
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *ret = setting;
    return 0;
}

/* Appends the promises of the command line to those of the workload. */
static int add_promises(struct draft *draft, const struct plan_wish *wish, struct lb_err *err) {
    struct threshold all[THRESHOLDS_MAX];
    for (int i = 0; i < wish->promise_count; i++) {
        /* otherwise a script whose variable is not set would pass with any figure */
        if (!*wish->promises[i])
            return err_set(err, LB_EXIT_USAGE, "--slo: is empty: leave it out, or name a promise");
        const char *before = draft->plan->promises, *promise = wish->promises[i];
        size_t size = strlen(before) + strlen(promise) + 3;
        char *joined = arena_alloc(draft->arena, size);
        if (!joined) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        snprintf(joined, size, "%s%s%s", before, *before ? ", " : "", promise);
        if (thresholds_read(joined, all, err) < 0) {
            err_prefix(err, "--slo");
            return -1;
        }
        draft->plan->promises = joined;
    }
    return 0;
}

static int load_draft(struct draft *draft, const struct plan_wish *wish, struct lb_err *err) {
    struct plan *plan = draft->plan;
    struct settings *settings = &draft->settings;
    char path[PATH_MAX];
    if (workload_path(wish->folder, wish->workload, path, sizeof path, err)) return -1;
    plan->source = arena_text(draft->arena, path);
    plan->name = plan->source ? name_from_path(path, draft->arena) : NULL;
    if (!plan->name) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (draft_defaults(draft, err)) return -1;
    if (workfile_read(plan->source, draft->arena, settings, err)) return -1;
    for (int i = 0; i < wish->set_count; i++) {
        struct setting setting;
        if (read_set(wish->sets[i], draft->arena, &setting, err)) return -1;
        if (settings_add(settings, draft->arena, &setting, err)) return -1;
    }
    for (int i = 0; i < settings->count; i++) {
        if (draft_apply(draft, &settings->item[i], err)) return -1;
    }
    if (add_promises(draft, wish, err)) return -1;
    if (wish->locks) {
        plan->wished = arena_text(draft->arena, wish->locks);
        if (!plan->wished) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    if (draft_choose(draft, wish, err)) {
        const struct setting *from =
            wish->locks ? NULL : settings_find(settings, "workload", "locks");
        char place[256];
        if (from) err_prefix(err, "%s", setting_place(from, place, sizeof place));
        return -1;
    }
    if (draft_check(draft, err)) return -1;
    return leases_spread(plan, draft->arena, err);
}

struct plan *plan_load(const struct plan_wish *wish, struct lb_err *err) {
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
    if (load_draft(&draft, wish, err)) {
        plan_free(plan);
        return NULL;
    }
    return plan;
}

void plan_free(struct plan *plan) {
    if (!plan) return;
    for (int i = 0; i < plan->lock_count; i++) plan_free((struct plan *)plan->locks[i].plan);
    json_decref(plan->skipped);
    json_decref(plan->warnings);
    arena_done(plan->memory);
    free(plan->memory);
    free(plan);
}
