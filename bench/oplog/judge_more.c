/* judge_more: compares tokens with the order of calls, and finds tries that were busy without a
 * reason; see judge.h. */
#include <stdlib.h>

#include "bench/oplog/judge.h"
#include "bench/oplog/order.h"

static bool has_tokens(const struct book *book) {
    for (size_t i = 0; i < book->hold_count; i++) {
        if (book->holds[i].token) return true;
    }
    return false;
}

/* Whether its token shows when it was granted. */
static bool tells(const struct hold *hold) {
    return hold->token && !(hold->flags & (HOLD_LATE | HOLD_PIECE | HOLD_SHARED));
}

static void note(struct judgement *judgement, const struct book *book, uint32_t first,
                 uint32_t second) {
    judgement->token_errors++;
    int64_t at_ns = book->holds[second].from_ns;
    if (judge_is_first(judgement, OPLOG_VIOLATED, at_ns)) {
        judgement->clash = CLASH_TOKEN;
        judgement->clash_ns = at_ns;
        judgement->witness[0] = first;
        judgement->witness[1] = second;
        judgement->witness_count = 2;
    }
    judgement->verdict = OPLOG_VIOLATED;
}

/* A grant that returned before another one was requested must have the smaller token, whatever
 * became of both. */
int judge_tokens(struct book *book, const uint32_t *from_order, struct judgement *judgement,
                 struct lb_err *err) {
    if (!has_tokens(book)) return 0;
    uint32_t *called_order = order_holds_called(book, err);
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
            if (tells(before) && before->token > greatest) {
                greatest = before->token;
                greatest_hold = from_order[next];
            }
        }
        if (!tells(hold) || hold->token > greatest || (hold->flags & HOLD_MISORDERED)) continue;
        hold->flags |= HOLD_MISORDERED;
        note(judgement, book, greatest_hold, called_order[i]);
    }
    free(called_order);
    return 0;
}

/* Until when a key may have been held, by which client, and by another client. */
struct latest_two {
    int64_t ns, other_ns;
    uint32_t client;
};

static void latest_raise(struct latest_two *two, int64_t ns, uint32_t client) {
    if (client == two->client) {
        if (ns > two->ns) two->ns = ns;
    } else if (ns > two->ns) {
        *two = (struct latest_two){ns, two->ns, client};
    } else if (ns > two->other_ns) {
        two->other_ns = ns;
    }
}

static int64_t latest_of_others(const struct latest_two *two, uint32_t client) {
    return client == two->client ? two->other_ns : two->ns;
}

int judge_busy(const struct book *book, struct judgement *judgement, struct lb_err *err) {
    if (book->try_count == 0) return 0;
    uint32_t *tries = order_tries_returned(book, err), *holds = order_holds_called(book, err);
    const struct latest_two none = {INT64_MIN, INT64_MIN, UINT32_MAX};
    struct latest_two any = none, writer = none;
    size_t next = 0;
    for (size_t i = 0; tries && holds && i < book->try_count; i++) {
        const struct try *try = &book->tries[tries[i]];
        if (i == 0 || try->key != book->tries[tries[i - 1]].key) {
            any = writer = none;
            while (next < book->hold_count && book->holds[holds[next]].key < try->key) next++;
        }
        for (; next < book->hold_count; next++) {
            const struct hold *hold = &book->holds[holds[next]];
            if (hold->key != try->key || hold->called_ns > try->returned_ns) break;
            int64_t gone_ns = hold_gone_ns(book, hold);
            latest_raise(&any, gone_ns, hold->client);
            if (!(hold->flags & HOLD_SHARED)) latest_raise(&writer, gone_ns, hold->client);
        }
        if (try->outcome != OPLOG_BUSY) continue;
        const struct latest_two *in_the_way = try->shared ? &writer : &any;
        /* A client may hinder itself with what it failed to release, but not with what it holds. */
        int64_t latest_ns = try->inner ? latest_of_others(in_the_way, try->client) : in_the_way->ns;
        if (latest_ns < try->called_ns) judgement->spurious_busy++;
    }
    int failed = tries && holds ? 0 : -1;
    free(tries);
    free(holds);
    return failed;
}
