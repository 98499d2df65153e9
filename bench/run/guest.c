/* guest: see guest.h. */
#include "bench/run/guest.h"

#include <stdlib.h>

#include "bench/engine/loop.h"

#define OPEN_NS (10 * LB_S_NS) /* for a session */

struct visit {
    struct lb_server *server;
    const struct lb_lock *lock;
    struct lb_cleaning *cleaning;
    int failed;
    struct lb_err err;
};

static void clean_server(void *arg) {
    struct visit *visit = arg;
    const struct lb_connector *connector = visit->server->backend->connector;
    struct lb_session session = {.server = visit->server,
                                 .lock = visit->lock,
                                 .lease_ns = 10 * LB_S_NS,
                                 .traffic_fd = -1,
                                 .state = calloc(1, connector->session_bytes + 1)};
    visit->failed = session.state ? 0 : err_set(&visit->err, LB_EXIT_MACHINE, "out of memory");
    rng_seed(&session.rng, (uint64_t)lb_now(), 0);
    if (!visit->failed && connector->connect)
        visit->failed = connector->connect(&session, lb_now() + OPEN_NS, &visit->err);
    if (!visit->failed) visit->failed = connector->clean(&session, visit->cleaning, &visit->err);
    if (session.state && connector->disconnect) connector->disconnect(&session);
    free(session.state);
}

int guest_clean(const struct place_url *at, struct lb_cleaning *cleaning, struct lb_err *err) {
    /* A lock without functions, for which a session prepares nothing. */
    const struct lb_algorithm nothing = {.session_bytes = 0};
    const struct lb_lock nobody = {
        .name = at->backend->name, .backend = at->backend, .algorithm = &nothing};
    struct plan_lock lock = {.lock = &nobody};
    struct arena arena = {0};
    struct place *place = NULL;
    int failed = -1;
    const struct lb_option *options = lb_backend_options(at->backend);
    if (lb_unavailable(at->backend)) {
        err_set(err, LB_EXIT_MACHINE, "%s: %s (install: %s)", at->backend->name,
                lb_unavailable(at->backend), at->backend->install);
        goto out;
    }
    lock.backend_options = options_new(options, at->backend->connector->options_bytes, &arena, err);
    if (!lock.backend_options) goto out;
    place = place_open(&(struct place_ask){.lock = &lock, .url = at->url}, err);
    if (!place) goto out;
    failed = 0;
    if (!at->backend->connector->clean) goto out;
    struct visit visit = {.server = &place->server, .lock = &nobody, .cleaning = cleaning};
    failed = loop_once("clean", clean_server, &visit, err);
    if (!failed && visit.failed) failed = err_set(err, visit.err.code, "%s", visit.err.text);
out:
    place_close(place);
    arena_done(&arena);
    return failed;
}
