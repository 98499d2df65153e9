/* store: what a ZooKeeper lock guards, kept beside it; see drivers/store.h. */
#ifndef DRIVERS_ZOOKEEPER_STORE_H
#define DRIVERS_ZOOKEEPER_STORE_H

#include "drivers/store.h"
#include "drivers/zookeeper/calls.h"

extern const struct store_cas zk_store;

#endif
