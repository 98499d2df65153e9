/* tls: the options for the encryption of connections, which have the same names in every backend,
 * and the facts that a session tells about its encryption. It encrypts nothing itself.
 *
 * The URL asks for encryption (by its scheme; by PostgreSQL's sslmode); the options name the certificates
 * and what is verified. If the URL asks for encryption, no driver falls back to an unencrypted connection,
 * and the server is verified unless tls_verify says otherwise. */
#ifndef DRIVERS_TLS_H
#define DRIVERS_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/option/option.h"

struct lb_facts;

/* In the order of the option's choices. */
enum lb_tls_verify {
    LB_TLS_AUTO, /* not given: as LB_TLS_FULL where the URL asks for encryption; lb_tls_of says so */
    LB_TLS_FULL, /* the certificate has the URL's host name, and the authority signed it */
    LB_TLS_CA,   /* the authority signed it, for whatever host */
    LB_TLS_NONE
};

/* Files are in PEM format; NULL = none given. */
struct lb_tls {
    const char *ca; /* the authorities; NULL = those that the machine trusts */
    const char *cert, *key;
    enum lb_tls_verify verify;
};

/* For the option table of a backend whose options have a `struct lb_tls` as this member. */
/* clang-format off */
#define LB_TLS_OPTIONS(options, member) \
    {"tls_ca", LB_OPT_TEXT, offsetof(options, member.ca), NULL, 0, 0, NULL, \
     "file of the authorities of the server's certificate (PEM); the machine's if not given"}, \
    {"tls_cert", LB_OPT_TEXT, offsetof(options, member.cert), NULL, 0, 0, NULL, \
     "file of the client's own certificate (PEM), for servers that ask for one"}, \
    {"tls_key", LB_OPT_TEXT, offsetof(options, member.key), NULL, 0, 0, NULL, \
     "file of its private key (PEM); tls_cert if not given"}, \
    {"tls_verify", LB_OPT_CHOICE32, offsetof(options, member.verify), "auto", 0, 0, "auto,full,ca,none", \
     "what of the certificate is checked: host name and authority, authority, nothing; auto: by the URL"}
/* clang-format on */

/* Whether any of the options was given. */
bool lb_tls_is_set(const struct lb_tls *tls);

/* Returns the options with their defaults filled in: LB_TLS_FULL in the place of LB_TLS_AUTO, and
 * as ca, where they name none, the authority of a server that lockbench started (lb_server.ca, may
 * be NULL). Borrows the texts. */
struct lb_tls lb_tls_of(const struct lb_tls *options, const char *server_ca);

/* Refuses wrong options: options for a URL that asks for no encryption (asked: the scheme that would, "etcds://"),
 * a key without a certificate, a certificate without a key, files that can't be read or hold something else, a key
 * with a passphrase. Blocks. 0, or -1 with err (LB_EXIT_USAGE). */
int lb_tls_check(const struct lb_tls *tls, bool encrypted, const char *backend, const char *asked,
                 struct lb_err *err);

/* Reads the files into a context of OpenSSL. 0, or -1 with err (LB_EXIT_USAGE). */
struct ssl_ctx_st;
int lb_tls_load(const struct lb_tls *tls, const char *backend, struct ssl_ctx_st *context,
                struct lb_err *err);

/* Returns the oldest error of OpenSSL's queue as text, and empties the queue. */
const char *lb_tls_reason(const char *otherwise);

/* The key's file: tls_key, or tls_cert. NULL without a certificate. */
const char *lb_tls_key(const struct lb_tls *tls);

/* Advice about a failure of TLS. message: the error text of OpenSSL or of a library that uses OpenSSL. tls: the
 * options with their defaults filled in, for the advice depends on which files are given; NULL = none are.
 * Returns ": ...", to be appended to the message, or "" if no advice is known; valid until the next call on this
 * thread. */
const char *lb_tls_advice(const char *message, const struct lb_tls *tls);

/* Says that no trusted authority signed the server's certificate: names the file of tls_ca, or, without one, the
 * machine's authorities and the option to set. Valid until the next call on this thread. */
const char *lb_tls_unsigned(const struct lb_tls *tls);

/* Adds facts about the encryption of the connections: whether there is one, its protocol, and what was verified.
 * protocol ("TLSv1.3"): NULL or "" = not encrypted. */
void lb_facts_encryption(struct lb_facts *facts, const struct lb_tls *tls, const char *protocol);

/* Writes these facts as one phrase: "TLSv1.3, host name and authority verified"; "" = not encrypted. */
void lb_tls_words(const struct lb_facts *facts, char *text, size_t size);

#endif
