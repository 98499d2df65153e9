/* available: whether a backend's locks can run on this machine: its client library is built in, and
 * its servers can be started here or are given by URL. It starts nothing; it asks each topology's
 * script once.
 *
 * One thread. The answers live as long as the struct. */
#ifndef BENCH_CLI_AVAILABLE_H
#define BENCH_CLI_AVAILABLE_H

#include <limits.h>

#include "bench/base/err.h"
#include "bench/servers/topo.h"
#include "drivers/driver.h"

struct available_topology;
struct plan;

struct available {
    char folder[PATH_MAX];           /* compose/local */
    struct available_topology *item; /* the topologies that were asked */
    int count;
    /* of each backend, in the registry's order; NULL = lockbench starts its servers */
    const char **url;
};

/* 0, or -1 with err. */
int available_init(struct available *available, struct lb_err *err);
void available_done(struct available *available);

/* The backend's server runs already (--url, borrowed): no script is needed. */
void available_url(struct available *available, const struct lb_backend *backend, const char *url);

/* Returns why a backend can't run here on a topology of its locks (NULL = its default) with the
 * servers that the plan asks for (NULL = those of the script), or NULL if it can. ret_install: what
 * to install, or NULL when that would not help. */
const char *available_why_not(struct available *available, const struct lb_backend *backend,
                              const char *topology, const struct plan *plan,
                              const char **ret_install);

/* The same for a lock on its default topology. */
const char *available_lock(struct available *available, const struct lb_lock *lock,
                           const char **ret_install);

/* The statements of a topology's script about itself; NULL when there is no such script. topology:
 * a name from some lock's table. */
const struct topo_info *available_info(struct available *available, const char *topology);

/* For struct plan_ask; context is the struct available. A lock that needs a special kind of
 * servers can't run on a URL of another kind. */
const char *available_for_plan(void *context, const struct lb_lock *lock, const char *topology,
                               const struct plan *plan, const char **ret_install);

/* For struct matrix_ask: returns why the plan's faults can't act on the server of the lock's
 * backend; NULL = they can, or lockbench starts that server. */
const char *available_reach(void *context, const struct plan *plan, const struct lb_lock *lock,
                            char *text, size_t size);

/* For struct matrix_ask: the weight that the topology's script states, 1 if there is no such
 * script. context is the struct available. */
int available_weight(void *context, const char *topology);

#endif
