/* string: the common parts of the locks that consist of one string key: SET key token NX PX lease,
 * and scripts that act only if the key still holds the token. Polling, tokens, settling,
 * residue. */
#ifndef DRIVERS_REDIS_STRING_H
#define DRIVERS_REDIS_STRING_H

#include "drivers/backoff.h"
#include "drivers/redis/redis.h"

#define STRING_TOKEN_BYTES 20 /* random, in hex, as the Redis documentation advises */

struct string_options {
    struct backoff_options poll;
};

/* The first member of the grant's data of every lock that uses this module. */
struct string_grant {
    char token[2 * STRING_TOKEN_BYTES + 1];
};

/* The six words of SET key token NX PX lease, for an array of struct redis_word. grant: a struct string_grant;
 * lease_ms: a text. */
#define STRING_SET(key, key_len, grant, lease_ms)                                                  \
    {"SET", 3}, {key, key_len}, {(grant)->token, 2 * STRING_TOKEN_BYTES}, {"NX", 2}, {"PX", 2}, {  \
        lease_ms, 0                                                                                \
    }

/* Delete or extend the key if it still holds the token; see the scripts. */
extern const struct redis_script script_string_release, script_string_renew;

/* One try. LB_OK with the grant filled; LB_BUSY; or the outcome of a failure. */
typedef enum lb_outcome string_try_fn(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant);

/* Sends a write and waits for what makes it count. *ret_enough: it does; a grant that does not is freed again, and
 * a lease that does not ends when it would have ended. */
typedef enum lb_outcome string_write_fn(struct lb_session *session,
                                        const struct redis_command *write,
                                        const struct redis_reply **ret_written, bool *ret_enough);

/* Runs a script of the request's key that checks the owner (argument may be NULL). LB_OK; LB_LOST: this
 * client is not the owner. ret_enough NULL: it counts by itself. */
enum lb_outcome string_if_mine(struct lb_session *session, const struct lb_request *request,
                               const struct lb_grant *grant, const struct redis_script *script,
                               const char *argument, bool *ret_enough);

/* lb_lock.recipe of a lock whose try is not SET key token NX PX lease, or whose writes do not count by themselves. */
struct string_recipe {
    string_try_fn *try_once;
    string_write_fn *write;
};
#define STRING_TRY(function)                                                                       \
    .recipe = &(const struct string_recipe) {                                                      \
        .try_once = function                                                                       \
    }

/* Tries until it is granted or the deadline has passed, with a new token (re-entry: with the old
 * one). The session's options begin with struct string_options. */
lb_acquire_fn string_acquire;
lb_release_fn string_release;
lb_renew_fn string_renew;     /* by a lease from now on */
lb_settle_fn string_settle;   /* releases what an attempt may have left */
lb_residue_fn string_residue; /* keys that begin with the prefix */
lb_names_fn string_names;

/* The options of a lock that has no more than these: how it polls. */
extern const struct lb_option string_option_table[];

/* What most of these algorithms share, for one string a key; each lock sets acquire, release and renew itself. */
#define STRING_MEMBERS                                                                             \
    STRING_KEY, STRING_OPTIONS(string_option_table, struct string_options),                        \
        .grant_bytes = sizeof(struct string_grant), .settle = string_settle
/* Parts of STRING_MEMBERS, for a lock that has more options or another settle. */
#define STRING_KEY .causes = backoff_causes, .residue = string_residue, .names = string_names
#define STRING_OPTIONS(table, type) .options = table, .options_bytes = sizeof(type)

#endif
