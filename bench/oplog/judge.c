/* judge: sweeps over each key's holds, and compares tokens with the order of calls; see judge.h. */
#include "bench/oplog/judge.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/base/heap.h"

/* The hold with the latest end so far. */
struct latest {
    int64_t ns;
    uint32_t hold;
};

/* The earlier holds of a key, as the sweep needs them; readers and writers apart. */
struct sweep {
    struct latest certain[2], inside[2]; /* 0 = holds that exclude all others, 1 = readers */
    uint64_t token;                      /* the greatest so far */
    uint32_t token_hold;
};

/* The permits that are held, by the time at which they are returned. */
struct out {
    struct timer timer; /* the first member: the heap's entries are cast back */
    uint32_t permits;
};

struct pool {
    struct heap heap;
    struct out *outs;
    size_t count;
    uint64_t sum;
};

/* True if a contradiction of this gravity at this time is to be reported rather than the present
 * one: the earliest of the gravest is reported. */
static bool is_first_clash(const struct judgement *judgement, enum verdict gravity, int64_t at_ns) {
    if (judgement->clash == CLASH_NONE || gravity > judgement->verdict) return true;
    return gravity == judgement->verdict && at_ns < judgement->clash_ns;
}

static void note_clash(struct judgement *judgement, const struct book *book, enum oplog_clash clash,
                       enum verdict gravity, uint32_t holder, uint32_t intruder) {
    int64_t at_ns = book->holds[intruder].from_ns;
    if (is_first_clash(judgement, gravity, at_ns)) {
        judgement->clash = clash;
        judgement->clash_ns = at_ns;
        judgement->witness[0] = holder;
        judgement->witness[1] = intruder;
        judgement->witness_count = 2;
    }
    if (gravity > judgement->verdict) judgement->verdict = gravity;
}

static void note_overlap(struct judgement *judgement, const struct book *book, bool violated,
                         uint32_t holder, uint32_t intruder) {
    judgement->violations += violated;
    judgement->expired += !violated;
    note_clash(judgement, book, CLASH_OVERLAP, violated ? VERDICT_VIOLATED : VERDICT_EXPIRED,
               holder, intruder);
}

static void raise_latest(struct latest *latest, int64_t ns, uint32_t hold) {
    if (ns > latest->ns) *latest = (struct latest){ns, hold};
}

static const struct latest *later_end(const struct latest *a, const struct latest *b) {
    return a->ns >= b->ns ? a : b;
}

/* Tokens must grow in the order of holds that did not overlap. The server may have made a grant
 * long before the client saw it, if acquire returned late or the grant was lost. */
static void sweep_token(struct sweep *sweep, struct book *book, uint32_t index, bool met,
                        struct judgement *judgement) {
    struct hold *hold = &book->holds[index];
    if (!hold->token || hold->ended == OPLOG_LOST ||
        (hold->flags & (HOLD_OUTSIDE | HOLD_PIECE | HOLD_SHARED))) {
        return;
    }
    bool older = hold->token <= sweep->token;
    /* The grant that a marked one came after may not be in the book. It was marked inside its lease; but a session may
     * have ended before that. */
    bool lasted = hold->lease_end_ns != LB_NEVER || hold->inside_ns >= hold->to_ns;
    bool marked = (hold->flags & HOLD_OLD_TOKEN) && lasted;
    if (!met && (older || marked)) {
        hold->flags |= HOLD_MISORDERED;
        judgement->token_errors++;
        note_clash(judgement, book, CLASH_TOKEN, VERDICT_VIOLATED,
                   older ? sweep->token_hold : index, index);
    }
    if (hold->token > sweep->token) {
        sweep->token = hold->token;
        sweep->token_hold = index;
    }
}

