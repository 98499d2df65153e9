/* outage: see recovery.h. Each key is walked from its last grant to its first one. Between the end of the hold before
 * and the next grant the key is free, and it is asked for from the earliest call on among the attempts that had
 * not ended when it became free. */
#include <stdlib.h>
#include <string.h>

#include "bench/base/sort.h"
#include "bench/evidence/recovery.h"
#include "bench/oplog/order.h"

#define SHORT_NS LB_MS_NS /* of a shorter hold it does not matter when its holder stood still */

struct walk {
    const struct book *book;
    const uint32_t *by_from, *by_returned; /* holds, tries; by key and time */
    int64_t *free_ns; /* by the place of a hold: when all holds of the key up to it had ended */
    const int64_t *grants_ns; /* of all keys, sorted */
    size_t grant_count;
    int64_t from_ns, longest_ns;
};

static const struct hold *outage_hold_at(const struct walk *walk, size_t place) {
    return &walk->book->holds[walk->by_from[place]];
}

static const struct try *try_at(const struct walk *walk, size_t place) {
    return &walk->book->tries[walk->by_returned[place]];
}

/* The key of a try in the form that holds have. A try for a slot asks for any slot of its key: slot 0 stands for all. */
static uint32_t key_of_try(const struct walk *walk, size_t place) {
    const struct oplog_rules *rules = &walk->book->rules;
    return try_at(walk, place)->key * (rules->by_slot ? rules->bound : 1);
}

static int64_t end_of(const struct walk *walk, const struct hold *hold) {
    const struct book *book = walk->book;
    if (hold->flags & HOLD_GHOST) return 0; /* perhaps nobody holds it */
    if (book->rules.model == OPLOG_SEMAPHORE && !book->rules.by_slot) return hold->from_ns;
    int64_t end_ns = hold->inside_ns < hold->to_ns ? hold->inside_ns : hold->to_ns;
    if (end_ns - hold->from_ns < SHORT_NS) return end_ns;
    for (size_t i = 0; i < book->mishap_count; i++) {
        const struct mishap *mishap = &book->mishaps[i];
        bool mine = mishap->kind == OPLOG_STALL && hold->client - mishap->first < mishap->count;
        if (mine && mishap->end_ns > hold->from_ns && mishap->begin_ns < end_ns)
            end_ns = mishap->begin_ns;
    }
    return end_ns;
}

static void note_free_times(struct walk *walk) {
    for (size_t i = 0; i < walk->book->hold_count; i++) {
        bool first = i == 0 || outage_hold_at(walk, i)->key != outage_hold_at(walk, i - 1)->key;
        int64_t before_ns = first ? 0 : walk->free_ns[i - 1],
                end_ns = end_of(walk, outage_hold_at(walk, i));
        walk->free_ns[i] = end_ns > before_ns ? end_ns : before_ns;
    }
}

/* A key was free and asked for in that time: the longest part of it without a grant of any key. */
static void note_free(struct walk *walk, int64_t begin_ns, int64_t end_ns) {
    if (begin_ns < walk->from_ns) begin_ns = walk->from_ns;
    if (end_ns > walk->book->rules.end_ns) end_ns = walk->book->rules.end_ns;
    if (end_ns - begin_ns <= walk->longest_ns) return;
    size_t next = later_than(walk->grants_ns, walk->grant_count, begin_ns);
    for (; begin_ns < end_ns; next++) {
        bool granted = next < walk->grant_count && walk->grants_ns[next] < end_ns;
        int64_t until_ns = granted ? walk->grants_ns[next] : end_ns;
        if (until_ns - begin_ns > walk->longest_ns) walk->longest_ns = until_ns - begin_ns;
        begin_ns = until_ns;
    }
}

/* The holds and tries of one key: places begin to end - 1 of each. */
static void walk_key(struct walk *walk, size_t hold_begin, size_t hold_end, size_t try_begin,
                     size_t try_end) {
    int64_t asked_ns = LB_NEVER, until_ns = LB_NEVER;
    for (size_t i = hold_end;; i--) {
        int64_t free_ns = i > hold_begin ? walk->free_ns[i - 1] : 0;
        for (; try_end > try_begin && try_at(walk, try_end - 1)->returned_ns > free_ns; try_end--) {
            int64_t called_ns = try_at(walk, try_end - 1)->called_ns;
            if (called_ns < asked_ns) asked_ns = called_ns;
        }
        note_free(walk, asked_ns > free_ns ? asked_ns : free_ns, until_ns);
        if (i == hold_begin) return;
        const struct hold *hold = outage_hold_at(walk, i - 1);
        if (!(hold->flags & HOLD_PIECE) && hold->called_ns < asked_ns) asked_ns = hold->called_ns;
        if (!(hold->flags & HOLD_GHOST)) until_ns = hold->from_ns;
    }
}

static void walk_keys(struct walk *walk) {
    size_t holds = walk->book->hold_count, tries = walk->book->try_count, h = 0, t = 0;
    while (h < holds || t < tries) {
        uint32_t of_hold = h < holds ? outage_hold_at(walk, h)->key : UINT32_MAX;
        uint32_t of_try = t < tries ? key_of_try(walk, t) : UINT32_MAX;
        uint32_t key = of_hold < of_try ? of_hold : of_try;
        size_t hold_begin = h, try_begin = t;
        while (h < holds && outage_hold_at(walk, h)->key == key) h++;
        while (t < tries && key_of_try(walk, t) == key) t++;
        walk_key(walk, hold_begin, h, try_begin, t);
    }
}

int outage_longest(const struct book *book, const uint32_t *order, const int64_t *grants_ns,
                   size_t grant_count, int64_t from_ns, int64_t *ret_ns, struct lb_err *err) {
    int failed = -1;
    uint32_t *by_returned = order_tries_returned(book, err);
    struct walk walk = {book, order, by_returned, NULL, grants_ns, grant_count, from_ns, 0};
    if (!by_returned) return -1;
    walk.free_ns = malloc((book->hold_count + 1) * sizeof *walk.free_ns);
    if (walk.free_ns) {
        note_free_times(&walk);
        walk_keys(&walk);
        *ret_ns = walk.longest_ns;
        failed = 0;
    } else {
        err_set(err, LB_EXIT_MACHINE, "out of memory for the longest time without a grant");
    }
    free(by_returned);
    free(walk.free_ns);
    return failed;
}

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

static const struct hold *fault_trial_hold_at(const struct look *look, size_t place) {
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
        const struct hold *other = fault_trial_hold_at(look, i);
        if ((other->flags & HOLD_PIECE) || other->client == hold->client) continue;
        if (!died(look, other->client) && holds_exclude(look->book, hold, other) &&
            overlaps(other->called_ns, other->from_ns, from_ns, until_ns))
            return true;
    }
    uint32_t key = rules->by_slot ? hold->key / rules->bound : hold->key; /* tries name no slot */
    for (size_t i = order_first_try(look->book, look->tries, key + 1); i-- > 0;) {
        const struct try *try = &look->book->tries[look->tries[i]];
        if (try->key != key || try->returned_ns <= from_ns) return false;
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
        for (end = begin; end < count && fault_trial_hold_at(look, end)->key ==
                                             fault_trial_hold_at(look, begin)->key;)
            end++;
        for (size_t i = begin; i < end; i++) {
            const struct hold *hold = fault_trial_hold_at(look, i);
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
