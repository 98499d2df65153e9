/* redisson_rlock: the hash behind RLock, RSpinLock, RFencedLock and MultiLock: key = name, a field
 * for the holder, its value how often it has taken it, the key's time to live the lease. */
#ifndef DRIVERS_REDIS_REDISSON_RLOCK_H
#define DRIVERS_REDIS_REDISSON_RLOCK_H

#include "drivers/redis/redisson.h"

struct rlock_grant {
    char holder[REDISSON_HOLDER_MAX]; /* "" = never asked */
};

/* Where its messages go. */
void rlock_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]);

/* A redisson_try_fn: takes it for grant->data's holder, for request->lease_ns. */
enum lb_outcome rlock_ask(struct redisson_try *one, int64_t *ret_left_ns);

/* By holder. publish: tell the waiters. */
enum lb_outcome rlock_unlock_by(struct lb_session *session, struct redis_node *node,
                                const struct lb_request *request, const char *holder, bool publish,
                                bool *ret_held);

/* The same script, for who sends it elsewhere too: the command and its words, the latch among
 * them. */
struct rlock_unlocking {
    char channel[REDISSON_NAME_MAX], latch[REDISSON_NAME_MAX], lease[24];
    struct redis_word words[8];
    struct redis_command command;
};
void rlock_prepare_unlock(struct lb_session *session, const struct lb_request *request,
                          const char *holder, struct rlock_unlocking *ret_unlocking);

/* Extends it by request->lease_ns if holder has it: LB_OK, or LB_LOST. */
enum lb_outcome rlock_extend(struct lb_session *session, struct redis_node *node,
                             const struct lb_request *request, const char *holder);

/* What the time to live in an answer means for a waiter. */
int64_t rlock_left_ns(long long pttl);

/* For locks whose grant is a struct rlock_grant: */
redisson_unlock_fn rlock_unlock_once;
lb_renew_fn rlock_renew;
extern const char *const rlock_keys[], *const rlock_channels[]; /* for their recipes */
/* RLock, and RFencedLock, which differs in the script that takes it. */
extern const struct lb_algorithm rlock_algorithm;

#endif