/* Judges locks that admit one holder, or readers together. */
static void sweep_mutex(struct book *book, const uint32_t *order, size_t count,
                        struct judgement *judgement) {
    const struct latest never = {INT64_MIN, 0};
    struct sweep sweep = {{never, never}, {never, never}, 0, 0};
    for (size_t i = 0; i < count; i++) {
        uint32_t index = order[i];
        const struct hold *hold = &book->holds[index];
        if (hold->flags & (HOLD_GHOST | HOLD_UNSURE)) continue;
        bool shared = book->rules.model == OPLOG_RWLOCK && (hold->flags & HOLD_SHARED);
        const struct latest *met =
            shared ? sweep.certain : later_end(&sweep.certain[0], &sweep.certain[1]);
        const struct latest *inside =
            shared ? sweep.inside : later_end(&sweep.inside[0], &sweep.inside[1]);
        bool meets = hold->from_ns < met->ns;
        if (meets) {
            bool violated = !(hold->flags & HOLD_OUTSIDE) && hold->from_ns < inside->ns;
            note_overlap(judgement, book, violated, violated ? inside->hold : met->hold, index);
            book->holds[met->hold].flags |= HOLD_MET;
        }
        /* If there are several clocks, the order of holds that nearly met is not known. */
        if (book->rules.error_ns == 0) sweep_token(&sweep, book, index, meets, judgement);
        raise_latest(&sweep.certain[shared], hold->to_ns, index);
        if (!(hold->flags & HOLD_OUTSIDE))
            raise_latest(&sweep.inside[shared], hold->inside_ns, index);
    }
}

/* Enough for all holds: there are never more. */
static int pool_begin(struct pool *pool, size_t holds, struct lb_err *err) {
    pool->outs = malloc((holds + 1) * sizeof *pool->outs);
    if (pool->outs && heap_reserve(&pool->heap, holds) == 0) return 0;
    return err_set(err, LB_EXIT_MACHINE, "out of memory for judging a history");
}

static void pool_done(struct pool *pool) {
    heap_done(&pool->heap);
    free(pool->outs);
}

static void pool_add(struct pool *pool, int64_t end_ns, uint32_t permits) {
    struct out *out = &pool->outs[pool->count++];
    *out = (struct out){.permits = permits};
    heap_add(&pool->heap, &out->timer, end_ns);
    pool->sum += permits;
}

/* Removes the permits that were returned by then. */
static void pool_pass(struct pool *pool, int64_t now_ns) {
    struct timer *first;
    while ((first = heap_first(&pool->heap)) && first->due_ns <= now_ns) {
        pool->sum -= ((struct out *)(void *)first)->permits;
        heap_remove(&pool->heap, first);
    }
}

/* Judges locks that admit holders up to a bound. */
static void sweep_permits(struct book *book, const uint32_t *order, size_t count,
                          struct pool *certain, struct pool *inside, struct judgement *judgement) {
    pool_pass(certain, INT64_MAX);
    pool_pass(inside, INT64_MAX);
    certain->count = inside->count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = order[i];
        const struct hold *hold = &book->holds[index];
        if (hold->flags & (HOLD_GHOST | HOLD_UNSURE)) continue;
        pool_pass(certain, hold->from_ns);
        pool_pass(inside, hold->from_ns);
        if (certain->sum + hold->permits > book->rules.bound) {
            bool violated =
                !(hold->flags & HOLD_OUTSIDE) && inside->sum + hold->permits > book->rules.bound;
            /* the holds that this one overlapped are found later */
            note_overlap(judgement, book, violated, index, index);
        }
        if (hold->to_ns > hold->from_ns) pool_add(certain, hold->to_ns, hold->permits);
        if (hold->inside_ns > hold->from_ns) pool_add(inside, hold->inside_ns, hold->permits);
    }
}

/* Finds every permit that was held when the intruder of a semaphore entered. */
static void find_witnesses(const struct book *book, struct judgement *judgement) {
    uint32_t intruder = judgement->witness[judgement->witness_count - 1];
    const struct hold *last = &book->holds[intruder];
    bool violated = judgement->verdict == VERDICT_VIOLATED;
    int count = 0;
    for (size_t i = 0; i < book->hold_count && count < OPLOG_WITNESSES - 1; i++) {
        const struct hold *hold = &book->holds[i];
        int64_t end_ns = violated ? hold->inside_ns : hold->to_ns;
        if (i == intruder || hold->key != last->key || (hold->flags & HOLD_GHOST)) continue;
        if (hold->from_ns <= last->from_ns && end_ns > last->from_ns)
            judgement->witness[count++] = (uint32_t)i;
    }
    judgement->witness[count++] = intruder;
    judgement->witness_count = count;
}

