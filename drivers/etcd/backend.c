/* backend: the description of the backend. Unlike the other files of this folder it is compiled
 * even if the client library is missing, so that the backend is listed, with the package to
 * install. */
#include "drivers/backends.h"

static const char *const etcd_schemes[] = {"etcd", "http", "etcds", "https", NULL};

const struct lb_backend backend_etcd = {
    .name = "etcd",
    .summary = "etcd v3, one server or a cluster (etcd://host1,host2,host3), one lease a client",
    .schemes = etcd_schemes,
    .topologies = (const char *const[]){"etcd", "etcd-3", NULL},
    .missing = "built without libcurl, protobuf-c and OpenSSL",
    .install = "libcurl4-openssl-dev libprotobuf-c-dev libssl-dev protobuf-c-compiler etcd-server",
    .connector = &etcd_connector,
};
