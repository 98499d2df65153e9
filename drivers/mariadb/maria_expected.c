/* maria_expected: the verdicts that are expected of the locks of MariaDB and MySQL under each fault. There is a
 * table for each kind of grant. The scenarios with several servers use Galera: in `multi-primary` the clients use
 * all nodes, in the others one node. See drivers/expect.h. */
#include "drivers/expect.h"
#include "drivers/mariadb/backend.h"

#define SESSION_ENDS "its session ends, and a holder that makes no request does not notice"
#define CERTIFIED "a commit is refused if another node's has changed the row meanwhile"
#define ALL_HAVE_IT "all nodes have received the row before the answer"

/* A node was lost, perhaps the one that clients use. */
#define NODE_LOST(all) [LB_SCENARIO_LEADER_KILL] = all, [LB_SCENARIO_MINORITY_LOST] = all
/* The nodes that are left need more than five seconds to agree that one is lost, and more than ten on a busy machine. One
 * holder of two that were inside is still there then, and another client asks for its key. */
#define OUTLASTS_LOSS "load.hold=lognormal:15s:0.5", "acquire.lease=60s", "run.duration=25s"

const struct lb_expectation maria_getlock_expected[LB_SCENARIOS] = {
    EXPECT_SQL_SESSION,
    [LB_SCENARIO_MULTI_PRIMARY] = VIOLATED("each node has user locks of its own"),
    NODE_LOST(EXPIRED_WITH(SESSION_ENDS, OUTLASTS_LOSS)),
    [LB_SCENARIO_SPLIT] =
        VIOLATED("the node that is cut off keeps its holder, and the others do not know it"),
};

/* mysql-row, mysql-nowait. Within a second of the draw of a block's first token the block is not yet on disk. */
const struct lb_expectation maria_row_expected[LB_SCENARIOS] = {
    EXPECT_CONNECTION_CLIENTS,
    EXPECT_CONNECTION_WIRES,
    [LB_SCENARIO_SERVER_PAUSE] = SAFE("nothing ends by time"),
    [LB_SCENARIO_SERVER_RESTART] = RESTART_TOKEN_AGAIN,
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("its session ends, and tokens start at one again"),
    [LB_SCENARIO_TERMINATED] = EXPIRED(SESSION_ENDS),
    [LB_SCENARIO_MULTI_PRIMARY] = VIOLATED("each node locks its own copy of the row"),
    NODE_LOST(EXPIRED_WITH(SESSION_ENDS, OUTLASTS_LOSS)),
    [LB_SCENARIO_SPLIT] =
        VIOLATED("the node that is cut off keeps its holder, and the others do not know it"),
};

/* mysql-lease, mysql-table. */
const struct lb_expectation maria_lease_expected[LB_SCENARIOS] = {
    EXPECT_SQL_LEASE,
    [LB_SCENARIO_MULTI_PRIMARY] = SAFE(CERTIFIED),
    NODE_LOST(SAFE_WITH(ALL_HAVE_IT, OUTLASTS_LOSS)),
    [LB_SCENARIO_SPLIT] =
        SAFE("a node without a majority commits nothing, and the others have the row"),
};

/* When a client moves to another node, its own UPDATE may have been received there but not carried out yet. */
const struct lb_expectation maria_flag_expected[LB_SCENARIOS] = {
    EXPECT_SQL_FLAG,
    [LB_SCENARIO_MULTI_PRIMARY] = SAFE(CERTIFIED),
    NODE_LOST(STUCK("an UPDATE that runs after its client gave up leaves the flag set")),
    [LB_SCENARIO_SPLIT] = STUCK("an UPDATE that runs after its client gave up leaves the flag set"),
};

const struct lb_expectation maria_optimistic_expected[LB_SCENARIOS] = {
    EXPECT_SQL_OPTIMISTIC,
    [LB_SCENARIO_MULTI_PRIMARY] = SAFE(CERTIFIED),
    NODE_LOST(SAFE("nothing is held, and " CERTIFIED)),
    [LB_SCENARIO_SPLIT] = SAFE("a node without a majority commits nothing"),
};

const struct lb_expectation maria_update_expected[LB_SCENARIOS] = {
    EXPECT_SQL_UPDATE,
    [LB_SCENARIO_MULTI_PRIMARY] = SAFE(CERTIFIED),
    NODE_LOST(SAFE("nothing is held, and " CERTIFIED)),
    [LB_SCENARIO_SPLIT] = SAFE("a node without a majority commits nothing"),
};
