/* recovery: see recovery.h. */
#include "bench/evidence/recovery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/sort.h"

#define FLIGHT_NS LB_MS_NS /* answers that a server may have sent just before it was hit */
/* A grant that came sooner after its request came at once. Before such a grant a key may have been free for as long as
 * nobody asked for it: if that is longer, and more than this part of the time since the fault, the grant tells no time. */
#define AT_ONCE_NS (100 * LB_MS_NS)
#define UNASKED_PART 0.1

static int note_ns(const struct aftermath *after, struct times *times, int64_t value_ns) {
    if (times->count == times->room) {
        int wanted = times->room ? times->room * 2 : 64;
        int64_t *grown = realloc(times->ns, (size_t)wanted * sizeof *grown);
        if (!grown)
            return err_set(after->err, LB_EXIT_MACHINE, "out of memory for times of recovery");
        times->ns = grown;
        times->room = wanted;
    }
    times->ns[times->count++] = value_ns > 0 ? value_ns : 0;
    return 0;
}

static int note_trial(const struct aftermath *after, const struct fault_event *fault, int64_t ns) {
    if (fault->kind == INJECT_KILL && note_ns(after, &after->recovery->crashes, ns) != 0) return -1;
    return note_ns(after, &after->recovery->trials, ns);
}

bool fault_victims(const struct fault_event *fault, const struct shared *shared,
                   uint32_t *ret_first, uint32_t *ret_end) {
    if (fault->process < 0 || fault->process >= shared->processes) return false;
    *ret_first = workers_clients(shared, fault->process, ret_end);
    return true;
}

bool fault_hits_hold(const struct fault_event *fault, const struct hold *hold) {
    return hold->from_ns <= fault->begin_ns &&
           (hold->to_ns > fault->begin_ns ||
            ((hold->flags & HOLD_DEAD) && fault->kind == INJECT_KILL));
}

/* Whether an injection takes service away from all clients for a time. */
static bool stops_all(const struct aftermath *after, const struct fault_event *fault) {
    uint32_t first, end;
    if (fault_victims(fault, after->shared, &first, &end)) return false;
    if (!fault->acted || strcmp(fault->target, "replication") == 0) return false;
    return injections[fault->kind].properties & INJECTION_STOPS;
}

static bool is_grant(const struct hold *hold) {
    return !(hold->flags & (HOLD_GHOST | HOLD_PIECE));
}

/* Whether the two holds of one key may not overlap. */
static bool holds_exclude(const struct book *book, const struct hold *a, const struct hold *b) {
    if (book->rules.model != OPLOG_RWLOCK) return true;
    return !(a->flags & HOLD_SHARED) || !(b->flags & HOLD_SHARED);
}

size_t key_end(const struct aftermath *after, size_t begin) {
    size_t end = begin + 1;
    while (end < after->book->hold_count && hold_at(after, end)->key == hold_at(after, begin)->key)
        end++;
    return end;
}

/* The first grant after that time to another client that the hold kept out; end if there is none. *ret_shared: another
 * reader was granted the key before that, so the key was in use: nobody whom the hold kept out may have asked. */
static size_t next_grant(const struct aftermath *after, size_t nth, size_t end, int64_t after_ns,
                         bool *ret_shared) {
    const struct hold *hold = hold_at(after, nth);
    *ret_shared = false;
    size_t next = nth + 1;
    for (; next < end; next++) {
        const struct hold *other = hold_at(after, next);
        if (other->from_ns <= after_ns || !is_grant(other) || other->client == hold->client)
            continue;
        if (holds_exclude(after->book, hold, other)) break;
        *ret_shared = true;
    }
    return next;
}

/* Whether a request of the client does not count: it is the holder, or died with the holder while it waited. */
static bool is_out(const struct hit *hit, const struct hold *holder, uint32_t client) {
    bool died = hit->fault->kind == INJECT_KILL && client >= hit->first && client < hit->last;
    return died || client == holder->client;
}

/* Somebody asked from called_ns to ended_ns: raises the latest time by until_ns at which somebody is known to have
 * asked. */
static void note_asked(int64_t *latest_ns, int64_t called_ns, int64_t ended_ns, int64_t until_ns) {
    int64_t asked_ns = ended_ns < until_ns ? ended_ns : until_ns;
    if (called_ns < until_ns && asked_ns > *latest_ns) *latest_ns = asked_ns;
}

int64_t asked_ns(const struct aftermath *after, const struct hit *hit, int64_t until_ns) {
    const struct hold *hold = hold_at(after, hit->nth);
    const struct book *book = after->book;
    int64_t latest_ns = hit->fault->begin_ns;
    for (size_t i = hit->nth + 1; i < hit->end; i++) {
        const struct hold *other = hold_at(after, i);
        if (i == hit->next || (other->flags & HOLD_PIECE) || is_out(hit, hold, other->client))
            continue;
        if (holds_exclude(book, hold, other))
            note_asked(&latest_ns, other->called_ns, other->from_ns, until_ns);
    }
    for (size_t i = order_first_try(book, after->tries, hold->key + 1); i-- > 0;) {
        const struct try *try = &book->tries[after->tries[i]];
        if (try->key != hold->key || try->returned_ns <= hit->fault->begin_ns) break;
        bool readers =
            book->rules.model == OPLOG_RWLOCK && (hold->flags & HOLD_SHARED) && try->shared;
        if (!is_out(hit, hold, try->client) && !readers)
            note_asked(&latest_ns, try->called_ns, try->returned_ns, until_ns);
    }
    return latest_ns;
}

