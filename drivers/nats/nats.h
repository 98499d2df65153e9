/* nats: one client's connection to a NATS server with JetStream, or to one server of a cluster, in
 * NATS's own text protocol. (libnats works with threads of its own and blocks its callers.)
 *
 * A request is a PUB or HPUB with a reply subject, and the message that comes back on that subject.
 * While a request waits for its answer, it also takes in the messages of the watch, and answers the
 * server's PINGs. While no request waits, a fiber of the thread does the same (connection.c). */
#ifndef DRIVERS_NATS_NATS_H
#define DRIVERS_NATS_NATS_H

#include <jansson.h>
#include <stdbool.h>

#include "bench/base/err.h"
#include "drivers/driver.h"
#include "drivers/gate.h"
#include "drivers/stream.h"
#include "drivers/url.h"

/* nkey: authenticates a client of NATS by an Ed25519 key: a seed file ("SU..."), or a .creds file
 * with a JWT and a seed. The formats are those of github.com/nats-io/nkeys and of NATS's
 * documentation on credentials files.
 *
 * It makes no keys, and shows no seed in any message. */

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

/* "$JS.API.DIRECT.GET.KV_<bucket>.$KV.<bucket>.<key>" */
#define NATS_SUBJECT_MAX (LB_KEY_MAX + 160)
#define NATS_DATA_MAX 1024 /* the most bytes that are read of an answer */

extern const struct lb_backend backend_nats;

struct nats_options {
    int64_t command_timeout_ns;
    const char *nkey, *creds; /* files; NULL = none */
    const char *durability;   /* what the user states; see facts.h */
    struct lb_tls tls;
};

struct nats_server {
    struct url url;
    struct sock_tls *tls; /* set even for nats://, since a server may ask for TLS */
    struct lb_err no_tls; /* why there is no TLS */
    /* the key that authenticates the client; NULL = the URL has user and password, a token, or
     * neither */
    struct nkey *nkey;
};

/* A message, or the part of it that is used. */
struct nats_message {
    int status;        /* the headers' first line: 404, 503; 0 = none */
    bool deleted;      /* KV-Operation: DEL or PURGE */
    uint64_t sequence; /* Nats-Sequence of a message from a stream; 0 = none */
    size_t len;        /* the size of the payload; data may contain less of it */
    char *data;        /* ends with NUL */
};

struct nats_session {
    struct stream stream;
    char inbox[24];      /* "_INBOX.<id>": requests' replies come to "<inbox>.<n>" */
    int endpoint;        /* the index of the server in the URL */
    int64_t patience_ns; /* longest wait for an answer: command_timeout, or what connect has left */
    unsigned last;       /* the number of the last request or watch */
    char version[24];    /* the version of the server */
    char cluster[64];    /* the name of the server's cluster; "" = it is alone */
    int replicas;        /* replicas of the lock's bucket; 0 = not known */
    bool wants_tls, offers_tls;
    bool unanswered;              /* the connection was given up because no answer came in time */
    char nonce[64];               /* the server's text that a key signs; "" = none was sent */
    char text[NATS_DATA_MAX + 1]; /* the last answer's data */
    struct {
        unsigned sid; /* 0 = there is no watch */
        bool news;    /* a message came since the flag was cleared; the two below describe it */
        bool held;    /* the message is an entry, not a delete marker */
        uint64_t sequence;
    } watch;
    struct gate
        gate;  /* one user of the connection at a time: a call, or the fiber of connection.c */
    bool used; /* a call has used the connection since that fiber looked last */
    bool has_pongs;
    struct lb_session *pongs_before, *pongs_next; /* in the list of that fiber */
};

static inline struct nats_session *nats_session_of(const struct lb_session *session) {
    return session->state;
}

/* Sends body to subject, with headers ("Name: value\r\n" each) unless NULL, and waits for the
 * answer, at most patience_ns. LB_OK with the answer, whose data is in the session's text until the
 * next request; LB_BROKEN: nothing was sent; LB_UNKNOWN. */
enum lb_outcome nats_request(struct lb_session *session, const char *subject, const char *headers,
                             const char *body, struct nats_message *ret_answer);
/* Asks JetStream for an answer of any length. Returns it as JSON, a new reference; NULL with err where there is none, or
 * where it is an error. */
json_t *nats_ask(struct lb_session *session, const char *subject, const char *body,
                 struct lb_err *err);

/* From now on until nats_pongs_end a fiber of this thread answers the server's PINGs while no call uses the session.
 * 0, or -1 with err. */
int nats_pongs_begin(struct lb_session *session, struct lb_err *err);
void nats_pongs_end(struct lb_session *session);

/* Sends PING and waits for the PONG. */
enum lb_outcome nats_round_trip(struct lb_session *session);

/* Subscribes to "<inbox>-w.<n>", where a consumer will deliver; ret_subject has room for 48
 * bytes. */
enum lb_outcome nats_watch_start(struct lb_session *session, char *ret_subject);
/* Waits until the watch has a message. LB_OK; LB_TIMEOUT; LB_UNKNOWN: the connection is gone. */
enum lb_outcome nats_watch_wait(struct lb_session *session, int64_t deadline_ns);
/* Unsubscribes, and asks the server to drop the consumer, without waiting for its answer. */
void nats_watch_stop(struct lb_session *session, const char *delete_subject);

/* Removes the buckets that lockbench made; see drivers/clean.h. */
lb_clean_fn nats_clean;

/* Returns JetStream's error code in an answer, 0 = none. *ret_why: its description for lb_fail; the
 * description overwrites the answer's data. */
int nats_error(struct nats_message *answer, const char **ret_why);

#endif
