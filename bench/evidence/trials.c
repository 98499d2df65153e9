/* trials: which grants a fault put to the test; see recovery.h. */
#include <string.h>

#include "bench/evidence/recovery.h"

#define FLIGHT_NS LB_MS_NS /* answers that a server may have sent just before it was hit */
/* In this time a waiter has asked the servers that are left, or a server that is back. */
#define ASKED_NS (100 * LB_MS_NS)

/* A fault and what happened. */
struct look {
    const struct aftermath *after;
    const struct fault_event *fault;
    uint32_t first,
        end; /* its victims, without the last; all clients where it hit none in particular */
    bool all;
    int64_t hit_ns;
    int64_t served_ns; /* from when on the servers are known to have answered; LB_NEVER = never */
};

/* Whether a server answered the release. Of a grant that it did not know any more the answer is OPLOG_LOST. */
static bool was_released(const struct hold *hold) {
    int unreleased = HOLD_GHOST | HOLD_OPEN | HOLD_DEAD | HOLD_CONTINUED | HOLD_LEARNED;
    return !(hold->flags & unreleased) && hold->ended == OPLOG_OK;
}

/* Whether clients may find no server that answers. A replica is promoted when the primary is gone, and answers some time
 * later. All other faults leave the servers where they are: a client whose connection was reset connects again. */
static bool takes_servers_away(const struct fault_event *fault) {
    bool cut = fault->kind == INJECT_WIRE_CUT && strcmp(fault->target, "replication") != 0;
    return cut || fault->kind == INJECT_SERVER_PAUSE || fault->kind == INJECT_SERVER_KILL ||
           fault->kind == INJECT_SERVER_EMPTY || fault->kind == INJECT_ISOLATE ||
           fault->kind == INJECT_PROMOTE;
}

/* When a server is known to answer after the fault: it said something, or it had been back for a while. */
static int64_t first_served_ns(const struct look *look) {
    const struct book *book = look->after->book;
    int64_t after_ns = look->hit_ns + FLIGHT_NS, first_ns = LB_NEVER;
    if (!takes_servers_away(look->fault)) return after_ns;
    if (look->fault->end_ns > 0) first_ns = look->fault->end_ns + ASKED_NS;
    for (size_t i = 0; i < book->hold_count; i++) {
        const struct hold *hold = &book->holds[i];
        bool granted = !(hold->flags & (HOLD_GHOST | HOLD_PIECE));
        if (granted && hold->from_ns > after_ns && hold->from_ns < first_ns)
            first_ns = hold->from_ns;
        if (was_released(hold) && hold->released_ns > after_ns && hold->released_ns < first_ns)
            first_ns = hold->released_ns;
    }
    for (size_t i = 0; i < book->try_count; i++) {
        const struct try *try = &book->tries[i];
        if (try->outcome == OPLOG_BUSY && try->called_ns > after_ns && try->returned_ns < first_ns)
            first_ns = try->returned_ns;
    }
    return first_ns;
}

/* How long the holder was inside, or would have been if it had not been told of its loss. */
static int64_t inside_until_ns(const struct look *look, const struct hold *hold) {
    int64_t meant_ns = lb_after(hold->from_ns, look->after->shared->plan->hold.mean_ns);
    return (hold->flags & HOLD_LEARNED) && meant_ns > hold->to_ns ? meant_ns : hold->to_ns;
}

/* Whether the release succeeded by the answer of a server that is there after the fault. A killed server is gone only
 * after a while: a release that was called before may have an answer of that server, sent a moment ago. */
static bool was_still_known(const struct look *look, const struct hold *hold) {
    int64_t least_ns = hold->to_ns > look->hit_ns ? FLIGHT_NS : ASKED_NS;
    return was_released(hold) && hold->released_ns > look->hit_ns + least_ns;
}

/* end: behind the key's last hold. */
static bool was_tested(const struct look *look, size_t nth, size_t end) {
    const struct hold *hold = hold_at(look->after, nth);
    const struct hit hit = {look->fault, look->first, look->end, nth, end, end};
    int64_t until_ns = inside_until_ns(look, hold), from_ns = look->hit_ns;
    if (look->fault->kind == INJECT_KILL) {
        until_ns = LB_NEVER;
    } else if (look->all) {
        if (was_still_known(look, hold)) return true;
        from_ns = look->served_ns;
        /* servers that are left alone, and must refuse */
        bool alone =
            look->fault->kind == INJECT_ISOLATE || strcmp(look->fault->target, "majority") == 0;
        if (alone && look->hit_ns + ASKED_NS < from_ns) from_ns = look->hit_ns + ASKED_NS;
    }
    return from_ns < until_ns && asked_ns(look->after, &hit, until_ns) > from_ns;
}

static void count_held(const struct look *look, struct fault_event *fault) {
    size_t count = look->after->book->hold_count, end = 0;
    fault->held = fault->tested = 0;
    fault->outlasted = fault->end_ns ? 0 : -1;
    for (size_t i = 0; i < count; i++) {
        const struct hold *hold = hold_at(look->after, i);
        if (i == end) end = key_end(look->after, i);
        bool victim = hold->client >= look->first && hold->client < look->end;
        if (!victim || (hold->flags & HOLD_GHOST) || !fault_hits_hold(fault, hold)) continue;
        fault->held++;
        /* One without a lease lasts: no clock ends it. */
        bool lasts = hold->lease_end_ns == LB_NEVER ||
                     (hold->to_ns > fault->end_ns && hold->lease_end_ns > fault->end_ns);
        fault->outlasted += fault->end_ns && lasts;
        fault->tested += was_tested(look, i, end);
    }
}

void fault_trials_count(const struct aftermath *after) {
    for (int i = 0; i < after->faults->count; i++) {
        struct fault_event *fault = &after->faults->events[i];
        struct look look = {
            .after = after, .fault = fault, .end = (uint32_t)after->shared->clients};
        look.all = !fault_victims(fault, after->shared, &look.first, &look.end);
        look.hit_ns = fault->gone_ns > 0 ? fault->gone_ns : fault->begin_ns;
        look.served_ns = look.all ? first_served_ns(&look) : LB_NEVER;
        count_held(&look, fault);
    }
}
