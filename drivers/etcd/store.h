/* store: the guarded value beside an etcd lock; see drivers/store.h. */
#ifndef DRIVERS_ETCD_STORE_H
#define DRIVERS_ETCD_STORE_H

#include "drivers/etcd/session.h"
#include "drivers/store.h"

extern const struct store_cas etcd_store;

#endif
