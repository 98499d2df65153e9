/* backend: the description of the backend. Unlike the other files of this folder it is compiled
 * even if the client library is missing, so that the backend is listed, with the package to
 * install. */
#include "drivers/backends.h"

static const char *const redis_schemes[] = {
    "redis",  "redis+replicas",  "redis+sentinel",  "redis+cluster",  "redis+independents",
    "rediss", "rediss+replicas", "rediss+sentinel", "rediss+cluster", "rediss+independents",
    NULL};

const struct lb_backend backend_redis = {
    .name = "redis",
    .summary =
        "Redis: one server, with replicas, under sentinels, a cluster, or several independent ones",
    .schemes = redis_schemes,
    .topologies =
        (const char *const[]){"redis", "redis-replicas", "redis-sentinel", "redis-cluster", NULL},
    .missing = "built without hiredis",
    .install = "libhiredis-dev redis-server",
    .connector = &redis_connector,
};