static int sweep_all(struct book *book, const uint32_t *order, struct judgement *judgement,
                     struct lb_err *err) {
    bool permits = book->rules.model == OPLOG_SEMAPHORE;
    struct pool certain = {0}, inside = {0};
    int failed = permits && (pool_begin(&certain, book->hold_count, err) != 0 ||
                             pool_begin(&inside, book->hold_count, err) != 0);
    for (size_t begin = 0, end; begin < book->hold_count && !failed; begin = end) {
        uint32_t key = book->holds[order[begin]].key;
        for (end = begin + 1; end < book->hold_count && book->holds[order[end]].key == key;) end++;
        if (permits) {
            sweep_permits(book, order + begin, end - begin, &certain, &inside, judgement);
        } else {
            sweep_mutex(book, order + begin, end - begin, judgement);
        }
    }
    pool_done(&certain);
    pool_done(&inside);
    if (permits && judgement->clash == CLASH_OVERLAP) find_witnesses(book, judgement);
    return failed ? -1 : 0;
}

/* Counts what holders were told, and what the store refused. */
static void count_told(const struct book *book, struct judgement *judgement) {
    for (size_t i = 0; i < book->hold_count; i++) {
        const struct hold *hold = &book->holds[i];
        bool lost = hold->ended == OPLOG_LOST, over = hold->flags & HOLD_OVER;
        if (hold->flags & HOLD_GHOST) continue;
        bool lasted = !(hold->flags & HOLD_OUTSIDE) && hold->inside_ns >= hold->to_ns;
        judgement->refused += (hold->flags & HOLD_REFUSED) && lasted;
        if (!(hold->flags & HOLD_TAKEN)) continue;
        judgement->revoked += lost && !over;
        judgement->ended += over && (lost || (hold->flags & HOLD_MET));
    }
}

static bool has_tokens(const struct book *book) {
    for (size_t i = 0; i < book->hold_count; i++) {
        if (book->holds[i].token) return true;
    }
    return false;
}

/* True if the token of this grant shows when the grant was made. */
static bool tells_order(const struct hold *hold) {
    return hold->token && !(hold->flags & (HOLD_LATE | HOLD_PIECE | HOLD_SHARED));
}

/* A grant that returned before another one was requested must have the smaller token, however both
 * ended. */
static int judge_tokens(struct book *book, const uint32_t *from_order, struct judgement *judgement,
                        struct lb_err *err) {
    if (!has_tokens(book)) return 0;
    uint32_t *called_order = order_holds(book, true, err);
    if (!called_order) return -1;
    uint64_t greatest = 0;
    uint32_t greatest_hold = 0;
    size_t next = 0;
    for (size_t i = 0; i < book->hold_count; i++) {
        struct hold *hold = &book->holds[called_order[i]];
        if (i == 0 || hold->key != book->holds[called_order[i - 1]].key) {
            greatest = 0;
            next = i; /* both orders have the holds of a key at the same places */
        }
        for (; next < book->hold_count; next++) {
            const struct hold *before = &book->holds[from_order[next]];
            if (before->key != hold->key || before->from_ns >= hold->called_ns) break;
            if (tells_order(before) && before->token > greatest) {
                greatest = before->token;
                greatest_hold = from_order[next];
            }
        }
        if (!tells_order(hold) || hold->token > greatest || (hold->flags & HOLD_MISORDERED))
            continue;
        hold->flags |= HOLD_MISORDERED;
        judgement->token_errors++;
        note_clash(judgement, book, CLASH_TOKEN, VERDICT_VIOLATED, greatest_hold, called_order[i]);
    }
    free(called_order);
    return 0;
}

int oplog_judge(struct book *book, struct judgement *ret, uint32_t **ret_order,
                struct lb_err *err) {
    struct judgement judgement = {.verdict = VERDICT_CLEAN};
    book_narrow(book);
    uint32_t *order = order_holds(book, false, err);
    if (!order) return -1;
    bool permits = book->rules.model == OPLOG_SEMAPHORE;
    int failed = sweep_all(book, order, &judgement, err);
    if (!failed && !permits) failed = judge_tokens(book, order, &judgement, err);
    if (!failed) count_told(book, &judgement);
    if (failed || !ret_order) {
        free(order);
    } else {
        *ret_order = order;
    }
    if (!failed) *ret = judgement;
    return failed;
}

