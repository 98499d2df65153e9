/* redisson: what Redisson's locks have in common, as its 4.7 has it on the wire: who a holder is,
 * how keys and channels are named, how a script is run, and the wait: try, subscribe, try again,
 * wait for a message for as long as the lock may still be held, try again. The scripts are in
 * drivers/redis/lua, one file each.
 *
 * A session is one Redisson instance (one JVM): a random UUID; its clients are that JVM's threads.
 * The real client spreads its commands over a pool of connections and sends one again whose answer
 * is late; this one has one connection for commands and one for subscriptions, and sends nothing
 * twice. */
#ifndef DRIVERS_REDIS_REDISSON_H
#define DRIVERS_REDIS_REDISSON_H

#include "drivers/redis/pubsub.h"

#define REDISSON_NAME_MAX (LB_KEY_MAX + 160)
#define REDISSON_HOLDER_MAX 64 /* "<uuid>:<thread>:write" */

/* For .about: Debian has no Redisson to try it against. */
#define REDISSON_COMPATIBLE(object)                                                                \
    "Redisson 4.7's " object                                                                       \
    " (not packaged for Debian: the server's state is compared field by field)"

/* The session_bytes of each of these locks. */
struct redisson_session {
    char uuid[37]; /* "" until first needed */
    struct pubsub pubsub;
    struct redisson_replicas {
        struct redis_node *node;
        int count;
    } replicas[REDIS_NODES_MAX]; /* known so far */
};

/* The options of those that wait by messages. */
struct redisson_options {
    int64_t subscription_timeout_ns;
    int64_t check_synced;
    int64_t queue_timeout_ns; /* fair lock only */
};

/* clang-format off */
#define REDISSON_OPTION_CHECK_SYNCED \
    {"check_synced", LB_OPT_BOOL, offsetof(struct redisson_options, check_synced), "yes", 0, 0, NULL, \
     "where there are replicas, send WAIT along with each acquire, and give it back if none acknowledges"}
#define REDISSON_OPTIONS \
    {"subscription_timeout", LB_OPT_DURATION, offsetof(struct redisson_options, subscription_timeout_ns), "7.5s", 1e6, \
     600e9, NULL, "longest wait for the confirmation of a subscription"}, REDISSON_OPTION_CHECK_SYNCED
/* clang-format on */

/* Redisson's slavesSyncTimeout. */
#define REDISSON_SYNC_MS "1000"

/* Who asks: "<uuid>:<thread>" and then `more`. The thread's number is the client's plus one. */
void redisson_holder(struct lb_session *session, const struct lb_request *request, const char *more,
                     char out[REDISSON_HOLDER_MAX]);

/* before{name}after, or with a name that has a brace, before name after. */
void redisson_name(const struct lb_request *request, const char *before, const char *after,
                   char out[REDISSON_NAME_MAX]);

/* A number as text. */
struct redisson_number {
    char text[24];
};
struct redisson_number redisson_number(long long value);
/* The client's clock, which some of these locks order and expire by: milliseconds since 1970. */
long long redisson_now_ms(void);
/* PUBLISH, in a cluster SPUBLISH. */
const char *redisson_publish(const struct lb_session *session);

/* How long an unlock's latch stays if it is not deleted: (3 s timeout + 1 to 2 s delay) * 4
 * attempts. */
#define REDISSON_LATCH_MS "18000"

/* Runs a script on the node, or (NULL) on the one that serves its first key. LB_OK with *ret_reply,
 * which is not an error. */
enum lb_outcome redisson_run(struct lb_session *session, struct redis_node *node,
                             const struct redis_script *script, int keys,
                             const struct redis_word *words, int count,
                             const struct redis_reply **ret_reply);

/* One script for an acquire: the same, with WAIT behind it where the node has replicas and
 * check_synced asks for it. *ret_synced: false if not one of them has acknowledged it; the caller
 * then gives back what it took. */
enum lb_outcome redisson_run_synced(struct lb_session *session, struct redis_node *node,
                                    const struct redis_script *script, int keys,
                                    const struct redis_word *words, int count,
                                    const struct redis_reply **ret_reply, bool *ret_synced);
enum lb_outcome redisson_not_synced(struct lb_session *session);

/* --- unlocking --- */

/* A latch of a fresh name; and its end, which nobody waits for. */
void redisson_latch(struct lb_session *session, const struct lb_request *request,
                    char out[REDISSON_NAME_MAX]);
void redisson_drop_latch(struct lb_session *session, struct redis_node *node, const char *latch);

/* Runs an unlock script whose last key is its latch, which is deleted afterwards. LB_OK: *ret_held
 * says whether the holder still holds it, having taken it more than once. LB_LOST: it was not held
 * by it. */
enum lb_outcome redisson_unlock(struct lb_session *session, struct redis_node *node,
                                const struct lb_request *request, const struct redis_script *script,
                                int keys, const struct redis_word *words, int count,
                                bool *ret_held);

/* Unlocks once, by the holder that grant->data names. *ret_held as redisson_unlock. */
typedef enum lb_outcome redisson_unlock_fn(struct lb_session *session,
                                           const struct lb_request *request, struct lb_grant *grant,
                                           bool *ret_held);

/* --- the wait --- */

struct redisson_try;
/* Asks once. LB_OK: got it. LB_BUSY: not, and *ret_left_ns says how long to wait for a message at
 * most (LB_NEVER: for as long as it takes). Else it failed. */
typedef enum lb_outcome redisson_try_fn(struct redisson_try *one, int64_t *ret_left_ns);

struct redisson_try {
    struct lb_session *session;
    const struct lb_request *request;
    struct lb_grant *grant;
    struct redis_node *node; /* NULL: the one of request->key */
    redisson_try_fn *ask;
    const char *channel;
    pubsub_count_fn *count; /* NULL: a message is for one waiter */
};

/* LB_OK; LB_BUSY: request's deadline had passed at the call; LB_TIMEOUT; or what ask or the
 * subscription failed with. */
enum lb_outcome redisson_await(struct redisson_try *one);

/* --- recipes --- */

/* lb_lock.recipe of all these locks: what is a lock's own of the functions below. */
struct redisson_recipe {
    redisson_try_fn *ask;       /* rlock_algorithm: tries once to take it */
    redisson_unlock_fn *unlock; /* NULL = it has a release and a settle of its own */
    /* How the names of its keys and channels on the server begin before the lock's name, each list
     * up to a NULL. A brace at the end of a text is the one that Redisson puts around a name that
     * has none. */
    const char *const *keys, *const *channels;
};

lb_release_fn redisson_release; /* unlocks once */
lb_settle_fn redisson_settle;   /* after an attempt in doubt: unlocks until it is not held */
lb_residue_fn redisson_residue; /* counts the keys and channels of the recipe */

/* The options that all have, unless they have more. */
extern const struct lb_option redisson_options[];
#define REDISSON_MEMBERS                                                                           \
    .options = redisson_options, .options_bytes = sizeof(struct redisson_options),                 \
    .session_bytes = sizeof(struct redisson_session), .residue = redisson_residue

#endif
