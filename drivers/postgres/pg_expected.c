/* pg_expected: what PostgreSQL's locks do under each fault. See drivers/expect.h. */
#include "drivers/expect.h"
#include "drivers/postgres/backend.h"

#define POOLED_TRANSACTION                                                                         \
    [LB_SCENARIO_POOLED] = SAFE("a transaction keeps its server session until it ends")

/* Of a key that nobody gets any more it is known soon where holds and leases are short. */
#define SHORT_HOLDS "load.hold=300ms", "acquire.lease=2s"

/* primary-lost promotes the synchronous standby, standby-behind the asynchronous one, which is behind; minority-lost
 * kills one of the three servers, and nobody promotes. Sessions live in the memory of the server that died. */
#define STANDBYS_SESSION                                                                           \
    [LB_SCENARIO_PRIMARY_LOST] = EXPIRED(NO_SESSION),                                              \
    [LB_SCENARIO_STANDBY_BEHIND] = EXPIRED(NO_SESSION),                                            \
    [LB_SCENARIO_MINORITY_LOST] = STUCK_WITH(                                                      \
        "without the primary nothing is granted until a standby is promoted", SHORT_HOLDS)
#define NO_SESSION "no standby has its session, and a holder that makes no request does not notice"

#define STANDBYS_ROW                                                                               \
    [LB_SCENARIO_STANDBY_BEHIND] = VIOLATED("the promoted standby has never had the row"),         \
    [LB_SCENARIO_MINORITY_LOST] = STUCK_WITH(NO_COMMIT, SHORT_HOLDS)
#define HAS_ROW "the synchronous standby has the row before the answer"
/* While replication is cut no commit returns, so nobody is granted a row: who holds at the promotion must hold since
 * before the cut. */
#define STANDBYS_HELD_ROW                                                                          \
    [LB_SCENARIO_PRIMARY_LOST] = SAFE_WITH(HAS_ROW, "load.hold=8s", "acquire.lease=10s"),          \
    STANDBYS_ROW
#define NO_COMMIT                                                                                  \
    "a commit waits for the synchronous standby, and without the primary there is none"

#define TOKEN_AGAIN "its session ends unnoticed; the standby may give out its token once more"

/* pg-row, pg-nowait. One log record covers 33 tokens; it is not yet on disk while the first of them
 * is held. */
const struct lb_expectation pg_row_expected[LB_SCENARIOS] = {
    EXPECT_CONNECTION_CLIENTS,
    EXPECT_CONNECTION_WIRES,
    [LB_SCENARIO_SERVER_PAUSE] = SAFE("nothing ends by time"),
    [LB_SCENARIO_SERVER_RESTART] = RESTART_TOKEN_AGAIN,
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("its session ends, and tokens start at one again"),
    [LB_SCENARIO_TERMINATED] =
        EXPIRED("its session ends, and a holder that makes no request does not notice"),
    POOLED_TRANSACTION,
    [LB_SCENARIO_PRIMARY_LOST] = VIOLATED(TOKEN_AGAIN),
    [LB_SCENARIO_STANDBY_BEHIND] = VIOLATED(TOKEN_AGAIN),
    [LB_SCENARIO_MINORITY_LOST] = STUCK_WITH(NO_COMMIT, SHORT_HOLDS),
};

const struct lb_expectation pg_advisory_expected[LB_SCENARIOS] = {
    EXPECT_SQL_SESSION,
    [LB_SCENARIO_POOLED] = VIOLATED(
        "the lock stays with a session of the server, which the pooler gives to other clients"),
    STANDBYS_SESSION,
};

const struct lb_expectation pg_advisory_xact_expected[LB_SCENARIOS] = {
    EXPECT_SQL_SESSION,
    POOLED_TRANSACTION,
    STANDBYS_SESSION,
};

const struct lb_expectation pg_lease_expected[LB_SCENARIOS] = {
    EXPECT_SQL_LEASE,
    [LB_SCENARIO_POOLED] = SAFE("a row belongs to its owner's name, over any session"),
    STANDBYS_HELD_ROW,
};

const struct lb_expectation pg_flag_expected[LB_SCENARIOS] = {
    EXPECT_SQL_FLAG,
    [LB_SCENARIO_POOLED] = SAFE("a row belongs to its owner's name, over any session"),
    STANDBYS_HELD_ROW,
};

const struct lb_expectation pg_optimistic_expected[LB_SCENARIOS] = {
    EXPECT_SQL_OPTIMISTIC,
    [LB_SCENARIO_POOLED] = SAFE("each write is one statement"),
    [LB_SCENARIO_PRIMARY_LOST] = SAFE(HAS_ROW),
    STANDBYS_ROW,
};

const struct lb_expectation pg_update_expected[LB_SCENARIOS] = {
    EXPECT_SQL_UPDATE,
    [LB_SCENARIO_POOLED] = SAFE("each update is one statement"),
    [LB_SCENARIO_PRIMARY_LOST] = SAFE(HAS_ROW),
    STANDBYS_ROW,
};

#define NUMBER_AGAIN                                                                               \
    "of 33 numbers one waits for the log; the others, answered before, may be given once more"

const struct lb_expectation pg_sequence_expected[LB_SCENARIOS] = {
    EXPECT_ATOMIC,
    [LB_SCENARIO_SERVER_RESTART] = VIOLATED(NUMBER_AGAIN),
    [LB_SCENARIO_SERVER_EMPTY] = VIOLATED("the sequence is gone, and its numbers start again"),
    [LB_SCENARIO_POOLED] =
        SAFE("each number is one statement, and no session keeps numbers for later"),
    [LB_SCENARIO_PRIMARY_LOST] = VIOLATED(NUMBER_AGAIN),
    [LB_SCENARIO_STANDBY_BEHIND] =
        VIOLATED("the promoted standby does not know of the last numbers"),
    [LB_SCENARIO_MINORITY_LOST] = STUCK(
        "one number of 33 waits for the synchronous standby; without the primary there is none"),
};

const struct lb_expectation pg_unsafe_owner_expected[LB_SCENARIOS] = {
    EXPECT_OF_CONTROL(VIOLATED("two clients of one host count as one owner")),
};

const struct lb_expectation pg_unsafe_version_expected[LB_SCENARIOS] = {
    EXPECT_OF_CONTROL(VIOLATED("no write is ever refused")),
};

#define COMES_BACK "a value that was changed and changed back looks untouched"

const struct lb_expectation pg_unsafe_aba_expected[LB_SCENARIOS] = {
    EXPECT_OF_CONTROL(VIOLATED(COMES_BACK)),
};
