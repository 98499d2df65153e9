/* book: see book.h. */
#define _GNU_SOURCE
#include "bench/oplog/book.h"

#include <stdlib.h>
#include <sys/mman.h>

#define OPEN_MAX 8    /* grants that a client may have at the same time: the keys of one attempt */
#define SLICE 1000000 /* records between two releases of the file's pages */

/* A client while its records are added. */
struct book_client {
    int64_t last_ns; /* its last stamp */
    uint32_t open[OPEN_MAX];
    uint8_t open_count;
    bool dead;
};

int book_begin(struct book *book, const struct oplog_rules *rules, struct lb_err *err) {
    *book = (struct book){.rules = *rules};
    book->clients = calloc((size_t)rules->clients + 1, sizeof *book->clients);
    return book->clients ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory for a history");
}

void book_done(struct book *book) {
    free(book->clients);
    free(book->holds);
    free(book->tries);
    free(book->mishaps);
    *book = (struct book){0};
}

/* Returns the place of one more element of `bytes` bytes at the end of an array. NULL when out of
 * memory. */
static void *grow_array(void *array, size_t count, size_t *room, size_t bytes) {
    if (count < *room) return array;
    size_t wanted = *room ? *room + *room / 2 : 1024;
    void *more = realloc(array, wanted * bytes);
    if (more) *room = wanted;
    return more;
}

/* Adds a copy. NULL when out of memory. */
static struct hold *add_hold(struct book *book, struct hold hold) {
    struct hold *holds = grow_array(book->holds, book->hold_count, &book->hold_room, sizeof *holds);
    if (!holds) return NULL;
    book->holds = holds;
    holds[book->hold_count] = hold;
    return &holds[book->hold_count++];
}

/* The hold of an acquire ends where it begins, until a record shows its end. */
static struct hold hold_of(const struct oplog_record *record) {
    return (struct hold){.called_ns = record->begin_ns,
                         .from_ns = record->end_ns,
                         .to_ns = record->end_ns,
                         .released_ns = record->end_ns,
                         .lease_end_ns = record->lease_end_ns,
                         .token = record->token,
                         .client = record->client,
                         .key = record->key,
                         .permits = record->permits ? record->permits : 1,
                         .flags = record->flags & OPLOG_SHARED ? HOLD_SHARED : 0,
                         .ended = record->outcome};
}

static void forget_open(struct book_client *client, int index) {
    client->open[index] = client->open[--client->open_count];
}

static int book_granted(struct book *book, struct book_client *client,
                        const struct oplog_record *record) {
    for (int i = 0; i < client->open_count; i++) {
        /* The record of the earlier grant's release was dropped. */
        if (book->holds[client->open[i]].key == record->key) forget_open(client, i--);
    }
    if (client->open_count == OPEN_MAX) forget_open(client, 0);
    struct hold *hold = add_hold(book, hold_of(record));
    if (!hold) return -1;
    client->open[client->open_count++] = (uint32_t)(hold - book->holds);
    return 0;
}

/* A renewal gives everything that the client holds a new lease. A renewal in time continues the
 * hold; a late one leaves a gap in which the client did not hold, and begins a new piece. */
static int book_renewed(struct book *book, struct book_client *client,
                        const struct oplog_record *record) {
    for (int i = 0; i < client->open_count; i++) {
        struct hold *hold = &book->holds[client->open[i]];
        if (record->lease_end_ns == LB_NEVER || record->lease_end_ns <= hold->lease_end_ns)
            continue;
        if (record->end_ns <= hold->lease_end_ns) {
            hold->lease_end_ns = record->lease_end_ns;
            continue;
        }
        struct hold before = *hold;
        hold->to_ns = hold->released_ns = record->end_ns;
        hold->flags |= HOLD_CONTINUED;
        struct hold *piece = add_hold(book, before);
        if (!piece) return -1;
        piece->called_ns = piece->from_ns = piece->to_ns = piece->released_ns = record->end_ns;
        piece->lease_end_ns = record->lease_end_ns;
        piece->flags |= HOLD_PIECE;
        client->open[i] = (uint32_t)(piece - book->holds);
    }
    return 0;
}

