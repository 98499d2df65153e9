/* live_help: what the live tests of the drivers share: a real server of our own, and our clients.
 * Header only, since each test is one program.
 *
 * Clients talk on a fiber, where cmocka must not jump away: there CHECK notes the first failure,
 * and the test fails after the fibers are done. */
#ifndef DRIVERS_TESTS_LIVE_HELP_H
#define DRIVERS_TESTS_LIVE_HELP_H

#include <signal.h>
#include <sys/wait.h>

#include "bench/base/home.h"
#include "bench/engine/loop.h"
#include "bench/place/place.h"
#include "bench/tests/servers_help.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"
#include "drivers/wait.h"

static char check_failed[1200];

__attribute__((format(printf, 4, 5))) static inline void
check_note(const char *file, int line, const char *what, const char *format, ...) {
    if (check_failed[0]) return;
    int len = snprintf(check_failed, sizeof check_failed / 2, "%s:%d: %s", file, line, what);
    va_list args;
    va_start(args, format);
    vsnprintf(check_failed + len, sizeof check_failed - (size_t)len, format, args);
    va_end(args);
}

#define CHECK(what, ...)                                                                           \
    do {                                                                                           \
        if (!(what)) check_note(__FILE__, __LINE__, #what, ": " __VA_ARGS__);                      \
    } while (0)

static volatile sig_atomic_t live_no_interrupts;

/* A lock's server, started. */
struct live_place {
    struct plan *plan;
    struct place *place;
    const char *missing; /* why there is none, or NULL */
};

static inline const char *live_missing(const char *name) {
    static char why[400];
    char first[64];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(name, ","), name);
    const struct lb_lock *lock = registry_lock(first);
    const struct lb_backend *backend = lock->backend;
    if (lb_unavailable(backend)) return lb_unavailable(backend);
    if (!backend->topologies) return NULL;
    struct topo_info info;
    struct lb_err err = {0};
    char folder[512];
    if (home_path("compose/local", folder, sizeof folder, &err) != 0 ||
        topo_info(folder, lb_topologies(lock)[0], &info, &err) != 0) {
        return "no topology script";
    }
    if (!info.missing[0]) return NULL;
    snprintf(why, sizeof why, "missing here: %s", info.missing);
    return why;
}

/* Starts a topology for a lock (or for the first of "a,b"), with these settings
 * ("backend.option=value", ended by NULL; NULL: none); topology NULL: the lock's first. */
static inline struct live_place live_open_at(const char *topology, const char *lock,
                                             const char *const *sets) {
    static char topologies[512];
    struct live_place live = {.missing = live_missing(lock)};
    struct lb_err err = {0};
    char workloads[512];
    int count = 0;
    if (live.missing) return live;
    while (sets && sets[count]) count++;
    assert_int_equal(home_path("workloads", workloads, sizeof workloads, &err), 0);
    assert_int_equal(home_path("compose/local", topologies, sizeof topologies, &err), 0);
    live.plan = plan_load(&(struct plan_ask){.workload = "smoke",
                                             .folder = workloads,
                                             .locks = lock,
                                             .sets = sets,
                                             .set_count = count},
                          &err);
    if (!live.plan) fail_msg("%s", err.text);
    live.place = place_open(&(struct place_ask){.lock = &live.plan->locks[0],
                                                .topologies = topologies,
                                                .topology = topology,
                                                .durability = "default",
                                                .program = live.plan->program,
                                                .tls = live.plan->tls == PLAN_TLS_YES,
                                                .interrupts = &live_no_interrupts},
                            &err);
    if (!live.place) fail_msg("%s", err.text);
    topo_login(live.place->topo);
    return live;
}

static inline struct live_place live_open(const char *lock, const char *const *sets) {
    return live_open_at(NULL, lock, sets);
}

static inline void live_close(struct live_place *live) {
    place_close(live->place);
    plan_free(live->plan);
    memset(live, 0, sizeof *live);
}

/* For a test of a place that may be missing: skips, or fails in CI. */
#define LIVE_NEEDS(live)                                                                           \
    do {                                                                                           \
        if ((live)->missing) skip_for("%s", (live)->missing);                                      \
    } while (0)

/* One client of ours. */
struct live_client {
    struct lb_session session;
    struct lb_request request;
    struct lb_grant grant;
    size_t state_bytes, lock_bytes;
};

/* Prepares a client of the which-th lock of the place's plan, which may name several locks of the
 * backend. */
