/* trials: which grants a fault put to the test; see recovery.h. */
#include <stdlib.h>
#include <string.h>

#include "bench/evidence/recovery.h"
#include "bench/oplog/order.h"

#define FLIGHT_NS LB_MS_NS /* answers that a server may have sent just before it was hit */
/* In this time a waiter has asked the servers that are left, or a server that is back. */
#define ASKED_NS (100 * LB_MS_NS)

/* A fault and what happened. */
struct look {
    const struct book *book;
    const uint32_t *order, *tries; /* holds by key and begin; tries by key and return */
    const struct shared *shared;
    const struct fault_event *fault;
    uint32_t first,
        end; /* its victims, without the last; all clients where it hit none in particular */
    bool all;
    int64_t hit_ns;
    int64_t served_ns; /* from when on the servers are known to have answered; LB_NEVER = never */
};

static const struct hold *hold_at(const struct look *look, size_t place) {
    return &look->book->holds[look->order[place]];
}

/* Whether the hold lasted until the fault's end. One without a lease counts: no clock ends it. */
static bool outlasts(const struct hold *hold, const struct fault_event *fault) {
    if (hold->lease_end_ns == LB_NEVER) return true;
    return hold->to_ns > fault->end_ns && hold->lease_end_ns > fault->end_ns;
}

/* Whether a server answered the release. Of a grant that it did not know any more the answer is OPLOG_LOST. */
static bool release_was(const struct hold *hold, enum oplog_outcome outcome) {
    int unreleased = HOLD_GHOST | HOLD_OPEN | HOLD_DEAD | HOLD_CONTINUED | HOLD_LEARNED;
    return !(hold->flags & unreleased) && hold->ended == outcome;
}

/* Servers that are left alone, and must refuse. */
static bool leaves_some_alone(const struct fault_event *fault) {
    return fault->kind == INJECT_ISOLATE || strcmp(fault->target, "majority") == 0;
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
    const struct book *book = look->book;
    int64_t after_ns = look->hit_ns + FLIGHT_NS, first_ns = LB_NEVER;
    if (!takes_servers_away(look->fault)) return after_ns;
    if (look->fault->end_ns > 0) first_ns = look->fault->end_ns + ASKED_NS;
    for (size_t i = 0; i < book->hold_count; i++) {
        const struct hold *hold = &book->holds[i];
        bool granted = !(hold->flags & (HOLD_GHOST | HOLD_PIECE));
        if (granted && hold->from_ns > after_ns && hold->from_ns < first_ns)
            first_ns = hold->from_ns;
        if (release_was(hold, OPLOG_OK) && hold->released_ns > after_ns &&
            hold->released_ns < first_ns)
            first_ns = hold->released_ns;
    }
    for (size_t i = 0; i < book->try_count; i++) {
        const struct try *try = &book->tries[i];
        if (try->outcome == OPLOG_BUSY && try->called_ns > after_ns && try->returned_ns < first_ns)
            first_ns = try->returned_ns;
    }
    return first_ns;
}

static bool overlaps(int64_t called_ns, int64_t returned_ns, int64_t from_ns, int64_t until_ns) {
    return called_ns < until_ns && returned_ns > from_ns;
}

/* A killed client asks no more, though its request may be recorded until the end. */
static bool died(const struct look *look, uint32_t client) {
    return look->fault->kind == INJECT_KILL && client >= look->first && client < look->end;
}

/* Whether a client that the hold keeps out asked for the key in that time. begin, end: the key's holds. */
static bool was_asked_for(const struct look *look, const struct hold *hold, size_t begin,
                          size_t end, int64_t from_ns, int64_t until_ns) {
    const struct oplog_rules *rules = &look->book->rules;
    for (size_t i = begin; i < end; i++) {
        const struct hold *other = hold_at(look, i);
        if ((other->flags & HOLD_PIECE) || other->client == hold->client) continue;
        if (!died(look, other->client) && holds_exclude(look->book, hold, other) &&
            overlaps(other->called_ns, other->from_ns, from_ns, until_ns))
            return true;
    }
    for (size_t i = order_first_try(look->book, look->tries, hold->key + 1); i-- > 0;) {
        const struct try *try = &look->book->tries[look->tries[i]];
        if (try->key != hold->key || try->returned_ns <= from_ns) return false;
        bool readers = rules->model == OPLOG_RWLOCK && (hold->flags & HOLD_SHARED) && try->shared;
        if (try->client != hold->client && !died(look, try->client) && !readers &&
            try->called_ns < until_ns)
            return true;
    }
    return false;
}

/* How long the holder was inside, or would have been if it had not been told of its loss. */
static int64_t inside_until_ns(const struct look *look, const struct hold *hold) {
    int64_t meant_ns = lb_after(hold->from_ns, look->shared->plan->hold.mean_ns);
    return (hold->flags & HOLD_LEARNED) && meant_ns > hold->to_ns ? meant_ns : hold->to_ns;
}

/* Whether the release succeeded by the answer of a server that is there after the fault. A killed server is gone only
 * after a while: a release that was called before may have an answer of that server, sent a moment ago. */
static bool was_still_known(const struct look *look, const struct hold *hold) {
    int64_t least_ns = hold->to_ns > look->hit_ns ? FLIGHT_NS : ASKED_NS;
    return release_was(hold, OPLOG_OK) && hold->released_ns > look->hit_ns + least_ns;
}

static bool was_tested(const struct look *look, const struct hold *hold, size_t begin, size_t end) {
    int64_t until_ns = inside_until_ns(look, hold), from_ns = look->hit_ns;
    if (look->fault->kind == INJECT_KILL) {
        until_ns = LB_NEVER;
    } else if (look->all) {
        if (was_still_known(look, hold)) return true;
        from_ns = look->served_ns;
        if (leaves_some_alone(look->fault) && look->hit_ns + ASKED_NS < from_ns)
            from_ns = look->hit_ns + ASKED_NS;
    }
    return from_ns < until_ns && was_asked_for(look, hold, begin, end, from_ns, until_ns);
}

static void count_held(const struct look *look, struct fault_event *fault) {
    size_t count = look->book->hold_count;
    fault->held = fault->tested = 0;
    fault->outlasted = fault->end_ns ? 0 : -1;
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && hold_at(look, end)->key == hold_at(look, begin)->key;)
            end++;
        for (size_t i = begin; i < end; i++) {
            const struct hold *hold = hold_at(look, i);
            bool victim = hold->client >= look->first && hold->client < look->end;
            if (!victim || (hold->flags & HOLD_GHOST) || !fault_met_hold(fault, hold)) continue;
            fault->held++;
            fault->outlasted += fault->end_ns && outlasts(hold, fault);
            fault->tested += was_tested(look, hold, begin, end);
        }
    }
}

int fault_trials_count(struct fault_log *log, const struct book *book, const uint32_t *order,
                       const struct shared *shared, struct lb_err *err) {
    if (log->count == 0) return 0;
    uint32_t *tries = order_tries_returned(book, err);
    if (!tries) return -1;
    for (int i = 0; i < log->count; i++) {
        struct fault_event *fault = &log->events[i];
        struct look look = {.book = book,
                            .order = order,
                            .tries = tries,
                            .shared = shared,
                            .fault = fault,
                            .end = (uint32_t)shared->clients};
        look.all = !fault_victims(fault, shared, &look.first, &look.end);
        look.hit_ns = fault->gone_ns > 0 ? fault->gone_ns : fault->begin_ns;
        look.served_ns = look.all ? first_served_ns(&look) : LB_NEVER;
        count_held(&look, fault);
    }
    free(tries);
    return 0;
}
