/* store: a guarded value in the lock's own backend: for each key one value, and beside it the
 * greatest fencing token so far. It is no part of any real client: it is the resource that such a
 * client would write to, if that resource checked the lock's tokens.
 *
 * A holder installs its token before it reads; a holder with a smaller token can neither read nor
 * write after that. Each step is one atomic operation of the server and goes through the client's
 * own session, so that faults of its connection affect its writes too. For locks with LB_CAP_FENCE. */
#ifndef DRIVERS_STORE_H
#define DRIVERS_STORE_H

#include "drivers/driver.h"

/* Only key, key_len and key_index of the request matter. LB_OK; LB_LOST: a greater token is there, and
 * nothing was done; LB_UNKNOWN, LB_BROKEN, LB_REFUSED as elsewhere, with
 * session->err.
 * Out-parameters are written only with LB_OK. */
typedef enum lb_outcome lb_store_install_fn(struct lb_session *session,
                                            const struct lb_request *request, uint64_t token,
                                            uint64_t *ret_value);
typedef enum lb_outcome lb_store_write_fn(struct lb_session *session,
                                          const struct lb_request *request, uint64_t token,
                                          uint64_t value);
/* Reads the value without a token; 0 where there is none. */
typedef enum lb_outcome lb_store_read_fn(struct lb_session *session,
                                         const struct lb_request *request, uint64_t *ret_value);

struct lb_store {
    lb_setup_fn *setup; /* as the setup of a lock; may be NULL */
    lb_store_install_fn *install;
    lb_store_write_fn *write;
    lb_store_read_fn *read;
    lb_arm_fn *drop; /* removes the key's value; it is no error if there is none */
};

#endif