static int book_try(struct book *book, const struct oplog_record *record) {
    struct try *tries = grow_array(book->tries, book->try_count, &book->try_room, sizeof *tries);
    if (!tries) return -1;
    book->tries = tries;
    tries[book->try_count++] = (struct try){.called_ns = record->begin_ns,
                                            .returned_ns = record->end_ns,
                                            .client = record->client,
                                            .key = record->key,
                                            .outcome = record->outcome,
                                            .shared = record->flags & OPLOG_SHARED};
    if (record->outcome != OPLOG_UNKNOWN) return 0;
    struct hold ghost = hold_of(record);
    int64_t lease_ns = book->rules.lease_ns ? book->rules.lease_ns : LB_NEVER;
    ghost.inside_ns = ghost.from_ns;
    ghost.released_ns = LB_NEVER;
    ghost.lease_end_ns = lb_after(ghost.from_ns, lease_ns);
    ghost.flags |= HOLD_GHOST;
    return add_hold(book, ghost) ? 0 : -1;
}

static int book_acquired(struct book *book, struct book_client *client,
                         const struct oplog_record *record) {
    if (record->outcome != OPLOG_OK) return book_try(book, record);
    if (record->depth == 0) return book_granted(book, client, record);
    return book_renewed(book, client, record);
}

static void book_released(struct book *book, struct book_client *client,
                          const struct oplog_record *record) {
    if (record->depth > 0) return; /* the release of an inner grant */
    for (int i = 0; i < client->open_count; i++) {
        struct hold *hold = &book->holds[client->open[i]];
        if (hold->key != record->key) continue;
        hold->to_ns = record->begin_ns > hold->from_ns ? record->begin_ns : hold->from_ns;
        hold->released_ns = record->end_ns > hold->to_ns ? record->end_ns : hold->to_ns;
        hold->ended = record->outcome;
        if (record->flags & OPLOG_LEARNED) hold->flags |= HOLD_LEARNED;
        if (record->flags & OPLOG_OVER) hold->flags |= HOLD_OVER;
        if (record->flags & OPLOG_OLD_TOKEN) hold->flags |= HOLD_OLD_TOKEN;
        if (record->flags & OPLOG_REFUSED_TOKEN) hold->flags |= HOLD_REFUSED;
        /* Nobody but the server knows when a session ended. A lease ends when it says: who comes in before, comes in
         * beside a rightful holder. */
        if ((record->flags & (OPLOG_LEARNED | OPLOG_OVER)) && hold->lease_end_ns == LB_NEVER)
            hold->flags |= HOLD_OUTSIDE;
        forget_open(client, i);
        return;
    }
}

/* A stall or a cut that was recorded as lasting is over. */
static bool was_open(struct book *book, const struct oplog_record *record) {
    for (size_t i = 0; record->kind != OPLOG_DEATH && i < book->mishap_count; i++) {
        struct mishap *mishap = &book->mishaps[i];
        if (mishap->kind != record->kind || mishap->end_ns != LB_NEVER) continue;
        if (mishap->first != record->client || mishap->begin_ns != record->begin_ns) continue;
        mishap->end_ns = record->end_ns;
        return true;
    }
    return false;
}

static int book_mishap(struct book *book, const struct oplog_record *record) {
    if (was_open(book, record)) return 0;
    struct mishap *mishaps =
        grow_array(book->mishaps, book->mishap_count, &book->mishap_room, sizeof *mishaps);
    if (!mishaps) return -1;
    book->mishaps = mishaps;
    uint32_t end = record->clients < book->rules.clients - record->client
                       ? record->client + record->clients
                       : book->rules.clients;
    mishaps[book->mishap_count++] = (struct mishap){.kind = record->kind,
                                                    .first = record->client,
                                                    .count = end - record->client,
                                                    .begin_ns = record->begin_ns,
                                                    .end_ns = record->end_ns};
    for (uint32_t i = record->client; record->kind == OPLOG_DEATH && i < end; i++) {
        book->clients[i].dead = true;
    }
    return 0;
}

static int book_record(struct book *book, const struct oplog_record *record) {
    if (record->client >= book->rules.clients) return 0; /* our own oplogs never contain this */
    if (record->kind >= OPLOG_STALL) return book_mishap(book, record);
    struct book_client *client = &book->clients[record->client];
    int64_t stamp_ns = record->end_ns > record->begin_ns ? record->end_ns : record->begin_ns;
    if (stamp_ns > client->last_ns) client->last_ns = stamp_ns;
    if (record->kind == OPLOG_RENEWAL) return book_renewed(book, client, record);
    book->ops++;
    if (record->kind == OPLOG_ACQUIRE) return book_acquired(book, client, record);
    book_released(book, client, record);
    return 0;
}

