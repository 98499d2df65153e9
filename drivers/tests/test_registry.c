/* test_registry: every lock and backend of the list has a table that is whole and in order, and a row in the
 * page that people read. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/base/home.h"
#include "bench/plan/options.h"
#include "drivers/registry.h"

#define CAPS_ALL 0x3ffu
#define CLAIMS_ALL 0xfu

static bool is_name(const char *text) {
    if (!text || !islower((unsigned char)text[0])) return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(text);
}

static bool is_line(const char *text) {
    return text && text[0] && !strchr(text, '\n') && text[strlen(text) - 1] != '.';
}

static void test_look_up(void **state) {
    (void)state;
    int count = 0;
    for (int i = 0; registry_locks()[i]; i++, count++) {
        const struct lb_lock *lock = registry_locks()[i];
        assert_ptr_equal(registry_lock(lock->name), lock); /* so names are unique */
        assert_ptr_equal(registry_backend(lock->backend->name), lock->backend);
    }
    assert_true(count >= 12);
    assert_null(registry_lock("no-such-lock"));
    assert_null(registry_lock(""));
    assert_null(registry_backend("no-such-backend"));
    for (int i = 0; registry_backends()[i]; i++) {
        for (int j = 0; j < i; j++) assert_ptr_not_equal(registry_backends()[i], registry_backends()[j]);
    }
}

static void test_locks_are_whole(void **state) {
    (void)state;
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        bool here = !lock->backend->unavailable;
        const char *bad = !is_name(lock->name)                                   ? "name"
                          : !is_line(lock->summary)                              ? "summary"
                          : !lock->waits                                         ? "waits"
                          : (lock->caps & ~CAPS_ALL)                             ? "caps"
                          : (lock->claims & ~CLAIMS_ALL)                         ? "claims"
                          : here && (!lock->acquire || !lock->release)           ? "acquire or release"
                          : here && !(lock->caps & LB_CAP_RENEW) != !lock->renew ? "renew"
                          : here && !lock->options != !lock->options_bytes       ? "options_bytes"
                                                                                 : NULL;
        if (bad) fail_msg("%s: .%s", lock->name, bad);
    }
}

static void test_promises_go_together(void **state) {
    (void)state;
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        unsigned caps = lock->caps, claims = lock->claims;
        bool real = !(caps & (LB_CAP_CONTROL | LB_CAP_BASELINE));
        if (real != !!(claims & LB_CLAIM_EXCLUDES))
            fail_msg("%s: claims to exclude, or is a control or a baseline", lock->name);
        if (!real && claims) fail_msg("%s: what is broken on purpose claims something", lock->name);
        if ((caps & LB_CAP_CONTROL) && strncmp(lock->name, "unsafe-", 7) != 0)
            fail_msg("%s: a control is called unsafe-...", lock->name);
        if ((caps & LB_CAP_RENEW) && !(caps & LB_CAP_LEASE))
            fail_msg("%s: renews what has no lease", lock->name);
        /* A lease runs out while its holder is paused, and nobody can tell it. */
        if ((caps & LB_CAP_LEASE) && (claims & LB_CLAIM_SAFE_PAUSE))
            fail_msg("%s: a lease does not outlive a pause", lock->name);
        if (real && lock->backend->topologies && (caps & LB_CAP_LEASE) && !lock->backend->unavailable &&
            !lock->settle)
            fail_msg("%s: the end of its session frees nothing, and it has no settle", lock->name);
    }
}

static void test_backends_are_whole(void **state) {
    (void)state;
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        bool here = !backend->unavailable;
        const char *bad = !is_name(backend->name)                                ? "name"
                          : !is_line(backend->summary)                           ? "summary"
                          : backend->topologies && !backend->install               ? "install"
                          : backend->topologies && !backend->schemes               ? "schemes"
                          : !here && !backend->install                           ? "install"
                          : here && !backend->describe                           ? "describe"
                          : here && backend->topologies && !backend->ping          ? "ping"
                          : here && backend->connect && !backend->disconnect     ? "disconnect"
                          : here && !backend->options != !backend->options_bytes ? "options_bytes"
                                                                                 : NULL;
        if (bad) fail_msg("%s: .%s", backend->name, bad);
    }
}

static void check_options(const char *name, const struct lb_option *table, size_t bytes) {
    struct arena arena = {0};
    struct lb_err err = {0};
    if (!options_new(table, bytes, &arena, &err)) fail_msg("%s: %s", name, err.text);
    for (const struct lb_option *option = table; option && option->name; option++) {
        if (!is_line(option->help)) fail_msg("%s.%s: no help", name, option->name);
        if (options_find(table, option->name) != option) fail_msg("%s.%s: twice", name, option->name);
        if (option->offset >= bytes) fail_msg("%s.%s: lies beyond its struct", name, option->name);
    }
    arena_done(&arena);
}

static void test_options_have_defaults_and_help(void **state) {
    (void)state;
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        check_options(lock->name, lock->options, lock->options_bytes);
    }
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        check_options(backend->name, backend->options, backend->options_bytes);
    }
}

static void test_the_page_has_every_lock(void **state) {
    (void)state;
    char path[512];
    struct lb_err err = {0};
    static char page[64 * 1024];
    if (home_path("drivers/README.md", path, sizeof path, &err) != 0) fail_msg("%s", err.text);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("no %s", path);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    for (int i = 0; registry_locks()[i]; i++) {
        char row[80];
        snprintf(row, sizeof row, "\n| `%s` |", registry_locks()[i]->name);
        if (!strstr(page, row)) fail_msg("%s has no row in drivers/README.md", registry_locks()[i]->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_look_up),
        cmocka_unit_test(test_locks_are_whole),
        cmocka_unit_test(test_promises_go_together),
        cmocka_unit_test(test_backends_are_whole),
        cmocka_unit_test(test_options_have_defaults_and_help),
        cmocka_unit_test(test_the_page_has_every_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
