/* lock_life: see lock_life.h. */
#include "bench/tests/fuzz/lock_life.h"

#include "bench/option/option.h"
#include "drivers/clean.h"
#include "drivers/facts.h"

#define WAIT_NS (50 * LB_MS_NS) /* of an acquire that waits */

#define EXPECT(kept)                                                                               \
    do {                                                                                           \
        if (!(kept)) break_down(#kept, __LINE__);                                                  \
    } while (0)

static void break_down(const char *kept, int line) {
    fprintf(stderr, "lock_life.c:%d: not so: %s\n", line, kept);
    abort();
}

/* An outcome is one of those that exist, and a failure has its reason, which is text. */
static bool went_well(struct lb_session *session, enum lb_outcome outcome) {
    EXPECT(outcome >= LB_OK && outcome <= LB_BROKEN);
    bool reasoned = outcome == LB_UNKNOWN || outcome == LB_BROKEN || outcome == LB_REFUSED;
    EXPECT(!reasoned || session->err.text[0]);
    EXPECT(strnlen(session->err.text, sizeof session->err.text) < sizeof session->err.text);
    session->err = (struct lb_err){0};
    return outcome == LB_OK;
}

static void fine_or_reasoned(int failed, const struct lb_err *err) {
    EXPECT(failed == 0 || (failed == -1 && err->text[0]));
}

static bool remove_found(void *arg, const char *what, const char *name) {
    (void)arg;
    EXPECT(what && name);
    return true;
}

static void look_and_clean(struct lb_session *session) {
    const struct lb_connector *connector = session->server->backend->connector;
    static const enum lb_clean_scope scopes[] = {LB_CLEAN_LEFT, LB_CLEAN_SHARED, LB_CLEAN_EMPTY};
    struct lb_residue residue = {0};
    struct lb_err err = {0};
    fine_or_reasoned(session->lock->algorithm->residue(session, "lockbench-0-", &residue, &err),
                     &err);
    EXPECT(memchr(residue.example, '\0', sizeof residue.example));
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        struct lb_cleaning cleaning = {.scope = scopes[i], .before = "", .found = remove_found};
        err = (struct lb_err){0};
        session->err = (struct lb_err){0};
        fine_or_reasoned(connector->clean(session, &cleaning, &err), &err);
    }
}

static void use_lock(struct lb_session *session, struct lb_grant *grant) {
    const struct lb_algorithm *algorithm = session->lock->algorithm;
    struct lb_request request = {
        .key = "key", .key_len = 3, .key_number = 7, .lease_ns = LB_S_NS, .permits = 1, .bound = 2};
    struct lb_err err = {0};
    if (algorithm->setup) fine_or_reasoned(algorithm->setup(session, &err), &err);
    err = session->err = (struct lb_err){0};
    if (algorithm->arm) fine_or_reasoned(algorithm->arm(session, &request, &err), &err);
    session->err = (struct lb_err){0};
    for (int round = 0; round < 2; round++) {
        request.deadline_ns = round == 0 ? 0 : lb_now() + WAIT_NS;
        bool held = went_well(session, algorithm->acquire(session, &request, grant));
        if (held && algorithm->renew)
            went_well(session, algorithm->renew(session, &request, grant));
        if (held) went_well(session, algorithm->release(session, &request, grant));
    }
    if (algorithm->settle) went_well(session, algorithm->settle(session, &request, grant));
}

static void live(struct lb_session *session, struct lb_grant *grant) {
    const struct lb_connector *connector = session->server->backend->connector;
    struct lb_facts facts = {0};
    struct lb_err err = {0};
    int failed = connector->connect(session, lb_now() + 10 * LB_S_NS, &err);
    fine_or_reasoned(failed, &err);
    session->err = (struct lb_err){0};
    if (failed) return;
    fine_or_reasoned(connector->describe(session, &facts, &err), &err);
    session->err = (struct lb_err){0};
    went_well(session, connector->ping(session, lb_now() + LB_S_NS));
    use_lock(session, grant);
    look_and_clean(session);
}

static void *zeroed(size_t bytes) {
    void *memory = calloc(1, bytes + 1);
    EXPECT(memory != NULL);
    return memory;
}

void lock_life(const struct lb_lock *lock, const char *url) {
    const struct lb_connector *connector = lock->backend->connector;
    const struct lb_algorithm *algorithm = lock->algorithm;
    struct arena arena = {0};
    struct lb_err err = {0};
    struct lb_server server = {
        .backend = lock->backend,
        .urls = &url,
        .url_count = 1,
        .options = options_new(connector->options, connector->options_bytes, &arena, &err),
        .shared = zeroed(connector->shared_bytes),
        .state = zeroed(connector->server_bytes)};
    struct lb_session session = {
        .server = &server,
        .lock = lock,
        .options = options_new(algorithm->options, algorithm->options_bytes, &arena, &err),
        .lease_ns = LB_S_NS,
        .traffic_fd = -1,
        .state = zeroed(connector->session_bytes),
        .lock_state = zeroed(algorithm->session_bytes)};
    struct lb_grant grant = {.data = zeroed(algorithm->grant_bytes)};
    rng_seed(&session.rng, 1, 0);
    EXPECT(server.options && session.options && connector->open(&server, &err) == 0);
    live(&session, &grant);
    connector->disconnect(&session);
    connector->close(&server);
    arena_done(&arena);
    free(grant.data);
    free(session.state);
    free(session.lock_state);
    free(server.state);
    free(server.shared);
}
