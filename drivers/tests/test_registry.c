/* test_registry: every lock and backend of the list has a table that is whole and in order, and the
 * page that people read says what the tables say. */
#include <ctype.h>

#include "bench/base/home.h"
#include "bench/base/verdict.h"
#include "bench/cli/available.c"
#include "bench/tests/unit.h"
#include "bench/tools/list/cmd_list_views.c"
#include "drivers/registry.h"

#define CAPS_ALL 0x3ffffu
#define CLAIMS_ALL 0xfu

static bool is_name(const char *text) {
    if (!text || !islower((unsigned char)text[0])) return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(text);
}

static bool is_line(const char *text) {
    return text && text[0] && !strchr(text, '\n') && text[strlen(text) - 1] != '.';
}

TEST(test_look_up) {
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
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(registry_backends()[i], registry_backends()[j]);
    }
}

/* A word of verdict.h, or none. */
static bool is_class(const char *text) {
    return !text || durability_from(text) != DURABILITY_UNKNOWN;
}

/* A backend with servers leaves its durability to the script of the topology; one without states
 * it. */
TEST(test_backends_state_their_durability) {
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        bool stated = backend->durability_class && is_class(backend->durability_class);
        if (stated != !backend->topologies) fail_msg("%s: .durability_class", backend->name);
    }
}

TEST(test_locks_are_whole) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (registry_fault(lock)) fail_msg("%s %s", lock->name, registry_fault(lock));
        const char *bad = !is_name(lock->name)                ? "name"
                          : !is_line(lock->summary)           ? "summary"
                          : (lock->caps & ~CAPS_ALL)          ? "caps"
                          : !is_class(lock->durability_class) ? "durability_class"
                          : (lock->claims & ~CLAIMS_ALL)      ? "claims"
                                                              : NULL;
        if (bad) fail_msg("%s: .%s", lock->name, bad);
    }
}

/* What is missing is named. */
TEST(test_a_table_that_is_not_whole_is_told) {
    const struct lb_lock *null_lock = registry_lock("null");
    struct lb_algorithm algorithm = *null_lock->algorithm;
    struct lb_lock lock = *null_lock;
    lock.algorithm = &algorithm;
    assert_null(registry_fault(&lock));
    lock.caps |= LB_CAP_RENEW | LB_CAP_LEASE;
    algorithm.renew = NULL;
    assert_string_equal(registry_fault(&lock),
                        "is not whole: its table has LB_CAP_RENEW, but no .renew");
    algorithm.release = NULL;
    assert_string_equal(registry_fault(&lock), "is not whole: its table has no .release");
    lock.algorithm = NULL;
    assert_string_equal(registry_fault(&lock), "is not whole: its table has no .algorithm");
}

TEST(test_promises_go_together) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lb_unavailable(lock->backend)) continue;
        unsigned caps = lock->caps, claims = lock->claims;
        bool real = !(caps & (LB_CAP_CONTROL | LB_CAP_BASELINE));
        if (real != !!(claims & LB_CLAIM_EXCLUDES))
            fail_msg("%s: claims to exclude, or is a control or a baseline", lock->name);
        if (!real && claims) fail_msg("%s: what is broken on purpose claims something", lock->name);
        if ((caps & LB_CAP_CONTROL) && strncmp(lock->name, "unsafe-", 7) != 0)
            fail_msg("%s: a control is called unsafe-...", lock->name);
        /* A lease ends while its holder is paused, and a paused holder can't be told. */
        if ((caps & LB_CAP_LEASE) && (claims & LB_CLAIM_SAFE_PAUSE))
            fail_msg("%s: a lease does not outlive a pause", lock->name);
        if (real && lock->backend->topologies && (caps & LB_CAP_LEASE) &&
            !lb_unavailable(lock->backend) && !lock->algorithm->settle)
            fail_msg("%s: the end of its session frees nothing, and it has no settle", lock->name);
    }
}

TEST(test_backends_are_whole) {
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        bool here = !lb_unavailable(backend);
        const char *bad = !is_name(backend->name)                    ? "name"
                          : !is_line(backend->summary)               ? "summary"
                          : backend->topologies && !backend->install ? "install"
                          : backend->topologies && !backend->schemes ? "schemes"
                          : !here && !backend->install               ? "install"
                                                                     : NULL;
        if (bad) fail_msg("%s: .%s", backend->name, bad);
    }
}

