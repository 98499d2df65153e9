/* backend: what the backend is. Compiled also where its client library is missing, unlike the other
 * files of this folder, so that it is listed with what to install. */
#include "drivers/zookeeper/backend.h"

static const char *const zk_schemes[] = {"zookeeper", "zk", "zookeepers", "zks", NULL};

const struct lb_backend backend_zookeeper = {
    .name = "zookeeper",
    .summary = "ZooKeeper, one session a client or shared",
    .schemes = zk_schemes,
    .topologies = (const char *const[]){"zookeeper", "zookeeper-3", NULL},
    .expected = zk_expected,
    .missing = "built without ZooKeeper's C client",
    .install = "libzookeeper-st-dev libzookeeper-java default-jre-headless",
    .connector = &zookeeper_connector,
};
