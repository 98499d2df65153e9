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

#endif
