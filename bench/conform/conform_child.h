/* conform_child: a client in a process of its own, which the script can kill. The process is forked
 * before the trial makes loops and threads, and waits until the script lets it begin. */
#ifndef BENCH_CONFORM_CONFORM_CHILD_H
#define BENCH_CONFORM_CONFORM_CHILD_H

#include "bench/conform/conform_trial.h"

#define CHILD_LEASE_NS (2 * LB_S_NS) /* the lease of its session and grants */

/* Forks a client that will take the key, on the trial's place, and hold it. NULL after trial_fail.
 * Main thread, while there is no other. */
struct conform_child *child_start(struct trial *trial, const struct trial_key *key);
/* Kills the child if it lives, and frees it. NULL is allowed. */
void child_free(struct conform_child *child);

const struct trial_key *child_key(const struct conform_child *child);

/* For scripts: lets the child begin; kills it, and returns when it is dead. */
void child_go(struct conform_child *child);
void child_kill(struct conform_child *child);

/* For scripts: waits for the child's next message: 'c' = connected and about to acquire, 'h' =
 * holds the key, with the token. False after trial_fail. */
bool child_says(struct trial *trial, struct conform_child *child, char word, uint64_t *ret_token);

#endif