int book_add(struct book *book, const struct oplog_record *records, size_t count,
             struct lb_err *err) {
    for (size_t i = 0; i < count; i++) {
        if (book->hold_count >= UINT32_MAX - 1 || book_record(book, &records[i]) != 0) {
            return err_set(err, LB_EXIT_MACHINE, "out of memory for a history of %zu operations",
                           count);
        }
    }
    return 0;
}

int book_add_file(struct book *book, const struct oplog_file *file, struct lb_err *err) {
    for (size_t at = 0; at < file->count; at += SLICE) {
        size_t count = file->count - at < SLICE ? file->count - at : SLICE;
        if (book_add(book, &file->records[at], count, err) != 0) return -1;
        /* Pages that were read are not needed again. */
        size_t bytes = (at + count) * sizeof *file->records & ~(size_t)0xffff;
        madvise(file->header, bytes, MADV_DONTNEED);
    }
    return 0;
}

int book_add_rings(struct book *book, const struct oplog *history, struct lb_err *err) {
    for (int i = 0; i <= history->threads; i++) {
        const struct oplog_record *records;
        uint64_t tail = atomic_load(&history->rings[i].tail);
        for (size_t count; (count = oplog_rest(&history->rings[i], &tail, &records)) > 0;) {
            if (book_add(book, records, count, err) != 0) return -1;
        }
    }
    return 0;
}

/* A release that reported success: the grant was held until that call, whatever its lease and its
 * session. */
static bool ended_well(const struct hold *hold) {
    return hold->ended == OPLOG_OK && !(hold->flags & (HOLD_OPEN | HOLD_DEAD | HOLD_CONTINUED));
}

/* The time from which on faults may have ended the session of this grant. */
static int64_t session_end_ns(const struct book *book, const struct hold *hold) {
    const struct oplog_rules *rules = &book->rules;
    int64_t end_ns = LB_NEVER;
    if (rules->session_ns == 0 && rules->cut_ns == LB_NEVER) return end_ns;
    for (size_t i = 0; i < book->mishap_count; i++) {
        const struct mishap *mishap = &book->mishaps[i];
        if (hold->client - mishap->first >= mishap->count) continue;
        int64_t at_ns = LB_NEVER;
        if (mishap->kind == OPLOG_STALL && rules->session_ns > 0 &&
            mishap->end_ns > hold->called_ns &&
            mishap->end_ns - mishap->begin_ns > rules->session_ns) {
            at_ns = lb_after(mishap->begin_ns, rules->session_ns);
        }
        if (mishap->kind == OPLOG_CUT && rules->cut_ns != LB_NEVER &&
            mishap->end_ns >= hold->called_ns) {
            /* A request that was answered during the cut is the server's last sign of life; the
             * later arrival of the answer is not. */
            int64_t called_ns = hold->called_ns;
            at_ns = lb_after(mishap->begin_ns > called_ns ? mishap->begin_ns : called_ns,
                             rules->cut_ns);
        }
        if (at_ns < end_ns) end_ns = at_ns;
    }
    return end_ns;
}

/* The grants that were still held when the records ended. Where records are missing, the client may have released, or
 * may have been killed. */
static void close_open(struct book *book) {
    bool complete = book->whole && book->dropped == 0;
    for (uint32_t c = 0; c < book->rules.clients; c++) {
        struct book_client *client = &book->clients[c];
        for (int i = 0; i < client->open_count; i++) {
            struct hold *hold = &book->holds[client->open[i]];
            hold->ended = OPLOG_UNKNOWN;
            hold->released_ns = LB_NEVER;
            if (client->dead || !complete) {
                hold->flags |= client->dead ? HOLD_DEAD : HOLD_OPEN;
                if (client->last_ns > hold->from_ns) hold->to_ns = client->last_ns;
            } else {
                hold->flags |= HOLD_OPEN;
                hold->to_ns = LB_NEVER;
            }
        }
    }
    free(book->clients);
    book->clients = NULL;
}

/* end_ns: when its lease or its session ended, by the record of faults. */
static bool is_taken(const struct hold *hold, int64_t end_ns) {
    bool told = (hold->flags & HOLD_OVER) ||
                (hold->ended == OPLOG_LOST && !(hold->flags & (HOLD_OPEN | HOLD_DEAD)));
    return told && (hold->flags & HOLD_LEARNED ? hold->to_ns : hold->released_ns) < end_ns;
}