/* --- explaining --- */

/* The end of a hold as a word. */
static const char *hold_end_name(const struct hold *hold) {
    if (hold->flags & HOLD_DEAD) return "killed";
    if (hold->flags & HOLD_LEARNED) return "lost";
    if (hold->flags & HOLD_OPEN) return "unknown";
    if (hold->flags & HOLD_CONTINUED) return "ok";
    return oplog_outcome_name((enum oplog_outcome)hold->ended);
}

static double second_of(const struct oplog_rules *rules, int64_t ns) {
    return (double)(ns - rules->begin_ns) / 1e9;
}

/* Describes a hold that another one overlapped. */
static void note_holder(struct oplog_line *line, const struct oplog_rules *rules,
                        const struct judgement *judgement, const struct hold *hold) {
    bool outlived = hold->inside_ns < judgement->clash_ns;
    if (judgement->clash == CLASH_TOKEN) return;
    if (outlived && (hold->flags & HOLD_LATE)) {
        snprintf(line->note, sizeof line->note, "came back after its lease or session had ended");
    } else if (outlived && hold->inside_ns > hold->from_ns) {
        snprintf(line->note, sizeof line->note, "inside its lease or session until %.6f s",
                 second_of(rules, hold->inside_ns));
    } else if (hold->flags & HOLD_OPEN) {
        snprintf(line->note, sizeof line->note, "never released");
    } else if (hold->flags & HOLD_LEARNED) {
        snprintf(line->note, sizeof line->note, "held until it learned of its loss at %.6f s",
                 second_of(rules, hold->to_ns));
    } else {
        snprintf(line->note, sizeof line->note, "held until %.6f s", second_of(rules, hold->to_ns));
    }
}

static void note_intruder(struct oplog_line *line, const struct judgement *judgement,
                          const struct hold *last) {
    const char *text = "came in while another was there, past its lease or session";
    if (judgement->clash == CLASH_TOKEN) {
        text = "its token is not greater than one that was given before";
    } else if (last->flags & HOLD_LATE) {
        text = "came in after its own lease or session had ended, while another was there";
    } else if (last->flags & HOLD_OUTSIDE) {
        text = "came in while another was there, and learned later that its own session had ended";
    } else if (judgement->verdict == VERDICT_VIOLATED) {
        text = "came in while others were inside their leases and sessions";
    }
    snprintf(line->note, sizeof line->note, "%s", text);
}

static struct oplog_line line_of_hold(const struct hold *hold, const char *op, int64_t begin_ns,
                                      int64_t end_ns, const char *outcome) {
    return (struct oplog_line){.client = hold->client,
                               .key = hold->key,
                               .op = op,
                               .begin_ns = begin_ns,
                               .end_ns = end_ns,
                               .outcome = outcome,
                               .token = hold->token,
                               .lease_end_ns = hold->lease_end_ns,
                               .shared = hold->flags & HOLD_SHARED};
}

int oplog_explain(const struct oplog_rules *rules, const struct judgement *judgement,
                  const struct hold *witness, struct oplog_line lines[EXPLAIN_LINES]) {
    int count = 0, last = judgement->witness_count - 1;
    for (int i = 0; i <= last; i++) {
        const struct hold *hold = &witness[i];
        lines[count] = line_of_hold(hold, hold->flags & HOLD_PIECE ? "renew" : "acquire",
                                    hold->called_ns, hold->from_ns, "ok");
        if (i == last) {
            note_intruder(&lines[count++], judgement, hold);
        } else {
            note_holder(&lines[count++], rules, judgement, hold);
        }
    }
    for (int i = 0; i < last; i++) {
        const struct hold *hold = &witness[i];
        if (hold->flags & (HOLD_DEAD | HOLD_OPEN)) continue;
        const char *op = hold->flags & HOLD_LEARNED     ? "told"
                         : hold->flags & HOLD_CONTINUED ? "renew"
                                                        : "release";
        lines[count++] =
            line_of_hold(hold, op, hold->to_ns, hold->released_ns, hold_end_name(hold));
    }
    return count;
}
