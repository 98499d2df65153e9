/* backend: the description of the backend. Unlike the other files of this folder it is compiled
 * even if the client library is missing, so that the backend is listed, with the package to
 * install. */
#include "drivers/backends.h"

static const char *const zk_schemes[] = {"zookeeper", "zk", "zookeepers", "zks", NULL};

const struct lb_backend backend_zookeeper = {
    .name = "zookeeper",
    .summary = "ZooKeeper, one session a client or shared",
    .schemes = zk_schemes,
    .topologies = (const char *const[]){"zookeeper", "zookeeper-3", NULL},
    .missing = "built without ZooKeeper's C client",
    .install = "libzookeeper-st-dev libzookeeper-java default-jre-headless",
    .connector = &zookeeper_connector,
};
