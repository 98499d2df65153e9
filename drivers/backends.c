/* backends: the tables of the backends that need a client library. A build without the library leaves out the backend's
 * folder, and lists the backend with the package to install. */
#include "drivers/backends.h"

const struct lb_backend backend_redis = {
    .name = "redis",
    .summary =
        "Redis: one server, with replicas, under sentinels, a cluster, or several independent ones",
    .schemes =
        (const char *const[]){"redis", "redis+replicas", "redis+sentinel", "redis+cluster",
                              "redis+independents", "rediss", "rediss+replicas", "rediss+sentinel",
                              "rediss+cluster", "rediss+independents", NULL},
    .topologies =
        (const char *const[]){"redis", "redis-replicas", "redis-sentinel", "redis-cluster", NULL},
    .missing = "built without hiredis",
    .install = "libhiredis-dev redis-server",
    .connector = &redis_connector,
};

const struct lb_backend backend_zookeeper = {
    .name = "zookeeper",
    .summary = "ZooKeeper, one session a client or shared",
    .schemes = (const char *const[]){"zookeeper", "zk", "zookeepers", "zks", NULL},
    .topologies = (const char *const[]){"zookeeper", "zookeeper-3", NULL},
    .missing = "built without ZooKeeper's C client",
    .install = "libzookeeper-st-dev libzookeeper-java default-jre-headless",
    .connector = &zookeeper_connector,
};

const struct lb_backend backend_etcd = {
    .name = "etcd",
    .summary = "etcd v3, one server or a cluster (etcd://host1,host2,host3), one lease a client",
    .schemes = (const char *const[]){"etcd", "http", "etcds", "https", NULL},
    .topologies = (const char *const[]){"etcd", "etcd-3", NULL},
    .missing = "built without libcurl, protobuf-c and OpenSSL",
    .install = "libcurl4-openssl-dev libprotobuf-c-dev libssl-dev protobuf-c-compiler etcd-server",
    .connector = &etcd_connector,
};

const struct lb_backend backend_postgres = {
    .name = "postgres",
    .summary = "PostgreSQL by libpq: one server, behind PgBouncer, or a primary with standbys",
    .schemes = (const char *const[]){"postgres", "postgresql", NULL},
    .topologies =
        (const char *const[]){"postgres", "postgres-pgbouncer", "postgres-replicas", NULL},
    .missing = "built without libpq",
    .install = "libpq-dev postgresql",
    .connector = &postgres_connector,
};

const struct lb_backend backend_mariadb = {
    .name = "mariadb",
    .summary = "MariaDB or MySQL by libmariadb: one server, or a Galera cluster",
    .schemes = (const char *const[]){"mysql", "mariadb", "mysqls", "mariadbs", NULL},
    .topologies = (const char *const[]){"mariadb", "mariadb-galera", NULL},
    .missing = "built without libmariadb",
    .install = "libmariadb-dev mariadb-server",
    .connector = &mariadb_connector,
};

const struct lb_backend backend_sqlite = {
    .name = "sqlite",
    .summary = "SQLite in this process, a database file for each key",
    .durability_class = "none",
    .missing = "built without SQLite",
    .install = "libsqlite3-dev",
    .connector = &sqlite_connector,
};
