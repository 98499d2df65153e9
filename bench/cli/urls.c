/* urls: see urls.h. */
#include "bench/cli/urls.h"

#include <stdio.h>
#include <string.h>

#include "bench/base/nearest.h"
#include "drivers/registry.h"
#include "drivers/url.h"

static int unknown_backend(const char *name, struct lb_err *err) {
    struct nearest nearest;
    char hint[80];
    nearest_init(&nearest, name);
    for (const struct lb_backend *const *backend = registry_backends(); *backend; backend++) {
        if ((*backend)->schemes) nearest_offer(&nearest, (*backend)->name);
    }
    return err_set(err, LB_EXIT_USAGE, "no backend '%s' that takes a URL%s", name,
                   nearest_hint(&nearest, hint, sizeof hint));
}

static int check_scheme(const struct lb_backend *backend, const char *url, struct lb_err *err) {
    char allowed[160] = "", shown[256];
    for (const char *const *scheme = backend->schemes; *scheme; scheme++) {
        size_t len = strlen(*scheme);
        if (strncmp(url, *scheme, len) == 0 && strncmp(url + len, "://", 3) == 0) return 0;
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s%s://", used ? ", " : "", *scheme);
    }
    return err_set(err, LB_EXIT_USAGE, "%s=%s: a URL of this backend begins with %s", backend->name,
                   url_public(url, shown, sizeof shown), allowed);
}

static int read_url(const struct lb_option *option, const char *text, void *values,
                    struct arena *arena, struct lb_err *err) {
    struct urls *urls = option_at(option, values);
    const char *kept = arena_text(arena, text);
    char name[64];
    const char *equals = kept ? strchr(kept, '=') : NULL;
    if (!kept) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (!equals || equals == kept || (size_t)(equals - kept) >= sizeof name) {
        return err_set(err, LB_EXIT_USAGE, "this is not BACKEND=URL");
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - kept), kept);
    const struct lb_backend *backend = registry_backend(name);
    if (!backend || !backend->schemes) return unknown_backend(name, err);
    for (int i = 0; i < urls->count; i++) {
        if (urls->item[i].backend == backend)
            return err_set(err, LB_EXIT_USAGE, "%s is given twice", name);
    }
    if (urls->count == URLS_MAX) return err_set(err, LB_EXIT_USAGE, "at most %d", URLS_MAX);
    if (check_scheme(backend, equals + 1, err) != 0) return -1;
    urls->text[urls->count] = kept;
    urls->item[urls->count++] = (struct place_url){.backend = backend, .url = equals + 1};
    return 0;
}

const struct lb_option_type type_url = {
    .name = "url",
    .bytes = sizeof(struct urls),
    .read = read_url,
    .words = "BACKEND=URL, for example redis=redis://127.0.0.1:6379",
};

void urls_tell(const struct urls *urls, struct available *available) {
    for (int i = 0; i < urls->count; i++) {
        available_url(available, urls->item[i].backend, urls->item[i].url);
    }
}
