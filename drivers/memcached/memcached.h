/* memcached: the code that the lock and the guarded store share: one command and its answer, over
 * the meta protocol. */
#ifndef DRIVERS_MEMCACHED_MEMCACHED_H
#define DRIVERS_MEMCACHED_MEMCACHED_H

#include "drivers/driver.h"
#include "drivers/store.h"

#define MEMCACHED_KEY_MAX 250 /* the limit of the protocol */

extern const struct lb_backend backend_memcached;
extern const struct store_cas memcached_store;

/* Sends a command and waits for the first line of its answer. LB_OK, LB_UNKNOWN, LB_BROKEN. */
enum lb_outcome memcached_call(struct lb_session *session, const char *command, size_t len,
                               char **ret_line);

/* Fails the operation, because the server's line is no answer to the command. */
enum lb_outcome memcached_odd(struct lb_session *session, const char *line);

/* The number after flag in "HD c123"; 0 = there is none. */
uint64_t memcached_flag(const char *line, char flag);

/* Reads the value after the line "VA <length> ...". The value may be from another program, and have
 * any length and any bytes. Writes it to value, NUL-terminated, if *ret_len is less than size; else
 * value is "". LB_OK or LB_UNKNOWN. */
enum lb_outcome memcached_value(struct lb_session *session, const char *line, char *value,
                                size_t size, size_t *ret_len);

/* Removes what lockbench left on the server, as far as the names are known; see drivers/clean.h. */
lb_clean_fn memcached_clean;

#endif
