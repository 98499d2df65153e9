/* redis: a session with one Redis server and one command at a time over it; the algorithms are in their own
 * files.
 *
 * Connects and parses by hiredis (0.14 and 1.x); writes and waits by itself, edge-triggered, and keeps the
 * reply in the session, so that a round trip allocates nothing. It retries nothing.
 */
#ifndef DRIVERS_REDIS_REDIS_H
#define DRIVERS_REDIS_REDIS_H

#include "drivers/driver.h"

#define REDIS_ARGS_MAX 16
#define REDIS_ELEMENTS_MAX 16

enum redis_type { REDIS_NIL, REDIS_STATUS, REDIS_ERROR, REDIS_INTEGER, REDIS_STRING, REDIS_ARRAY };

struct redis_value {
    enum redis_type type;
    long long integer;
    const char *text; /* STATUS, ERROR, STRING: NUL-terminated, valid until the next command */
    size_t len;
};

struct redis_reply {
    struct redis_value value;
    int count; /* ARRAY: elements kept, at most REDIS_ELEMENTS_MAX; nested arrays are flattened */
    struct redis_value element[REDIS_ELEMENTS_MAX];
};

/* A command's words; lengths are taken by strlen where len is 0. */
struct redis_word {
    const char *text;
    size_t len;
};

extern const struct lb_backend backend_redis;

/* Sends a command and waits for its reply. LB_OK with *ret_reply (which may be of type REDIS_ERROR);
 * LB_BROKEN: the connection was down, nothing was sent; LB_UNKNOWN: sent, the answer is lost. Bounded by the
 * backend's command_timeout. After anything but LB_OK the connection is dead until the core connects again.
 */
enum lb_outcome redis_call(struct lb_session *session, const struct redis_word *words, int count,
                           const struct redis_reply **ret_reply);

/* The same by EVALSHA, with EVAL if the server has forgotten the script. words: the keys, then the arguments.
 */
enum lb_outcome redis_eval(struct lb_session *session, const char *script, const char *sha1, int keys,
                           const struct redis_word *words, int count, const struct redis_reply **ret_reply);

/* The SHA1 of a script in hex, as SCRIPT LOAD answers it. 0, or -1 with err. */
int redis_load(struct lb_session *session, const char *script, char ret_sha1[41], struct lb_err *err);

/* Fails the operation with the server's error reply: LB_REFUSED (auth, wrong type, unknown command), else
 * LB_BROKEN. */
enum lb_outcome redis_refuse(struct lb_session *session, const struct redis_reply *reply);

#endif