static inline void live_client_init_as(struct live_client *client, const struct live_place *live,
                                       int which, const char *key) {
    const struct lb_lock *lock = live->plan->locks[which].lock;
    memset(client, 0, sizeof *client);
    client->state_bytes = lock->backend->connector->session_bytes;
    client->lock_bytes = lock->algorithm->session_bytes;
    client->session = (struct lb_session){.server = &live->place->server,
                                          .lock = lock,
                                          .options = live->plan->locks[which].options,
                                          .lease_ns = 10 * LB_S_NS,
                                          .traffic_fd = -1,
                                          .state = calloc(1, client->state_bytes + 1),
                                          .lock_state = calloc(1, client->lock_bytes + 1)};
    client->grant.data = calloc(1, lock->algorithm->grant_bytes + 1);
    rng_seed(&client->session.rng, (uint64_t)lb_now(), 0);
    client->request = (struct lb_request){
        .key = key, .key_len = strlen(key), .key_number = 4711, .lease_ns = 10 * LB_S_NS};
}

static inline void live_client_init(struct live_client *client, const struct live_place *live,
                                    const char *key) {
    live_client_init_as(client, live, 0, key);
}

/* Ends the session; it may be opened again. */
static inline void live_hang_up(struct live_client *client) {
    client->session.server->backend->connector->disconnect(&client->session);
    memset(client->session.state, 0, client->state_bytes);
    memset(client->session.lock_state, 0, client->lock_bytes);
    client->session.err.code = 0;
}

static inline void live_client_done(struct live_client *client) {
    live_hang_up(client);
    free(client->session.state);
    free(client->session.lock_state);
    free(client->grant.data);
}

static inline int live_dial(struct live_client *client, struct lb_err *err) {
    return client->session.server->backend->connector->connect(&client->session,
                                                               lb_now() + 10 * LB_S_NS, err);
}

/* Opens a session and checks that it did. */
static inline void live_connect(struct live_client *client) {
    struct lb_err err = {0};
    CHECK(live_dial(client, &err) == 0, "%s", err.text);
}

/* A new client with a session. */
static inline void live_come_as(struct live_client *client, const struct live_place *live,
                                int which, const char *key) {
    live_client_init_as(client, live, which, key);
    live_connect(client);
}

static inline void live_come(struct live_client *client, const struct live_place *live,
                             const char *key) {
    live_come_as(client, live, 0, key);
}

/* Acquires with a deadline so long after now; LB_NEVER waits, 0 asks once. */
static inline enum lb_outcome live_acquire(struct live_client *client, int64_t wait_ns) {
    client->session.err.code = 0;
    client->request.deadline_ns = wait_ns == LB_NEVER ? LB_NEVER
                                  : wait_ns == 0      ? 0
                                                      : lb_now() + wait_ns;
    return client->session.lock->algorithm->acquire(&client->session, &client->request,
                                                    &client->grant);
}

static inline enum lb_outcome live_release(struct live_client *client) {
    client->session.err.code = 0;
    return client->session.lock->algorithm->release(&client->session, &client->request,
                                                    &client->grant);
}

/* Runs a test's body on a fiber. */
static inline void live_run(void (*body)(void *), void *arg) {
    struct lb_err err = {0};
    check_failed[0] = '\0';
    assert_int_equal(loop_once("test", body, arg, &err), 0);
    if (check_failed[0]) fail_msg("%s", check_failed);
}

/* LIVE(live, name) { ... }: a test whose body runs on a fiber, with a place that must be there
 * (NULL: none), which is its argument `arg`. */
struct live_test {
    struct live_place *live;
    void (*body)(void *live);
};

static inline void live_test(void **state) {
    const struct live_test *test = *state;
    if (test->live) LIVE_NEEDS(test->live);
    live_run(test->body, test->live);
}

#define LIVE(live, body)                                                                           \
    static void body(void *arg);                                                                   \
    __attribute__((constructor)) static void register_##body(void) {                               \
        static struct live_test test = {live, body};                                               \
        unit_tests[unit_test_count++] = (struct CMUnitTest){#body, live_test, NULL, NULL, &test};  \
    }                                                                                              \
    static void body(void *arg __attribute__((unused)))

/* The end of a program whose tests share a place: like live_open_at, with the settings and NULL at the end. */
#define LIVE_MAIN(live, topology, lock, ...)                                                       \
    FIXTURE(live_start) {                                                                          \
        (live) = live_open_at(topology, lock, (const char *const[]){__VA_ARGS__});                 \
        return 0;                                                                                  \
    }                                                                                              \
    FIXTURE(live_stop) {                                                                           \
        live_close(&(live));                                                                       \
        return 0;                                                                                  \
    }                                                                                              \
    TEST_MAIN(live_start, live_stop)

#endif
