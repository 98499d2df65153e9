/* store: what a lock guards, kept in the lock's own backend: a value a key, beside it the greatest
 * fencing token that was seen. Not part of any real client: it is the resource that such a client
 * would write to, if that were told of the lock's tokens.
 *
 * A holder installs its token before it reads; who has a smaller one than is there can neither read
 * nor write any more. Each step is one atomic operation of the server, and goes through the
 * client's own session, so that what befalls its wire befalls its writes. A lock without
 * LB_CAP_FENCE passes token 0, which never refuses anything. Only for locks whose calls are no part
 * of a transaction that the lock itself has open: what that wrote would end with it. */
#ifndef DRIVERS_STORE_H
#define DRIVERS_STORE_H

#include "drivers/driver.h"

/* Of the request, key, key_len and key_index count. LB_OK; LB_LOST: a greater token is there, and
 * nothing was done; LB_UNKNOWN, LB_BROKEN, LB_REFUSED as elsewhere, with session->err.
 * Out-parameters only with LB_OK. */
typedef enum lb_outcome lb_store_install_fn(struct lb_session *session,
                                            const struct lb_request *request, uint64_t token,
                                            uint64_t *ret_value);
typedef enum lb_outcome lb_store_write_fn(struct lb_session *session,
                                          const struct lb_request *request, uint64_t token,
                                          uint64_t value);
/* Without a token; 0 where there is nothing. */
typedef enum lb_outcome lb_store_read_fn(struct lb_session *session,
                                         const struct lb_request *request, uint64_t *ret_value);

struct lb_store {
    lb_setup_fn *setup; /* as a lock's; may be NULL */
    lb_store_install_fn *install;
    lb_store_write_fn *write;
    lb_store_read_fn *read;
    lb_arm_fn *drop; /* takes the key's value away; nothing there is no error */
};

/* ---- where the server has no scripts, but writes on condition that nobody has written since
 * (store_cas.c) */

struct store_entry {
    uint64_t token, value;
    uint64_t version; /* of the server's; 0 = there is nothing */
};

/* lock->store may be the first member of one of these; its functions are then the ones below. */
struct store_cas {
    struct lb_store store;
    /* LB_OK, also where there is nothing. */
    enum lb_outcome (*get)(struct lb_session *session, const struct lb_request *request,
                           struct store_entry *ret_entry);
    /* Writes token and value if the version is still the entry's. LB_BUSY: it is not. */
    enum lb_outcome (*put)(struct lb_session *session, const struct lb_request *request,
                           const struct store_entry *entry);
};

lb_store_install_fn store_cas_install;
lb_store_write_fn store_cas_write;
lb_store_read_fn store_cas_read;

#define STORE_TEXT_MAX 48
/* An entry as "token value", for servers that keep text; its length. */
int store_text(const struct store_entry *entry, char text[STORE_TEXT_MAX]);
/* The other way round: token and value only. False if it is no such text. */
bool store_parse(const char *text, size_t len, struct store_entry *entry);

#endif
