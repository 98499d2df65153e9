/* fake_session: one session of a lock with a fake peer in the server's place, to test how the
 * driver handles answers that no real server gives on demand. Header only, for test programs. */
#ifndef DRIVERS_TESTS_FAKE_SESSION_H
#define DRIVERS_TESTS_FAKE_SESSION_H

#include "bench/conform/conform_place.h"
#include "bench/engine/loop.h"
#include "bench/tests/unit.h"

#define FAKE_EARLIER 1000 /* commands of the connections before: connect may add to them */

/* The calls to make, and their results. Assertions look at the results outside of the fiber,
 * because cmocka must not jump out of one. */
struct fake_session {
    const struct lb_lock *lock;
    const char *key;
    const char *const *sets;   /* options, NULL at the end; NULL = none */
    int64_t wait_ns, lease_ns; /* wait 0 = try */
    bool release, renew;       /* after an acquire that was granted */
    int64_t hold_ns;           /* between acquire and release */
    bool settle;               /* calls settle instead of acquire */
    bool settle_after;         /* after an acquire whose outcome is unknown */
    bool setup;                /* the lock's setup belongs to connect */
    int64_t connect_ns;        /* it may take; 0 = 20 s */
    int64_t cut_off_ns;        /* so long after acquire begins the run is cut off; 0 = never */
    _Atomic int64_t cutoff_at_ns;
    int connected;
    struct lb_err err; /* of connect, or of the last call that did not return LB_OK */
    enum lb_outcome acquired, released, renewed, settled;
    struct lb_grant grant;
    int64_t renew_sent_ns;
    uint64_t commands; /* since the session stood */
    char url[128];
};

static inline void fake_talk(void *arg) {
    struct fake_session *fake = arg;
    const struct lb_backend *backend = fake->lock->backend;
    struct arena arena = {0};
    struct plan_lock planned;
    const char *urls[] = {fake->url};
    struct lb_server server = {.backend = backend, .urls = urls, .url_count = 1};
    struct lb_session session = {
        .server = &server, .lock = fake->lock, .traffic_fd = -1, .commands = FAKE_EARLIER};
    struct lb_request request = {
        .key = fake->key, .key_len = strlen(fake->key), .lease_ns = fake->lease_ns};
    if (conform_lock(fake->lock, fake->sets, &arena, &planned, &fake->err) != 0) abort();
    server.options = planned.backend_options;
    server.state = calloc(1, backend->connector->server_bytes + 1);
    session.options = planned.options;
    session.lease_ns = fake->lease_ns;
    session.state = calloc(1, backend->connector->session_bytes + 1);
    session.lock_state = calloc(1, fake->lock->algorithm->session_bytes + 1);
    fake->grant.data = calloc(1, fake->lock->algorithm->grant_bytes + 1);
    rng_seed(&session.rng, 1, 1);
    fake->acquired = fake->released = fake->renewed = fake->settled = LB_OUTCOMES;
    fake->connected = backend->connector->open ? backend->connector->open(&server, &fake->err) : 0;
    if (fake->connected == 0)
        fake->connected = backend->connector->connect(
            &session, lb_now() + (fake->connect_ns ? fake->connect_ns : 20 * LB_S_NS), &fake->err);
    if (fake->connected == 0 && fake->setup)
        fake->connected = fake->lock->algorithm->setup(&session, &fake->err);
    fake->commands = session.commands;
    if (fake->connected == 0 && session.commands < FAKE_EARLIER)
        fake->connected = err_set(&fake->err, LB_EXIT_MACHINE, "connect lost count of commands");
    if (fake->connected == 0 && fake->settle) {
        fake->settled = fake->lock->algorithm->settle(&session, &request, &fake->grant);
    } else if (fake->connected == 0) {
        if (fake->cut_off_ns) atomic_store(&fake->cutoff_at_ns, lb_now() + fake->cut_off_ns);
        request.deadline_ns = fake->wait_ns ? lb_now() + fake->wait_ns : 0;
        fake->acquired = fake->lock->algorithm->acquire(&session, &request, &fake->grant);
        fake->renew_sent_ns = lb_now();
        if (fake->acquired == LB_OK && fake->renew)
            fake->renewed = fake->lock->algorithm->renew(&session, &request, &fake->grant);
        if (fake->acquired == LB_OK && fake->hold_ns > 0) lb_sleep_until(lb_now() + fake->hold_ns);
        if (fake->acquired == LB_OK && fake->release)
            fake->released = fake->lock->algorithm->release(&session, &request, &fake->grant);
        if (fake->acquired == LB_UNKNOWN && fake->settle_after)
            fake->settled = fake->lock->algorithm->settle(&session, &request, &fake->grant);
    }
    if (fake->connected == 0 && session.err.code) fake->err = session.err;
    fake->commands = session.commands - fake->commands;
    backend->connector->disconnect(&session);
    if (backend->connector->close) backend->connector->close(&server);
    free(server.state);
    free(session.state);
    free(session.lock_state);
    free(fake->grant.data);
    fake->grant.data = NULL;
    arena_done(&arena);
}

static inline void fake_run(struct fake_session *fake) {
    struct lb_err err = {0};
    atomic_store(&fake->cutoff_at_ns, LB_NEVER);
    struct loop *loop = loop_new(&(struct loop_config){.cutoff_ns = &fake->cutoff_at_ns}, &err);
    if (!loop) fail_msg("%s", err.text);
    assert_non_null(loop_start_fiber(loop, "fake", fake_talk, fake));
    loop_run(loop);
    loop_free(loop);
}

#endif
