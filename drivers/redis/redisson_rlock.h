/* redisson_rlock: the hash of RLock, RSpinLock, RFencedLock and MultiLock. The key is the lock's
 * name; the hash has one field, whose name is the holder and whose value counts its holds; the
 * key's time to live is the lease. */
#ifndef DRIVERS_REDIS_REDISSON_RLOCK_H
#define DRIVERS_REDIS_REDISSON_RLOCK_H

#include "drivers/redis/redisson.h"

struct rlock_grant {
    char holder[REDISSON_HOLDER_MAX]; /* "" = never asked */
};

/* Writes the name of the channel on which releases are published. */
void rlock_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]);

/* Takes the lock if it is free or the holder's. KEYS: its name. ARGV: lease in ms, holder. Answers
 * nil: taken; a number: held by another, for so many ms. */
extern const struct redis_script script_rlock_take;

/* Reads such an answer. Returns LB_OK: taken; LB_BUSY with *ret_left_ns; or the outcome of a wrong answer. */
enum lb_outcome rlock_answer(struct redisson_try *one, const struct redis_reply *reply,
                             int64_t *ret_left_ns);

/* A redisson_try_fn: takes the lock for the holder in grant->data, for request->lease_ns. */
enum lb_outcome rlock_ask(struct redisson_try *one, int64_t *ret_left_ns);

/* Unlocks once, as `holder`. publish: whether the waiters are told. Returns as redisson_unlock. */
enum lb_outcome rlock_unlock_by(struct lb_session *session, struct redis_node *node,
                                const struct lb_request *request, const char *holder, bool publish,
                                bool *ret_held);

/* The same as a command that the caller sends to several servers itself. The words point into the
 * struct, so it must not be copied. */
struct rlock_unlocking {
    char channel[REDISSON_NAME_MAX], latch[REDISSON_NAME_MAX], lease[24];
    struct redis_word words[8];
    struct redis_command command;
};
void rlock_prepare_unlock(struct lb_session *session, const struct lb_request *request,
                          const char *holder, struct rlock_unlocking *ret_unlocking);

/* Extends the lease to request->lease_ns from now if `holder` holds the lock: LB_OK, or LB_LOST. */
enum lb_outcome rlock_extend(struct lb_session *session, struct redis_node *node,
                             const struct lb_request *request, const char *holder);

/* The longest wait for a lock whose time to live is pttl ms: LB_NEVER if pttl is below 0. */
int64_t rlock_left_ns(long long pttl);

/* For locks whose grant is a struct rlock_grant: */
redisson_unlock_fn rlock_unlock_once;
lb_renew_fn rlock_renew;
extern const char *const rlock_keys[], *const rlock_channels[]; /* for their recipes */
/* The algorithm of RLock and RFencedLock, which differ in recipe.ask. */
extern const struct lb_algorithm rlock_algorithm;

#endif
