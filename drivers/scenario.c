/* scenario: see scenario.h. */
#include "drivers/scenario.h"

#include <string.h>

#include "bench/base/check_verdict.h"

static const struct {
    const char *name, *summary;
} scenarios[LB_SCENARIOS] = {
    [LB_SCENARIO_NONE] = {"none", "nothing happens"},
    [LB_SCENARIO_POOLED] =
        {"pooled", "nothing happens; a pooler gives out sessions of the server by transaction"},
    [LB_SCENARIO_MULTI_PRIMARY] =
        {"multi-primary", "nothing happens; clients are spread over all nodes of one cluster"},
    [LB_SCENARIO_PAUSE] =
        {"pause", "a holder is stopped for longer than its lease or session, then continues"},
    [LB_SCENARIO_HOLDER_KILL] = {"holder-kill", "a holder is killed"},
    [LB_SCENARIO_WAITER_KILL] = {"waiter-kill", "a client is killed while it waits"},
    [LB_SCENARIO_STARVED] = {"starved-renewal", "a holder's renewals are sent too late"},
    [LB_SCENARIO_CLIENT_CLOCK] = {"client-clock",
                                  "one client's wall clock is an hour ahead of the others'"},
    [LB_SCENARIO_SERVER_PAUSE] = {"server-pause", "the server is stopped for a while"},
    [LB_SCENARIO_SERVER_RESTART] = {"server-restart",
                                    "the server is killed and restarted with its data"},
    [LB_SCENARIO_SERVER_EMPTY] = {"server-empty",
                                  "the server is killed and restarted without its data"},
    [LB_SCENARIO_LEADER_KILL] = {"leader-kill", "the leader of three servers is killed"},
    [LB_SCENARIO_PRIMARY_LOST] =
        {"primary-lost", "replication is cut, the primary dies, the check promotes a replica"},
    [LB_SCENARIO_STANDBY_BEHIND] =
        {"standby-behind", "the primary dies, the check promotes a standby that is behind"},
    [LB_SCENARIO_SENTINEL] = {"sentinel-failover",
                              "replication is cut, the primary dies, Sentinel promotes"},
    [LB_SCENARIO_CLUSTER] = {"cluster-failover",
                             "replication is cut, a primary dies, the Redis Cluster promotes"},
    [LB_SCENARIO_MINORITY_LOST] = {"minority-lost", "fewer than half of the servers die"},
    [LB_SCENARIO_MAJORITY_LOST] = {"majority-lost",
                                   "more than half of the servers die, and come back"},
    [LB_SCENARIO_SPLIT] = {"split", "the server that clients use loses the others of its cluster"},
    [LB_SCENARIO_NODE_EMPTY] = {"node-empty",
                                "one of several servers is restarted without its data"},
    [LB_SCENARIO_TERMINATED] = {"terminated", "the server ends a holder's connection"},
    [LB_SCENARIO_EVICTION] = {"eviction", "the server is filled until it evicts keys"},
    [LB_SCENARIO_CLOCK_FORWARD] = {"clock-forward",
                                   "the server's wall clock jumps one minute forward"},
    [LB_SCENARIO_CLOCK_BACK] = {"clock-back", "the server's wall clock jumps one minute back"},
    [LB_SCENARIO_WIRE_DELAY] = {"wire-delay", "every byte is delayed"},
    [LB_SCENARIO_WIRE_JITTER] = {"wire-jitter", "every byte is delayed, by varying times"},
    [LB_SCENARIO_WIRE_SLOW] = {"wire-slow", "only few bytes a second pass"},
    [LB_SCENARIO_WIRE_CUT] = {"wire-cut",
                              "a holder's connection drops everything for longer than its lease"},
    [LB_SCENARIO_WIRE_ONE_WAY] = {"wire-one-way",
                                  "a holder's requests arrive, but the answers are dropped"},
    [LB_SCENARIO_WIRE_RESET] = {"wire-reset", "all connections are reset"},
    [LB_SCENARIO_WIRE_MIDWAY] = {"wire-midway", "a connection ends in the middle of an answer"},
    [LB_SCENARIO_LOST_REPLY] = {"lost-reply", "the answer to an acquire is lost"},
    [LB_SCENARIO_LOST_PUBLISH] = {"lost-publish", "the message that wakes a waiter is lost"},
};

bool lb_scenario_injects(enum lb_scenario scenario) {
    return scenario != LB_SCENARIO_NONE && scenario != LB_SCENARIO_POOLED &&
           scenario != LB_SCENARIO_MULTI_PRIMARY;
}

const char *lb_scenario_name(enum lb_scenario scenario) {
    return scenarios[scenario].name;
}

const char *lb_scenario_summary(enum lb_scenario scenario) {
    return scenarios[scenario].summary;
}

enum lb_scenario lb_scenario_from(const char *name) {
    int scenario = 0;
    while (scenario < LB_SCENARIOS && strcmp(scenarios[scenario].name, name) != 0) scenario++;
    return (enum lb_scenario)scenario;
}

const char *lb_expect_name(enum lb_expect expect) {
    static const enum check_verdict verdicts[] = {[LB_EXPECT_SAFE] = CHECK_SAFE,
                                                  [LB_EXPECT_EXPIRED] = CHECK_EXPIRED,
                                                  [LB_EXPECT_STUCK] = CHECK_STUCK,
                                                  [LB_EXPECT_VIOLATED] = CHECK_VIOLATED};
    return expect == LB_EXPECT_UNSTATED ? "unstated" : check_verdict_name(verdicts[expect]);
}
