/* sql_store: the functions of a guarded store that SQL databases share; the statements are in the
 * recipe. */
#ifndef DRIVERS_SQL_STORE_H
#define DRIVERS_SQL_STORE_H

#include "drivers/sql_lock.h"
#include "drivers/store.h"

lb_store_install_fn sql_store_install;
lb_store_write_fn sql_store_write;
lb_store_read_fn sql_store_read;
lb_store_order_fn sql_store_order;
lb_store_tally_fn sql_store_tally;
lb_arm_fn sql_store_drop;

/* The members of a struct lb_store without .setup. The first macro is for a guarded value beside the lock; the second
 * one is for a store in the lock's transaction, with the orders of a sale. */
#define SQL_STORE_MEMBERS                                                                          \
    .install = sql_store_install, .write = sql_store_write, .read = sql_store_read,                \
    .drop = sql_store_drop
#define SQL_SALE_MEMBERS                                                                           \
    SQL_STORE_MEMBERS, .with_release = true, .order = sql_store_order, .tally = sql_store_tally

#endif