void book_end(struct book *book, uint64_t dropped, bool whole) {
    book->dropped = dropped;
    book->whole = whole;
    close_open(book);
    for (size_t i = 0; i < book->hold_count; i++) {
        struct hold *hold = &book->holds[i];
        if (hold->flags & HOLD_GHOST) continue;
        int64_t end_ns = ended_well(hold) ? LB_NEVER : session_end_ns(book, hold);
        if (!ended_well(hold) && hold->lease_end_ns < end_ns) end_ns = hold->lease_end_ns;
        if (is_taken(hold, end_ns)) hold->flags |= HOLD_TAKEN;
        if (end_ns <= hold->from_ns) hold->flags |= HOLD_LATE | HOLD_OUTSIDE;
        hold->inside_ns = hold->flags & HOLD_OUTSIDE ? hold->from_ns
                          : end_ns < hold->to_ns     ? end_ns
                                                     : hold->to_ns;
    }
}

static int64_t later(int64_t ns, int64_t by_ns) {
    return ns == LB_NEVER ? LB_NEVER : ns + by_ns;
}

static void narrow_hold(struct hold *hold, int64_t error_ns) {
    hold->called_ns -= error_ns;
    hold->from_ns += error_ns;
    hold->to_ns = later(hold->to_ns, -error_ns);
    hold->inside_ns = later(hold->inside_ns, -error_ns);
    hold->released_ns = later(hold->released_ns, error_ns);
    if (hold->to_ns <= hold->from_ns) {
        hold->to_ns = hold->from_ns;
        hold->flags |= HOLD_UNSURE;
    }
    if (hold->inside_ns < hold->from_ns) hold->inside_ns = hold->from_ns;
}

void book_narrow(struct book *book) {
    int64_t error_ns = book->rules.error_ns;
    if (book->narrowed || error_ns == 0) return;
    book->narrowed = true;
    for (size_t i = 0; i < book->hold_count; i++) narrow_hold(&book->holds[i], error_ns);
    for (size_t i = 0; i < book->try_count; i++) {
        book->tries[i].called_ns -= error_ns;
        book->tries[i].returned_ns += error_ns;
    }
}

struct item {
    int64_t time_ns, to_ns; /* of grants at the same moment the one that ended at once was first */
    uint64_t token;
    uint32_t key, index;
};

static int compare_items(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    if (x->to_ns != y->to_ns) return x->to_ns < y->to_ns ? -1 : 1;
    if (x->token != y->token) return x->token < y->token ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The indices in their order; frees them, which may be NULL. NULL with err when out of memory. */
static uint32_t *sort_items(struct item *items, size_t count, struct lb_err *err) {
    uint32_t *indices = items ? malloc((count + 1) * sizeof *indices) : NULL;
    if (indices) qsort(items, count, sizeof *items, compare_items);
    for (size_t i = 0; indices && i < count; i++) indices[i] = items[i].index;
    free(items);
    if (!indices)
        err_set(err, LB_EXIT_MACHINE, "out of memory for sorting a history of %zu operations",
                count);
    return indices;
}

uint32_t *order_holds(const struct book *book, bool by_call, struct lb_err *err) {
    struct item *items = malloc((book->hold_count + 1) * sizeof *items);
    for (size_t i = 0; items && i < book->hold_count; i++) {
        const struct hold *hold = &book->holds[i];
        items[i] = (struct item){.key = hold->key, .index = (uint32_t)i};
        items[i].time_ns = by_call ? hold->called_ns : hold->from_ns;
        if (by_call) continue;
        items[i].to_ns = hold->to_ns;
        items[i].token = hold->token;
    }
    return sort_items(items, book->hold_count, err);
}

uint32_t *order_tries_returned(const struct book *book, struct lb_err *err) {
    struct item *items = malloc((book->try_count + 1) * sizeof *items);
    for (size_t i = 0; items && i < book->try_count; i++) {
        const struct try *try = &book->tries[i];
        items[i] =
            (struct item){.time_ns = try->returned_ns, .key = try->key, .index = (uint32_t)i};
    }
    return sort_items(items, book->try_count, err);
}

size_t order_first_try(const struct book *book, const uint32_t *tries, uint32_t key) {
    size_t low = 0, high = book->try_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (book->tries[tries[middle]].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
