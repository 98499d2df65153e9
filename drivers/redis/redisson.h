/* redisson: the locks of Redisson 4.7. A lock is a recipe: its scripts (drivers/redis/lua), with the values that each
 * takes, and the names of its keys. redisson.c does what they have in common: it makes names and calls scripts, and a
 * client tries, subscribes, tries again, then waits for a message, at most until the lock's lease ends, and tries again.
 *
 * A session stands for one Redisson instance (one JVM) and has a random UUID; its clients stand for
 * the threads of that JVM. The real client spreads its commands over a pool of connections and
 * sends a command again when the answer is late. This one has one connection for commands and one
 * for subscriptions, and sends nothing twice. */
#ifndef DRIVERS_REDIS_REDISSON_H
#define DRIVERS_REDIS_REDISSON_H

#include "drivers/gate.h"
#include "drivers/redis/redis.h"

/* pubsub: lets the fibers of a session wait for messages of a channel, as the threads of one JVM do
 * in Redisson. A session has one subscription for a channel; its waiters share and count it. A
 * message wakes as many waiters as the lock's count function says; a message that arrives while no
 * waiter sleeps is kept for the next one.
 *
 * This module has no fiber of its own: one of the waiters reads the connection and passes the task
 * on when it leaves. The module neither publishes nor interprets a message. */

struct pubsub_wait;

/* The subscriptions on one node. */
struct pubsub_line {
    struct redis_node *node;
    struct redis_conn *conn; /* a second one to the node; NULL until the first wait */
    bool gone;               /* the connection is lost, for the rest of the session */
    struct gate opening, sending;
    /* all waiters that are subscribed through this line, in the order of their arrival */
    struct pubsub_wait *first, *last;
    struct lb_fiber *reader; /* the waiter that reads the connection, or NULL */
    /* (UN)SUBSCRIBE commands, one channel each, and their answers, which come in order */
    uint64_t sent, answered;
};

/* Part of a lock's session_bytes; zeroed memory needs no further setup. */
struct pubsub {
    struct pubsub_line line[REDIS_NODES_MAX];
};

/* Returns how many of `waiters` (at least 1) a message wakes. */
typedef int pubsub_count_fn(const char *message, int waiters);

/* One waiter; lies on the waiter's stack from pubsub_join to pubsub_leave. */
struct pubsub_wait {
    struct pubsub_wait *next;
    struct pubsub_line *line;
    struct lb_session *session;
    const char *channel; /* borrowed */
    pubsub_count_fn *count;
    struct lb_fiber *fiber;
    uint64_t number; /* of the SUBSCRIBE that the waiter relies on */
    int permits;     /* messages that wake this waiter and that it has not used yet */
    bool asleep, lost;
    enum lb_outcome refused; /* why the SUBSCRIBE was refused; LB_OK = it was not refused */
};

/* Subscribes to the channel unless the session is already subscribed, and waits for the
 * confirmation. LB_OK; LB_TIMEOUT: no confirmation by deadline_ns, or the cut-off came; LB_BROKEN,
 * LB_REFUSED with session->err. The caller must call pubsub_leave only after LB_OK. */
enum lb_outcome pubsub_join(struct lb_session *session, struct pubsub *pubsub,
                            struct redis_node *node, const char *channel, pubsub_count_fn *count,
                            int64_t deadline_ns, struct pubsub_wait *wait);

/* Waits for a message that wakes this waiter. LB_OK; LB_TIMEOUT: no message by deadline_ns, or the
 * cut-off came; LB_BROKEN: the connection is lost, and messages may be lost with it. */
enum lb_outcome pubsub_wait(struct pubsub_wait *wait, int64_t deadline_ns);

/* Unsubscribes if this is the channel's last waiter. Does not wait for the answer. */
void pubsub_leave(struct pubsub_wait *wait);

/* Closes all connections. To be called when the session ends and has no waiter any more. */
void pubsub_end(struct pubsub *pubsub);

#define REDISSON_NAME_MAX (LB_KEY_MAX + 160)
#define REDISSON_HOLDER_MAX 64 /* "<uuid>:<thread>:write" */
#define REDISSON_ID_BYTES 16
#define REDISSON_PERMITS_MAX 64 /* of one request: their ids fit in one argument */

/* The members of .about that these locks share. Debian has no package of Redisson to test against. */
#define REDISSON_ABOUT(object, acquires, releases, freed_by)                                       \
    .compatible = "Redisson 4.7's " object                                                         \
                  " (not packaged for Debian: the server's state is compared field by field)",     \
    LB_TERMS(acquires, releases, LB_ON_ONE_NODE, freed_by)

/* The session_bytes of each of these locks. */
struct redisson_session {
    char uuid[LB_UUID_CHARS + 1]; /* "" until first needed */
    struct pubsub pubsub;
    struct redisson_replicas {
        struct redis_node *node;
        int count;
    } replicas[REDIS_NODES_MAX]; /* known so far */
};

/* The grant_bytes of each of these locks. */
struct redisson_grant {
    /* of a lock: "<uuid>:<thread>", where the thread's number is the client's plus one; "" = it never asked */
    char holder[REDISSON_HOLDER_MAX];
    /* of the fair lock: the wait that the attempt asked for, which sets the limit of its place in the queue */
    long long wait_ms;
    uint32_t permits; /* of semaphores: asked for, or held; 0 = none */
    /* of the first permit; the others differ from it in their last byte */
    unsigned char id[REDISSON_ID_BYTES];
};

