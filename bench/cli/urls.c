/* urls: see urls.h. */
#include "bench/cli/urls.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/nearest.h"
#include "drivers/registry.h"
#include "drivers/url.h"

#define VARIABLE_MAX 80

/* What follows the scheme in an example of a backend's URL: a server, or a folder. */
static const char *after_scheme(const struct lb_backend *backend) {
    return backend->topologies ? "HOST:PORT" : "/FOLDER";
}

/* Says how the value should have been written, from what is right in it. */
static int not_backend_url(const char *value, struct lb_err *err) {
    const struct lb_backend *named = registry_backend(value);
    if (named && named->schemes)
        return err_set(err, LB_EXIT_USAGE, "this is a backend without its URL: write %s=%s://%s",
                       named->name, named->schemes[0], after_scheme(named));
    return err_set(err, LB_EXIT_USAGE,
                   "this is neither a URL that a backend knows nor BACKEND=URL");
}

/* value: what stands behind the name and '='. Without a URL there, and near to no backend, the name may be a part of a
 * password, and is not shown. */
static int unknown_backend(const char *name, const char *value, struct lb_err *err) {
    struct nearest nearest;
    char hint[80];
    nearest_init(&nearest, name);
    for (const struct lb_backend *const *backend = registry_backends(); *backend; backend++) {
        if ((*backend)->schemes) nearest_offer(&nearest, (*backend)->name);
    }
    if (!*nearest.best && !strstr(value, "://"))
        return err_set(err, LB_EXIT_USAGE, "no backend of that name takes a URL");
    return err_set(err, LB_EXIT_USAGE, "no backend '%s' that takes a URL%s", name,
                   nearest_hint(&nearest, hint, sizeof hint));
}

/* A text that is no URL is not shown: it may be a password. */
static const char *shown_if_url(const char *text, char *out, size_t size) {
    return strstr(text, "://") ? url_public(text, out, size) : "…";
}

static int check_scheme(const struct lb_backend *backend, const char *url, struct lb_err *err) {
    char allowed[512] = "", shown[256];
    for (const char *const *scheme = backend->schemes; *scheme; scheme++) {
        size_t len = strlen(*scheme);
        if (strncmp(url, *scheme, len) == 0 && strncmp(url + len, "://", 3) == 0) return 0;
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s%s://", used ? ", " : "", *scheme);
    }
    return err_set(err, LB_EXIT_USAGE,
                   "%s=%s: a URL of this backend begins with %s, for example %s=%s://%s",
                   backend->name, shown_if_url(url, shown, sizeof shown), allowed, backend->name,
                   backend->schemes[0], after_scheme(backend));
}

/* LOCKBENCH_URL_REDIS. */
static const char *variable_of(const char *backend, char name[VARIABLE_MAX]) {
    size_t used = (size_t)snprintf(name, VARIABLE_MAX, "LOCKBENCH_URL_");
    for (; *backend && used + 1 < VARIABLE_MAX; backend++)
        name[used++] = *backend == '-' ? '_' : (char)toupper((unsigned char)*backend);
    name[used] = '\0';
    return name;
}

/* Returns the URL that a value of --url means. *ret_again: a value that means the same without
 * showing the URL. NULL with err. */
static const char *find_url(const char *backend, const char *value, struct arena *arena,
                            const char **ret_again, struct lb_err *err) {
    char name[VARIABLE_MAX], again[VARIABLE_MAX + 64 + sizeof "=env:"];
    *ret_again = NULL;
    if (strncmp(value, "env:", 4) == 0) {
        const char *url = getenv(value + 4);
        if (!url || !*url) err_set(err, LB_EXIT_USAGE, "the environment has no %.60s", value + 4);
        return url && *url ? arena_text(arena, url) : NULL;
    }
    variable_of(backend, name);
    snprintf(again, sizeof again, "%s=env:%s", backend, name);
    *ret_again = arena_text(arena, again);
    if (*ret_again) return value;
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    return NULL;
}

/* kept: "BACKEND=VALUE", which lives as long as the arena. */
static int add_url(struct urls *urls, const struct lb_backend *backend, const char *kept,
                   struct arena *arena, struct lb_err *err) {
    const char *again, *url = find_url(backend->name, strchr(kept, '=') + 1, arena, &again, err);
    if (!url) return -1;
    if (urls->count == URLS_MAX) return err_set(err, LB_EXIT_USAGE, "at most %d", URLS_MAX);
    if (check_scheme(backend, url, err) != 0) return -1;
    const char *word = again && url_has_secret(kept) ? again : kept;
    urls->item[urls->count++] = (struct place_url){.backend = backend, .url = url, .word = word};
    return 0;
}

static bool has_url(const struct urls *urls, const struct lb_backend *backend) {
    for (int i = 0; i < urls->count; i++) {
        if (urls->item[i].backend == backend) return true;
    }
    return false;
}

