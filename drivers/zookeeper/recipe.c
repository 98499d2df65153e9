/* zk-recipe: the lock of ZooKeeper's own C recipe (zkr_lock, which Debian does not ship), by its
 * node names: "x-<session>-<sequence>" below the lock's path, watched with exists.
 *
 * It leaves out three defects of the original. zkr_lock_lock returned success whatever happened;
 * here a failure is reported. It gave its place up and queued anew when the node before it
 * disappeared between its list and its watch; here a place is kept. It took any node of its session
 * for its own, so that two locks of one handle held together; here each attempt has a node of its
 * own, which the clients of a session tell apart. 2 + 1 round trips; the original needs 4 + 1,
 * since it first asks for the parent and for its own node. The nodes on the server are the same. */
#include "drivers/zookeeper/mutex.h"

static const struct zk_queue queue = {.base = NULL, .ahead = zk_ahead_recipe};

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct zk_place),
    .session_bytes = sizeof(struct zk_place *),
    .acquire = zk_mutex_acquire,
    .release = zk_mutex_release,
    .settle = zk_mutex_settle,
    .residue = zk_residue,
    .names = zk_names,
};

const struct lb_lock lock_zk_recipe = {
    .name = "zk-recipe",
    .summary =
        "ephemeral sequential nodes by the names of ZooKeeper's C recipe (zkr_lock), without its defects",
    ZK_MUTEX_FACTS,
    .caps = ZK_CAPS | LB_CAP_FENCE | LB_CAP_FAIR,
    .keeps = "a persistent node for each key, as the C recipe does: nobody removes it",
    .about = {.compatible = "zkr_lock of ZooKeeper's C recipes, and their Java WriteLock",
              .hazards = ZK_HAZARDS
              "; real zkr_locks on one handle share a node, and so the lock; a real WriteLock "
              "may sleep for ever when the node before it disappears while it looks",
              ZK_MUTEX_ABOUT},
    .algorithm = &algorithm,
    .recipe = &queue,
};
