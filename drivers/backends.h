/* backends: the tables of the backends. A backend's own table needs no client library, so that it
 * is listed where the library is missing; its connector is weak: NULL there. */
#ifndef DRIVERS_BACKENDS_H
#define DRIVERS_BACKENDS_H

#include "drivers/driver.h"

extern const struct lb_backend backend_etcd, backend_exec, backend_exec_null, backend_mariadb,
    backend_memory, backend_postgres, backend_redis, backend_sqlite, backend_zookeeper;
extern const struct lb_connector etcd_connector __attribute__((weak)),
    mariadb_connector __attribute__((weak)), postgres_connector __attribute__((weak)),
    redis_connector __attribute__((weak)), sqlite_connector __attribute__((weak)),
    zookeeper_connector __attribute__((weak));

lb_describe_fn built_in_describe; /* of a backend without a server or a library */

#endif