/* The options of the locks whose waiters wait for messages. */
struct redisson_options {
    int64_t check_synced;
    int64_t queue_timeout_ns; /* fair lock only */
};

/* clang-format off */
#define REDISSON_OPTIONS \
    {"check_synced", LB_OPT_BOOL, offsetof(struct redisson_options, check_synced), "yes", 0, 0, NULL, \
     "where there are replicas, send WAIT along with each acquire, and give it back if none acknowledges"}
/* clang-format on */

/* A script, and the values that it takes: a letter for each key, a blank, a letter for each argument.
 * Names: k the lock, A and B the first two of recipe.keys, c the channel, T the counter of the tokens, r the reader's
 * timeout keys, s the permits' leases, u the latch of an unlock, in which the script stores its answer: a new name each
 * time, deleted after the answer.
 * Texts: h the holder, w the holder as a writer, i the permits' ids, P the command that publishes: PUBLISH, or SPUBLISH
 * in a cluster.
 * Numbers: l the lease in ms, n the client's clock in ms since 1970, e the end of the lease by that clock, W
 * grant.wait_ms, p the permits, b the semaphore's bound, L how long a latch stays, N the moment of a permit without a
 * lease, and 0 and 1. */
struct redisson_call {
    const struct redis_script *script;
    const char *values;
};

/* A call with its values. */
struct redisson_words {
    struct redis_command command;
    struct redis_word word[12];
    const char *latch; /* NULL = none */
    size_t used;
    char text[5 * REDISSON_NAME_MAX]; /* at most four names and five numbers */
};
void redisson_fill(struct lb_session *session, const struct lb_request *request,
                   const struct lb_grant *grant, const struct redisson_call *call,
                   struct redisson_words *ret_words);

/* Runs a call, as redis_run. grant NULL: of no client's. */
enum lb_outcome redisson_run(struct lb_session *session, const struct lb_request *request,
                             const struct lb_grant *grant, const struct redisson_call *call,
                             const struct redis_reply **ret_reply);
/* The same for one that answers a number. */
enum lb_outcome redisson_ask(struct lb_session *session, const struct lb_request *request,
                             const struct lb_grant *grant, const struct redisson_call *call,
                             long long *ret_number);

/* Reads the answer of a take. LB_OK: taken, with the token, if there are tokens. LB_BUSY: *ret_left_ns tells how long to
 * wait for a message at most (LB_NEVER = without limit). Else the try failed. */
typedef enum lb_outcome redisson_read_fn(struct lb_session *session,
                                         const struct redis_reply *reply, uint64_t *ret_token,
                                         int64_t *ret_left_ns);

/* lb_lock.recipe of all these locks. */
struct redisson_recipe {
    struct redisson_call take[2]; /* the second: see redisson_await */
    redisson_read_fn *read;       /* NULL = nil: taken; a number: held for so many ms */
    struct redisson_call unlock[2], extend[2]; /* the second for readers */
    const char *channel;                       /* the text before {name} */
    pubsub_count_fn *count;                    /* NULL = a message wakes one waiter */
    /* The texts before {name} in the names of the keys beside the key itself; ends with NULL. */
    const char *const *keys;
    const char *counter; /* the same of the key that counts tokens, which stays; or NULL */
};

/* Tries and waits until the lock is taken or the deadline has passed. second: by the second of the recipe's takes. after:
 * follows the name of the channel. Returns LB_OK, LB_BUSY (the deadline had already passed at the call), LB_TIMEOUT, or
 * the outcome with which a try or the subscription failed. */
enum lb_outcome redisson_await(struct lb_session *session, const struct lb_request *request,
                               struct lb_grant *grant, bool second, const char *after);
/* Writes the name of the client that asks into the grant. */
void redisson_holder(struct lb_session *session, const struct lb_request *request,
                     struct lb_grant *grant);

lb_acquire_fn redisson_acquire; /* readers by the second take */
lb_release_fn redisson_release; /* unlocks once */
lb_renew_fn redisson_renew;
lb_settle_fn redisson_settle;   /* after an attempt in doubt: unlocks until it is not held */
lb_residue_fn redisson_residue; /* counts the keys and channels of the recipe */
lb_names_fn redisson_names;     /* adds their names */

/* The options of a lock that has no others, and the members that the algorithms share. */
extern const struct lb_option redisson_options[];
#define REDISSON_MEMBERS                                                                           \
    .options_bytes = sizeof(struct redisson_options),                                              \
    .session_bytes = sizeof(struct redisson_session), .connections = 2 /* one subscribes */,       \
    .grant_bytes = sizeof(struct redisson_grant), .residue = redisson_residue,                     \
    .names = redisson_names
/* The algorithm of the locks that have a holder. */
extern const struct lb_algorithm rlock_algorithm;

/* RLock, a hash: the key is the lock's name; the hash has one field, whose name is the holder and whose value counts its
 * holds; the key's time to live is the lease. */
#define RLOCK_TAKE                                                                                 \
    { &script_rlock_take, "k lh" }
#define RLOCK_EXTEND .extend = {{&script_rlock_extend, "k lh"}}
#define RLOCK_CHANNEL .channel = "redisson_lock__channel:"
#define REDISSON_LATCHES "redisson_unlock_latch:"
extern const struct redis_script script_rlock_take, script_rlock_extend;
extern const char *const rlock_keys[];

#endif
