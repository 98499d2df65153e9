/* outage: see outage.h. Each key is walked from its last grant to its first one. Between the end of the hold before
 * and the next grant the key is free, and it is asked for from the earliest call on among the attempts that had
 * not ended when it became free. */
#include "bench/run/outage.h"

#include <stdlib.h>

#include "bench/base/sort.h"
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

static const struct hold *hold_at(const struct walk *walk, size_t place) {
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
        bool first = i == 0 || hold_at(walk, i)->key != hold_at(walk, i - 1)->key;
        int64_t before_ns = first ? 0 : walk->free_ns[i - 1],
                end_ns = end_of(walk, hold_at(walk, i));
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
        const struct hold *hold = hold_at(walk, i - 1);
        if (!(hold->flags & HOLD_PIECE) && hold->called_ns < asked_ns) asked_ns = hold->called_ns;
        if (!(hold->flags & HOLD_GHOST)) until_ns = hold->from_ns;
    }
}

static void walk_keys(struct walk *walk) {
    size_t holds = walk->book->hold_count, tries = walk->book->try_count, h = 0, t = 0;
    while (h < holds || t < tries) {
        uint32_t of_hold = h < holds ? hold_at(walk, h)->key : UINT32_MAX;
        uint32_t of_try = t < tries ? key_of_try(walk, t) : UINT32_MAX;
        uint32_t key = of_hold < of_try ? of_hold : of_try;
        size_t hold_begin = h, try_begin = t;
        while (h < holds && hold_at(walk, h)->key == key) h++;
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
