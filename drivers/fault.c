/* fault: see fault.h. */
#include "drivers/fault.h"

#include <string.h>

#include "drivers/driver.h"

static const struct {
    const char *name, *summary;
} faults[LB_FAULTS] = {
    [LB_FAULT_NONE] = {"none", "nothing happens"},
    [LB_FAULT_PAUSE] = {"pause", "a holder stands still past its lease or session, then goes on"},
    [LB_FAULT_HOLDER_KILL] = {"holder-kill", "a holder is killed"},
    [LB_FAULT_WAITER_KILL] = {"waiter-kill", "a client is killed while it waits"},
    [LB_FAULT_STARVED] = {"starved-renewal", "a holder's renewals come too late"},
    [LB_FAULT_SERVER_PAUSE] = {"server-pause", "the server stands still for a while"},
    [LB_FAULT_SERVER_RESTART] = {"server-restart",
                                 "the server is killed and restarted with its data"},
    [LB_FAULT_SERVER_EMPTY] = {"server-empty",
                               "the server is killed and restarted without its data"},
    [LB_FAULT_LEADER_KILL] = {"leader-kill", "the leader of three is killed"},
    [LB_FAULT_PRIMARY_LOST] =
        {"primary-lost", "replication is cut, the primary dies, a replica is promoted by hand"},
    [LB_FAULT_SENTINEL] = {"sentinel-failover",
                           "replication is cut, the primary dies, Sentinel promotes"},
    [LB_FAULT_MINORITY_LOST] = {"minority-lost", "fewer than half of the servers die"},
    [LB_FAULT_MAJORITY_LOST] = {"majority-lost",
                                "more than half of the servers die, and come back"},
    [LB_FAULT_NODE_EMPTY] = {"node-empty", "one of several servers is restarted without its data"},
    [LB_FAULT_TERMINATED] = {"terminated", "the server ends a holder's connection"},
    [LB_FAULT_EVICTION] = {"eviction", "the server is filled until it throws keys away"},
    [LB_FAULT_CLOCK_FORWARD] = {"clock-forward", "the server's wall clock jumps a minute ahead"},
    [LB_FAULT_CLOCK_BACK] = {"clock-back", "the server's wall clock jumps a minute back"},
    [LB_FAULT_WIRE_DELAY] = {"wire-delay", "every byte comes later"},
    [LB_FAULT_WIRE_JITTER] = {"wire-jitter", "every byte comes later, by times that differ"},
    [LB_FAULT_WIRE_SLOW] = {"wire-slow", "few bytes a second pass"},
    [LB_FAULT_WIRE_CUT] = {"wire-cut",
                           "a holder's wire swallows everything for longer than its lease"},
    [LB_FAULT_WIRE_ONE_WAY] = {"wire-one-way", "a holder's requests arrive, the answers do not"},
    [LB_FAULT_WIRE_RESET] = {"wire-reset", "all connections are reset"},
    [LB_FAULT_WIRE_MIDWAY] = {"wire-midway", "a connection ends in the middle of an answer"},
    [LB_FAULT_LOST_REPLY] = {"lost-reply", "the answer to an acquire is lost"},
    [LB_FAULT_LOST_PUBLISH] = {"lost-publish", "the message that wakes a waiter is lost"},
};

const struct lb_expectation *lb_expected(const struct lb_lock *lock, enum lb_fault fault) {
    static const struct lb_expectation unstated;
    const struct lb_expectation *table = lock->expected ? lock->expected : lock->backend->expected;
    return table ? &table[fault] : &unstated;
}

const char *lb_fault_name(enum lb_fault fault) {
    return faults[fault].name;
}

const char *lb_fault_summary(enum lb_fault fault) {
    return faults[fault].summary;
}

enum lb_fault lb_fault_from(const char *name) {
    int fault = 0;
    while (fault < LB_FAULTS && strcmp(faults[fault].name, name) != 0) fault++;
    return (enum lb_fault)fault;
}

const char *lb_expect_name(enum lb_expect expect) {
    static const char *const names[] = {"unstated", "safe", "expired", "stuck", "violated"};
    return names[expect];
}
