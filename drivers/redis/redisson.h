/* redisson: the common parts of the locks of Redisson 4.7: the names of holders, keys and channels, the
 * calls of scripts, and the wait of a client: it tries, subscribes, tries again, then waits for a message,
 * at most until the lock's lease ends, and tries again. The scripts are in drivers/redis/lua, one file each.
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

/* The members of .about that these locks share. Debian has no package of Redisson to test against. */
#define REDISSON_ABOUT(object, acquires, releases)                                                 \
    .compatible = "Redisson 4.7's " object                                                         \
                  " (not packaged for Debian: the server's state is compared field by field)",     \
    .acquire_requests = acquires, .release_requests = releases, .guarantee = LB_ON_ONE_NODE

/* The session_bytes of each of these locks. */
struct redisson_session {
    char uuid[LB_UUID_CHARS + 1]; /* "" until first needed */
    struct pubsub pubsub;
    struct redisson_replicas {
        struct redis_node *node;
        int count;
    } replicas[REDIS_NODES_MAX]; /* known so far */
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

/* Redisson's default of the longest wait for the confirmation of a subscription. */
#define REDISSON_SUBSCRIBE_NS (7500 * LB_MS_NS)

/* Redisson's slavesSyncTimeout. */
#define REDISSON_SYNC_MS "1000"

/* Writes the name of the client that asks: "<uuid>:<thread>", followed by `more`. The thread's
 * number is the client's number plus one. */
void redisson_holder(struct lb_session *session, const struct lb_request *request, const char *more,
                     char out[REDISSON_HOLDER_MAX]);

/* Writes the name of a key or channel: before{name}after; without the braces if the lock's name
 * contains one. */
void redisson_name(const struct lb_request *request, const char *before, const char *after,
                   char out[REDISSON_NAME_MAX]);

/* A number as text, for an argument of a script. */
struct redisson_number {
    char text[24];
};
struct redisson_number redisson_number(long long value);
/* The client's wall clock in milliseconds since 1970: some of these locks order their waiters and
 * end their leases by it. */
long long redisson_now_ms(const struct lb_session *session);
/* The command that publishes a message: PUBLISH, or SPUBLISH in a cluster. */
const char *redisson_publish(const struct lb_session *session);

/* The time to live of an unlock's latch, which ends so if it is not deleted. Redisson computes it: (3 s timeout + 1 to
 * 2 s delay) * 4 attempts; here the middle, 18 s. */
#define REDISSON_LATCH_MS "18000"

/* As redis_run for the script of an acquire; sends WAIT after it if the node has replicas and
 * the option check_synced is on. *ret_synced is false if no replica has acknowledged the script's
 * writes. */
enum lb_outcome redisson_run_synced(struct lb_session *session, const struct redis_script *script,
                                    int keys, const struct redis_word *words, int count,
                                    const struct redis_reply **ret_reply, bool *ret_synced);
/* --- unlocking --- */

/* Each unlock names a key of its own, the latch, in which the script stores its answer. Writes a new name. */
void redisson_latch(struct lb_session *session, const struct lb_request *request,
                    char out[REDISSON_NAME_MAX]);

/* Runs an unlock script whose last key is the latch, and deletes the latch afterwards. LB_OK:
 * *ret_held tells whether the holder still holds the lock, since it took the lock more than once.
 * LB_LOST: the holder did not hold the lock. */
enum lb_outcome redisson_unlock(struct lb_session *session, const struct lb_request *request,
                                const struct redis_script *script, int keys,
                                const struct redis_word *words, int count, bool *ret_held);

/* Unlocks once, as the holder that grant->data names. Returns as redisson_unlock. */
typedef enum lb_outcome redisson_unlock_fn(struct lb_session *session,
                                           const struct lb_request *request, struct lb_grant *grant,
                                           bool *ret_held);

/* --- the wait --- */

struct redisson_try;
/* Tries once. LB_OK: the lock is taken. LB_BUSY: another client holds the lock, and *ret_left_ns
 * tells how long to wait for a message at most (LB_NEVER = without limit). Else the try failed. */
typedef enum lb_outcome redisson_try_fn(struct redisson_try *one, int64_t *ret_left_ns);
/* The end of a try whose script has taken the lock: LB_OK with the grant. If no replica has acknowledged it (synced),
 * releases the lock: LB_BROKEN with session->err, or the outcome of a release that failed. */
enum lb_outcome redisson_taken(struct redisson_try *one, bool synced, uint64_t token,
                               int64_t lease_end_ns);

struct redisson_try {
    struct lb_session *session;
    const struct lb_request *request;
    struct lb_grant *grant;
    redisson_try_fn *ask;
    const char *channel;
    pubsub_count_fn *count; /* NULL = a message wakes one waiter */
};

/* Tries and waits until the lock is taken or the deadline has passed. Returns LB_OK, LB_BUSY (the
 * deadline had already passed at the call), LB_TIMEOUT, or the outcome with which ask or the
 * subscription failed. */
enum lb_outcome redisson_await(struct redisson_try *one);

/* --- recipes --- */

/* lb_lock.recipe of all these locks: what the functions below need to know about a lock. */
struct redisson_recipe {
    redisson_try_fn *ask;       /* for rlock_algorithm: one try to take the lock */
    redisson_unlock_fn *unlock; /* NULL = the lock has its own release and settle */
    /* The texts that stand before the lock's name in the names of its keys and channels; each list
     * ends with NULL. A brace at the end of a text is the one that Redisson puts around a name that
     * contains none. */
    const char *const *keys, *const *channels;
    const char *
        counter; /* the text before the name in the key that counts tokens, without a brace; or NULL */
};

lb_release_fn redisson_release; /* unlocks once */
lb_settle_fn redisson_settle;   /* after an attempt in doubt: unlocks until it is not held */
lb_residue_fn redisson_residue; /* counts the keys and channels of the recipe */
lb_names_fn redisson_names;     /* adds their names */

/* The options of a lock that has no others, and the members that most algorithms share. */
extern const struct lb_option redisson_options[];
#define REDISSON_MEMBERS                                                                           \
    .options = redisson_options, .options_bytes = sizeof(struct redisson_options),                 \
    .session_bytes = sizeof(struct redisson_session), .connections = 2 /* one subscribes */,       \
    .residue = redisson_residue, .names = redisson_names

/* redisson_rlock: the hash of RLock and RFencedLock. The key is the lock's
 * name; the hash has one field, whose name is the holder and whose value counts its holds; the
 * key's time to live is the lease. */

struct rlock_grant {
    char holder[REDISSON_HOLDER_MAX]; /* "" = never asked */
};

/* Writes the name of the channel on which releases are published. */
void rlock_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]);

/* A try by a script that answers as such a lock's: nil: taken; a number: held by another, for so many ms. */
enum lb_outcome rlock_try(struct redisson_try *one, const struct redis_script *script, int keys,
                          const struct redis_word *words, int count, int64_t *ret_left_ns);

/* A redisson_try_fn: takes the lock for the holder in grant->data, for request->lease_ns. */
enum lb_outcome rlock_ask(struct redisson_try *one, int64_t *ret_left_ns);

/* Extends the lease to request->lease_ns from now if `holder` holds the lock: LB_OK, or LB_LOST. */
enum lb_outcome rlock_extend(struct lb_session *session, const struct lb_request *request,
                             const char *holder);

/* For locks whose grant is a struct rlock_grant: */
lb_renew_fn rlock_renew;
extern const char *const rlock_keys[], *const rlock_channels[]; /* for their recipes */
/* The algorithm of RLock and RFencedLock, which differ in recipe.ask. */
extern const struct lb_algorithm rlock_algorithm;

#endif
