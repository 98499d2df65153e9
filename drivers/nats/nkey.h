/* nkey: authenticates a client of NATS by an Ed25519 key: a seed file ("SU..."), or a .creds file
 * with a JWT and a seed. The formats are those of github.com/nats-io/nkeys and of NATS's
 * documentation on credentials files.
 *
 * It makes no keys, and shows no seed in any message. */
#ifndef DRIVERS_NATS_NKEY_H
#define DRIVERS_NATS_NKEY_H

#include <stdbool.h>

#include "bench/base/err.h"

#define NKEY_SIGNATURE_BYTES 96 /* in base64, with the NUL */

struct nkey;

/* Read the file. Return NULL with err (LB_EXIT_USAGE) if it has no valid seed, or no JWT; the caller frees. */
struct nkey *nkey_read_seed(const char *path, struct lb_err *err);
struct nkey *nkey_read_creds(const char *path, struct lb_err *err);
/* Accepts NULL. */
void nkey_free(struct nkey *key);

bool nkey_is_jwt(const struct nkey *key);
/* The text that the client sends: the JWT, or the public key ("U..."). */
const char *nkey_identity(const struct nkey *key);
/* Signs the server's nonce. Returns out, base64 in the alphabet of URLs without padding; "" if
 * OpenSSL fails. */
const char *nkey_sign(const struct nkey *key, const char *nonce, char out[NKEY_SIGNATURE_BYTES]);

#endif