/* Whether the key may have been free for long when it was granted. */
static bool may_have_lain_free(const struct aftermath *after, const struct hit *hit,
                               int64_t took_ns) {
    const struct hold *next = hold_at(after, hit->next);
    if (next->from_ns - next->called_ns > AT_ONCE_NS) return false;
    int64_t nobody_ns = next->called_ns - asked_ns(after, hit, next->called_ns);
    return nobody_ns > AT_ONCE_NS && (double)nobody_ns > UNASKED_PART * (double)took_ns;
}

static int note_granted(const struct aftermath *after, const struct hit *hit) {
    int64_t took_ns = hold_at(after, hit->next)->from_ns - hit->fault->begin_ns;
    if (!may_have_lain_free(after, hit, took_ns)) return note_trial(after, hit->fault, took_ns);
    after->recovery->unasked++;
    return 0;
}

/* Measures the time from an injection until another client was granted the key that the victim held.
 * For semaphores with counted permits it can't be known which permit the next grant is. */
static int key_trials(const struct aftermath *after, size_t nth, size_t end) {
    const struct hold *hold = hold_at(after, nth);
    for (int i = 0; i < after->faults->count; i++) {
        const struct fault_event *fault = &after->faults->events[i];
        if (!fault->acted) continue;
        uint32_t first, last;
        if (!fault_hits_hold(fault, hold) || !fault_victims(fault, after->shared, &first, &last))
            continue;
        if (hold->client < first || hold->client >= last) continue;
        bool shared;
        size_t next = next_grant(after, nth, end, fault->begin_ns, &shared);
        const struct hit hit = {fault, first, last, nth, next, end};
        if (next < end) {
            if (note_granted(after, &hit) != 0) return -1;
        } else if (!shared && asked_ns(after, &hit, LB_NEVER) > fault->begin_ns) {
            after->recovery->unrecovered++;
        }
    }
    return 0;
}

/* The times of all grants of all keys, sorted. NULL with err when out of memory. */
static int64_t *grant_times(const struct aftermath *after, size_t *ret_count) {
    int64_t *times = malloc((after->book->hold_count + 1) * sizeof *times);
    *ret_count = 0;
    if (!times) {
        err_set(after->err, LB_EXIT_MACHINE, "out of memory for times of recovery");
        return NULL;
    }
    for (size_t i = 0; i < after->book->hold_count; i++) {
        if (is_grant(&after->book->holds[i])) times[(*ret_count)++] = after->book->holds[i].from_ns;
    }
    sort_times(times, *ret_count);
    return times;
}

static int common_trials(const struct aftermath *after) {
    size_t count;
    int64_t *times = grant_times(after, &count), end_ns = after->book->rules.end_ns;
    int failed = times ? 0 : -1;
    for (int i = 0; !failed && i < after->faults->count; i++) {
        const struct fault_event *fault = &after->faults->events[i];
        if (fault->begin_ns >= end_ns || !stops_all(after, fault)) continue;
        int64_t hit_ns = fault->gone_ns > 0 ? fault->gone_ns : fault->begin_ns;
        size_t first = later_than(times, count, hit_ns + FLIGHT_NS);
        if (first == count) {
            after->recovery->unrecovered++;
        } else {
            failed = note_trial(after, fault, times[first] - fault->begin_ns);
        }
    }
    free(times);
    return failed;
}

/* Whether something disturbed the servers, the wires or this client in that time. Where clients queue, one that stood
 * still may have been first, and kept those behind it waiting. */
static bool was_disturbed(const struct aftermath *after, uint32_t client, int64_t from_ns,
                          int64_t to_ns) {
    bool queue = after->shared->lock->lock->caps & LB_CAP_FAIR;
    for (int i = 0; i < after->faults->count; i++) {
        const struct fault_event *fault = &after->faults->events[i];
        uint32_t first, end;
        bool others = !queue && (fault->kind == INJECT_PAUSE || fault->kind == INJECT_KILL) &&
                      fault_victims(fault, after->shared, &first, &end) &&
                      (client < first || client >= end);
        if (others || fault->kind == INJECT_WIRE_DROP)
            continue; /* a dropped message is a cause of lost wake-ups, no excuse */
        int64_t end_ns =
            fault->end_ns ? lb_after(fault->end_ns, after->shared->lease_ns) : LB_NEVER;
        if (fault->begin_ns < to_ns && end_ns > from_ns) return true;
    }
    for (size_t i = 0; i < after->book->mishap_count; i++) {
        const struct mishap *mishap = &after->book->mishaps[i];
        bool mine = queue || client - mishap->first < mishap->count;
        if (mishap->kind == OPLOG_STALL && mine && mishap->begin_ns < to_ns &&
            mishap->end_ns > from_ns)
            return true;
    }
    return false;
}

