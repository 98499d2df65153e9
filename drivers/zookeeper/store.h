/* store: the guarded value beside a ZooKeeper lock; see drivers/store.h. */
#ifndef DRIVERS_ZOOKEEPER_STORE_H
#define DRIVERS_ZOOKEEPER_STORE_H

#include "drivers/store.h"
#include "drivers/zookeeper/calls.h"

extern const struct store_cas zk_store;

#endif