static bool has_scheme(const struct lb_backend *backend, const char *url) {
    for (const char *const *scheme = backend->schemes; *scheme; scheme++) {
        size_t len = strlen(*scheme);
        if (strncmp(url, *scheme, len) == 0 && strncmp(url + len, "://", 3) == 0) return true;
    }
    return !*url;
}

/* What lockbench starts itself can be given to it by --url, as capacity does. */
TEST(test_urls_of_own_servers_have_schemes_of_the_backend) {
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        const char *const *name = backend->topologies;
        for (; name && *name; name++) {
            struct topo_info info;
            struct lb_err err = {0};
            if (topo_info("compose/local", *name, &info, &err) != 0) fail_msg("%s", err.text);
            if (!has_scheme(backend, info.url) || !has_scheme(backend, info.url_tls))
                fail_msg("%s: .schemes has not those of %s", backend->name, *name);
        }
    }
}

/* The facts that each lock's table must have for people. */
TEST(test_facts_are_there) {
    int count = 0;
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lb_unavailable(lock->backend)) continue;
        const struct lb_about *about = &lock->about;
        bool control = lock->caps & LB_CAP_CONTROL, server = lock->backend->topologies != NULL;
        bool none = control || (lock->caps & LB_CAP_BASELINE),
             here = !lb_unavailable(lock->backend);
        const char *bad =
            !about->order                              ? "order"
            : !none && !about->hazards                 ? "hazards"
            : !control && server && !about->compatible ? "compatible"
            : server && (about->acquire_requests < 1 || about->release_requests < 0)
                ? "acquire_requests"
            : !(lock->caps & LB_CAP_FENCE) != !about->token && lock->primitive != LB_OPTIMISTIC
                ? "token"
            : control != !!about->mistake                   ? "mistake"
            : !control && about->exposed_by                 ? "exposed_by"
            : none != (about->guarantee == LB_NO_GUARANTEE) ? "guarantee"
            : server && about->guarantee == LB_ON_ONE_HOST  ? "guarantee"
            : server && here && !lock->algorithm->residue   ? "residue"
            : (lock->claims & LB_CLAIM_CRASH_RELEASE) && about->crash == LB_CRASH_NEVER ? "crash"
                                                                                        : NULL;
        if (bad) print_error("%s: .%s\n", lock->name, bad);
        count += bad != NULL;
    }
    if (count) fail_msg("%d locks do not say what people are told of them", count);
}

/* A control is brought in by the workload that its table names. */
TEST(test_controls_name_a_workload) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        char path[512], name[128];
        struct lb_err err = {0};
        if (!lock->about.exposed_by) continue;
        snprintf(name, sizeof name, "workloads/%s.ini", lock->about.exposed_by);
        if (home_path(name, path, sizeof path, &err) != 0) fail_msg("%s: %s", lock->name, err.text);
        FILE *file = fopen(path, "r");
        if (!file) fail_msg("%s: .about.exposed_by: no %s", lock->name, name);
        fclose(file);
    }
}

TEST(test_the_page_of_locks_is_current) {
    char path[512], *made = NULL;
    size_t size = 0;
    struct lb_err err = {0};
    static char page[256 * 1024];
    if (home_path("drivers/LOCKS.md", path, sizeof path, &err) != 0) fail_msg("%s", err.text);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("no %s: run `make table`", path);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    struct doc doc = {0};
    FILE *out = open_memstream(&made, &size);
    list_page(&doc);
    assert_int_equal(doc_write_and_free(&doc, DOC_MARKDOWN, false, out, &err), 0);
    fclose(out);
    const char *at = strstr(page, "\n\n") + 2; /* behind the title */
    for (const char *line = made; *line; line += strcspn(line, "\n") + 1) {
        int length = (int)strcspn(line, "\n") + 1;
        if (strncmp(at, line, (size_t)length) != 0)
            fail_msg(
                "drivers/LOCKS.md is not current: run `make table`. First line that differs: %.*s",
                length - 1, line);
        at += length;
    }
    if (*at) fail_msg("drivers/LOCKS.md says more than the tables: run `make table`");
    free(made);
}

TEST_MAIN(NULL, NULL)