static int read_url(const struct option_into *into, const char *text, struct lb_err *err) {
    struct urls *urls = into->at;
    const struct lb_backend *backend = registry_backend_of_url(text);
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0, size = strlen(text) + 70;
    char name[64];
    if (!backend && (length == 0 || length >= sizeof name || memchr(text, ':', length)))
        return not_backend_url(text, err);
    if (!backend) {
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        backend = registry_backend(name);
        if (!backend || !backend->schemes) return unknown_backend(name, equals + 1, err);
        text = equals + 1;
    }
    char *kept = arena_alloc(into->arena, size);
    if (!kept) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    snprintf(kept, size, "%s=%s", backend->name, text);
    if (has_url(urls, backend))
        return err_set(err, LB_EXIT_USAGE, "%s is given twice", backend->name);
    return add_url(urls, backend, kept, into->arena, err);
}

const struct lb_option_type type_url = {
    .bytes = sizeof(struct urls),
    .read = read_url,
    .words = "URL, BACKEND=URL or BACKEND=env:NAME",
};

int urls_ready(struct urls *urls, struct arena *arena, struct available *available,
               struct lb_err *err) {
    urls->typed = urls->count;
    for (const struct lb_backend *const *each = registry_backends(); *each; each++) {
        char name[VARIABLE_MAX], kept[VARIABLE_MAX + 64 + sizeof "=env:"];
        if (!(*each)->schemes || has_url(urls, *each)) continue;
        const char *value = getenv(variable_of((*each)->name, name));
        if (!value || !*value) continue;
        snprintf(kept, sizeof kept, "%s=env:%s", (*each)->name, name);
        const char *lasting = arena_text(arena, kept);
        if (!lasting) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        if (add_url(urls, *each, lasting, arena, err) != 0) return err_prefix(err, "%s", name);
    }
    for (int i = 0; available && i < urls->count; i++)
        available_url(available, urls->item[i].backend, urls->item[i].url);
    return 0;
}

int urls_keep(struct urls *urls, bool (*uses)(const void *arg, const struct lb_backend *backend),
              const void *arg, struct lb_err *err) {
    const char *unused = NULL;
    int kept = urls->typed;
    for (int i = 0; i < urls->typed && !unused; i++)
        if (!uses(arg, urls->item[i].backend)) unused = urls->item[i].backend->name;
    for (int i = urls->typed; i < urls->count; i++) {
        if (!uses(arg, urls->item[i].backend)) continue;
        urls->item[kept++] = urls->item[i];
    }
    urls->count = kept;
    if (!unused) return 0;
    return err_set(err, LB_EXIT_USAGE, "--url %s=…: no lock that runs is of %s", unused, unused);
}

/* Reads "backend.key=value" into the options of the backend that it names. 0, or -1 with err. */
static int read_set(const char *set, const struct urls *urls, void *const *options,
                    struct arena *arena, struct lb_err *err) {
    char place[200], name[128];
    size_t owner = strcspn(set, ".="), len = strcspn(set, "=");
    snprintf(place, sizeof place, "--set %.*s", (int)len, set);
    for (int i = 0; set[owner] == '.' && set[len] && i < urls->count; i++) {
        const struct lb_backend *backend = urls->item[i].backend;
        snprintf(name, sizeof name, "%.*s", (int)(len - owner - 1), set + owner + 1);
        const struct lb_option *option = options_find(lb_backend_options(backend), name);
        if (strlen(backend->name) == owner && strncmp(backend->name, set, owner) == 0 && option)
            return option_set(option, options[i], set + len + 1, place, arena, err);
    }
    return err_set(err, LB_EXIT_USAGE,
                   "%s: no backend at --url has such an option: `lockbench list BACKEND --keys`",
                   place);
}

int urls_options(struct urls *urls, const struct arg_list *sets, struct arena *arena,
                 struct lb_err *err) {
    void *options[URLS_MAX];
    for (int i = 0; i < urls->count; i++) {
        const struct lb_backend *backend = urls->item[i].backend;
        size_t bytes = backend->connector ? backend->connector->options_bytes : 0;
        options[i] = options_new(lb_backend_options(backend), bytes, arena, err);
        if (!options[i]) return -1;
        urls->item[i].options = options[i];
    }
    for (int i = 0; i < sets->count; i++) {
        if (read_set(sets->item[i], urls, options, arena, err) != 0) return -1;
    }
    return 0;
}

bool urls_plan_uses(const void *arg, const struct lb_backend *backend) {
    const struct plan *plan = arg;
    for (int i = 0; i < plan->lock_count; i++) {
        if (plan->locks[i].lock->backend == backend) return true;
    }
    for (size_t i = 0; i < json_array_size(plan->skipped); i++) {
        const json_t *name = json_object_get(json_array_get(plan->skipped, i), "backend");
        if (json_is_string(name) && strcmp(json_string_value(name), backend->name) == 0)
            return true;
    }
    return false;
}

int urls_hand_on(const struct urls *urls, struct lb_err *err) {
    for (int i = 0; i < urls->count; i++) {
        char name[VARIABLE_MAX];
        const char *told = strstr(urls->item[i].word, "=env:");
        variable_of(urls->item[i].backend->name, name);
        if (!told || strcmp(told + strlen("=env:"), name) != 0) continue;
        if (setenv(name, urls->item[i].url, 1) != 0)
            return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    return 0;
}

void urls_forget(const struct urls *urls) {
    for (const struct lb_backend *const *each = registry_backends(); *each; each++) {
        char name[VARIABLE_MAX];
        if (!has_url(urls, *each)) unsetenv(variable_of((*each)->name, name));
    }
}