/* Whether the client waited for longer than half a lease for a key that was free since then. */
static bool was_forgotten(const struct aftermath *after, const struct hold *hold, int64_t free_ns) {
    return is_grant(hold) && free_ns != INT64_MAX && hold->called_ns < free_ns &&
           hold->from_ns - free_ns > after->shared->lease_ns / 2 &&
           !was_disturbed(after, hold->client, free_ns, hold->from_ns);
}

/* Counts lost wake-ups: clients that were waiting while the key was free for longer than half a
 * lease. */
static void key_wakeups(const struct aftermath *after, size_t begin, size_t end) {
    int64_t free_ns = 0; /* INT64_MAX: it is not known since when */
    int64_t lease_ns = after->shared->lease_ns;
    int64_t slack_ns = after->shared->lock->lock->about.crash_slack_ns;
    for (size_t i = begin; i < end; i++) {
        const struct hold *hold = hold_at(after, i);
        if (hold->flags & HOLD_GHOST) {
            /* The lock may have granted it the key, for a lease or a session and what servers add to that. */
            int64_t more_ns = slack_ns > lease_ns ? slack_ns : lease_ns;
            int64_t gone_ns = lb_after(lb_after(hold->from_ns, lease_ns), more_ns);
            if (gone_ns > free_ns) free_ns = gone_ns;
            continue;
        }
        if (was_forgotten(after, hold, free_ns)) after->recovery->lost_wakeups++;
        bool clean = hold->ended == OPLOG_OK && !(hold->flags & (HOLD_DEAD | HOLD_OPEN));
        int64_t gone_ns = clean ? hold->released_ns : INT64_MAX;
        /* A grant that excludes all others shows that the earlier ones are gone; a reader's does not. */
        bool alone = holds_exclude(after->book, hold, hold);
        if ((free_ns == INT64_MAX && alone) || gone_ns > free_ns) free_ns = gone_ns;
    }
}

static int per_key(const struct aftermath *after) {
    const struct oplog_rules *rules = &after->book->rules;
    after->recovery->wakeups_known = rules->model != OPLOG_SEMAPHORE && after->book->dropped == 0;
    for (size_t begin = 0, end; begin < after->book->hold_count; begin = end) {
        end = key_end(after, begin);
        bool counts = rules->model == OPLOG_SEMAPHORE;
        for (size_t i = begin; i < end; i++) {
            if (counts || hold_at(after, i)->flags & HOLD_GHOST) continue;
            if (after->tries && key_trials(after, i, end) != 0) return -1;
            after->recovery->grants_lost +=
                (hold_at(after, i)->flags & HOLD_LEARNED) || hold_at(after, i)->ended == OPLOG_LOST;
        }
        if (after->recovery->wakeups_known) key_wakeups(after, begin, end);
    }
    return 0;
}

/* By when the lock's table promises that the lock of a holder that vanished is free. */
static void put_theory(const struct aftermath *after) {
    const struct lb_about *about = &after->shared->lock->lock->about;
    int64_t until_ns = 0; /* an event that the connection outlives */
    bool client = false;
    for (int i = 0; i < after->faults->count; i++) {
        const struct fault_event *fault = &after->faults->events[i];
        uint32_t first, end;
        bool outlived = fault->kind == INJECT_PAUSE || fault->kind == INJECT_WIRE_CUT ||
                        fault->kind == INJECT_TERMINATE;
        client |= fault_victims(fault, after->shared, &first, &end);
        if (outlived && fault->end_ns - fault->begin_ns > until_ns)
            until_ns = fault->end_ns - fault->begin_ns;
    }
    /* Nothing is promised about how soon servers come back. */
    if (!client || about->crash == LB_CRASH_NEVER) return;
    int64_t freed_ns = about->crash == LB_CRASH_AT_ONCE ? until_ns : after->shared->lease_ns;
    after->recovery->theory_max_ns = freed_ns + about->crash_slack_ns;
}

int recovery_compute(struct aftermath *after) {
    struct recovery *recovery = after->recovery;
    *recovery = (struct recovery){.theory_max_ns = -1};
    after->tries = NULL;
    int failed = 0;
    if (after->faults->count > 0) {
        after->tries = order_tries_returned(after->book, after->err);
        if (!after->tries) return -1;
        fault_trials_count(after);
        put_theory(after);
        failed = common_trials(after);
    }
    failed = failed || per_key(after) != 0;
    free(after->tries);
    if (failed) return -1;
    sort_times(recovery->trials.ns, (size_t)recovery->trials.count);
    sort_times(recovery->crashes.ns, (size_t)recovery->crashes.count);
    return 0;
}

void recovery_done(struct recovery *recovery) {
    free(recovery->trials.ns);
    free(recovery->crashes.ns);
    *recovery = (struct recovery){0};
}
