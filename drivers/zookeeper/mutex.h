/* mutex: Curator's InterProcessMutex as the functions of a lock whose grant->data begins with a
 * zk_place; used by zk-lock, zk-reentrant and the control. The header also has what the locks'
 * tables have in common. */
#ifndef DRIVERS_ZOOKEEPER_MUTEX_H
#define DRIVERS_ZOOKEEPER_MUTEX_H

#include "drivers/zookeeper/queue.h"
#include "drivers/zookeeper/store.h"

lb_acquire_fn zk_mutex_acquire;
lb_release_fn zk_mutex_release;
lb_settle_fn zk_mutex_settle;

lb_residue_fn zk_residue;
lb_names_fn zk_names;

#define ZK_CAPS (LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SESSION | LB_CAP_SHARE)
#define ZK_CLAIMS (LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_FAILOVER | LB_CLAIM_CRASH_RELEASE)
#define ZK_KEEPS_CONTAINERS                                                                        \
    "a container node for each key, as Curator does; the server removes those that stay empty"
#define ZK_ORDER "first come, first served, by the server's sequence numbers"
#define ZK_TOKEN "the transaction that made the node (czxid)"
#define ZK_HAZARDS                                                                                  \
    "a holder that is paused for longer than its session continues beside the next holder; a dead " \
    "holder's lock is freed when its session ends, and a session lasts at least two ticks (4 s)"
/* A session that asks for less than two ticks gets two; its end is rounded up to a tick. */
#define ZK_CRASH_SLACK_NS (5 * LB_S_NS)
/* Facts of all these locks: the servers agree by majority, and a session ends by itself. */
#define ZK_ABOUT                                                                                   \
    .guarantee = LB_ON_MAJORITY, .crash = LB_CRASH_SESSION, .crash_slack_ns = ZK_CRASH_SLACK_NS

#endif
