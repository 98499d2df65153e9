/* test_history: the judge of histories against an exhaustive search, on random small histories of
 * each model, good and bad: at least 30,000 of each. The search tries all orders that real time
 * allows, an operation whose outcome is unknown both as done and as not done; it shares no code
 * with the judge.
 *
 * LOCKBENCH_HISTORIES=n: another number of good and bad ones. */
#include "bench/base/rng.h"
#include "bench/oplog/judge.h"
#include "bench/tests/unit.h"

#define WHILES_MAX 6 /* grants and tries of a history */
#define OPS_MAX (2 * WHILES_MAX)
#define CLIENTS 4
#define INF 1000000
#define SEEDS 4

/* How an attempt and its grant went. */
enum way {
    WAY_PLAIN,
    WAY_UNSURE,  /* the release's outcome is unknown */
    WAY_DEAD,    /* its client was killed while it held */
    WAY_OPEN,    /* never released */
    WAY_UNKNOWN, /* the acquire's outcome is unknown */
    WAY_BUSY,
    WAY_INNER /* re-entry, inside the grant before it */
};

struct attempt {
    enum way way;
    int client, permits, token;
    bool shared;
    int called, from, to, released; /* called <= from <= to <= released */
    int lease_end;                  /* INF = none */
    bool lost;                      /* its release says that it was lost */
};

struct past {
    enum oplog_model model;
    int bound, count;
    struct attempt all[WHILES_MAX];
};

/* ---- the search ---- */

struct op {
    int begin, end; /* it takes effect between; end INF: it may never */
    int attempt;
    bool gives, must;
    int before; /* a mask: the same client's earlier ones, also those at the same moment */
    int ends;   /* a mask: what gives back what this takes */
};

struct search {
    const struct past *past;
    struct op ops[OPS_MAX];
    int count;
    bool seen[1 << OPS_MAX];
};

static void add_op(struct search *search, int attempt, bool gives, int begin, int end, bool must) {
    search->ops[search->count++] = (struct op){begin, end, attempt, gives, must, 0, 0};
}

/* Whether an attempt may be granted when those of the mask have taken effect. */
static bool may_take(const struct search *search, int mask, int attempt) {
    const struct attempt *wanted = &search->past->all[attempt];
    int permits = 0, token = 0;
    for (int i = 0; i < search->count; i++) {
        const struct attempt *other = &search->past->all[search->ops[i].attempt];
        if (!(mask >> i & 1) || search->ops[i].gives) continue;
        if (other->token > token) token = other->token;
        if (mask & search->ops[i].ends) continue;
        permits += other->permits;
        switch (search->past->model) {
        case OPLOG_MUTEX:
            return false;
        case OPLOG_REENTRANT:
            if (other->client != wanted->client) return false;
            break;
        case OPLOG_RWLOCK:
            if (!other->shared || !wanted->shared) return false;
            break;
        default:
            break;
        }
    }
    if (search->past->model == OPLOG_SEMAPHORE)
        return permits + wanted->permits <= search->past->bound;
    return wanted->token == 0 || wanted->token > token;
}

static bool taken(const struct search *search, int mask, int attempt) {
    for (int i = 0; i < search->count; i++) {
        const struct op *op = &search->ops[i];
        if (op->attempt == attempt && !op->gives) return mask >> i & 1;
    }
    return false;
}

static void find_masks(struct search *search) {
    for (int i = 0; i < search->count; i++) {
        struct op *op = &search->ops[i];
        const struct attempt *all = search->past->all;
        for (int k = 0; k < search->count; k++) {
            const struct op *other = &search->ops[k];
            bool same = all[other->attempt].client == all[op->attempt].client;
            bool earlier = other->attempt < op->attempt && other->end <= op->begin;
            op->before |= (same && other->must && earlier) << k;
            op->ends |= (other->gives && other->attempt == op->attempt) << k;
        }
    }
}

static bool fits(struct search *search, int mask) {
    if (search->seen[mask]) return false; /* it was tried, and led nowhere */
    search->seen[mask] = true;
    bool all = true;
    int first_end = INF;
    for (int i = 0; i < search->count; i++) {
        const struct op *op = &search->ops[i];
        if (mask >> i & 1) continue;
        all &= !op->must;
        if (op->end < first_end) first_end = op->end;
    }
    if (all) return true;
    for (int i = 0; i < search->count; i++) {
        const struct op *op = &search->ops[i];
        if ((mask >> i & 1) || op->begin > first_end || (op->before & ~mask)) continue;
        bool legal =
            op->gives ? taken(search, mask, op->attempt) : may_take(search, mask, op->attempt);
        if (legal && fits(search, mask | 1 << i)) return true;
    }
    return false;
}

/* True if the lock may have produced this history: each hold for as long as its holder believed, or only inside its lease. */
static bool explained(const struct past *past, bool inside) {
    static struct search search;
    search.past = past;
    search.count = 0;
    for (int i = 0; i < past->count; i++) {
        const struct attempt *a = &past->all[i];
        if (a->way == WAY_BUSY) continue;
        if (a->way == WAY_UNKNOWN) {
            add_op(&search, i, false, a->called, INF, false);
            add_op(&search, i, true, a->called, INF, false);
        } else {
            int to = a->way == WAY_DEAD ? a->from : a->way == WAY_OPEN ? INF : a->to;
            /* A client whose release succeeded held until then, whatever its lease. */
            bool told = (a->way == WAY_PLAIN || a->way == WAY_INNER) && !a->lost;
            bool ends = inside && !told && a->lease_end < to;
            if (inside && !told && a->lease_end <= a->from) continue;
            add_op(&search, i, false, a->called, a->from, true);
            bool sure = !ends && a->way != WAY_UNSURE && a->way != WAY_DEAD;
            if (ends) to = a->lease_end;
            if (a->way != WAY_OPEN || ends)
                add_op(&search, i, true, to, sure ? a->released : INF, sure);
        }
    }
    find_masks(&search);
    memset(search.seen, 0, (size_t)1 << search.count);
    return fits(&search, 0);
}

/* ---- the judge's side ---- */

static void record(struct oplog_record *records, size_t *count, const struct attempt *a,
                   bool release) {
    static const enum oplog_outcome of_acquire[] = {
        [WAY_UNKNOWN] = OPLOG_UNKNOWN, [WAY_BUSY] = OPLOG_BUSY, [WAY_INNER] = OPLOG_OK};
    enum oplog_outcome of_release = a->way == WAY_UNSURE ? OPLOG_UNKNOWN
                                    : a->lost            ? OPLOG_LOST
                                                         : OPLOG_OK;
    records[(*count)++] = (struct oplog_record){
        .kind = release ? OPLOG_RELEASE : OPLOG_ACQUIRE,
        .outcome = release ? of_release : of_acquire[a->way],
        .flags = a->shared ? OPLOG_SHARED : 0,
        .depth = a->way == WAY_INNER,
        .client = (uint32_t)a->client,
        .permits = (uint16_t)a->permits,
        .begin_ns = release ? a->to : a->called,
        .end_ns = release ? a->released : a->from,
        .lease_end_ns = a->lease_end == INF ? LB_NEVER : a->lease_end,
        .token = (uint64_t)a->token,
    };
}

static int by_time(const void *a, const void *b) {
    const struct oplog_record *one = a, *two = b;
    if (one->begin_ns != two->begin_ns) return one->begin_ns < two->begin_ns ? -1 : 1;
    return one->end_ns < two->end_ns ? -1 : one->end_ns > two->end_ns;
}

/* A client's records in its order: an inner grant lies inside the outer one. */
static struct judgement judged(const struct past *past) {
    struct oplog_rules rules = {.model = past->model,
                                .bound = (uint32_t)past->bound,
                                .clients = CLIENTS,
                                .cut_ns = LB_NEVER};
    struct book book;
    struct lb_err err = {0};
    struct judgement judgement;
    assert_int_equal(book_begin(&book, &rules, &err), 0);
    for (int client = 0; client < CLIENTS; client++) {
        struct oplog_record records[OPS_MAX + 1];
        size_t count = 0;
        bool dead = false;
        for (int i = 0; i < past->count; i++) {
            const struct attempt *a = &past->all[i];
            if (a->client != client) continue;
            record(records, &count, a, false);
            bool ends = a->way == WAY_PLAIN || a->way == WAY_UNSURE || a->way == WAY_INNER;
            if (ends) record(records, &count, a, true);
            dead |= a->way == WAY_DEAD;
        }
        qsort(records, count, sizeof *records, by_time);
        if (dead) {
            records[count++] = (struct oplog_record){
                .kind = OPLOG_DEATH, .client = (uint32_t)client, .clients = 1, .begin_ns = INF};
        }
        assert_int_equal(book_add(&book, records, count, &err), 0);
    }
    book_end(&book, 0, true);
    assert_int_equal(oplog_judge(&book, &judgement, NULL, &err), 0);
    /* A verdict other than clean comes with a clash: operations that contradict each other even
     * without the rest of the history. */
    assert_true((judgement.verdict == VERDICT_CLEAN) == (judgement.clash == CLASH_NONE));
    book_done(&book);
    return judgement;
}

/* ---- random histories ---- */

static int below(struct lb_rng *rng, int n) {
    return (int)rng_below(rng, (uint64_t)n);
}

/* A history of a lock that excludes: its events happen one after the other, 100 apart, and each
 * call begins before its event and returns after it. */
static void make_good(struct past *past, struct lb_rng *rng, bool tokens) {
    int holding[CLIENTS], free_from[CLIENTS] = {0}, now = 1000, token = 0;
    bool gone[CLIENTS] = {false};
    for (int i = 0; i < CLIENTS; i++) holding[i] = -1;
    past->count = 0;
    past->bound = 1 + below(rng, 3);
    int wanted = 2 + below(rng, WHILES_MAX - 1);
    for (int step = 0; step < 40; step++, now += 100) {
        int client = below(rng, CLIENTS);
        if (gone[client] || now <= free_from[client]) continue;
        int before =
            now - below(rng, now - free_from[client] > 300 ? 300 : now - free_from[client]);
        int after = now + below(rng, 250);
        if (holding[client] >= 0) {
            struct attempt *a = &past->all[holding[client]];
            int how = below(rng, 12);
            if (how == 0) a->way = WAY_DEAD;
            if (how == 1) a->way = WAY_OPEN; /* and those who come after it find it taken */
            gone[client] = how < 2;
            if (how == 2) a->way = WAY_UNSURE;
            a->to = before;
            a->released = after;
            if (how != 1) holding[client] = -1;
            free_from[client] = after;
            continue;
        }
        if (past->count >= wanted) continue;
        struct attempt a = {.client = client,
                            .permits =
                                past->model == OPLOG_SEMAPHORE ? 1 + below(rng, past->bound) : 1,
                            .shared = past->model == OPLOG_RWLOCK && below(rng, 2),
                            .called = before,
                            .from = after,
                            .to = after,
                            .released = after,
                            .lease_end = INF};
        int out = 0;
        bool in_the_way = false;
        for (int i = 0; i < CLIENTS; i++) {
            if (holding[i] < 0) continue;
            const struct attempt *other = &past->all[holding[i]];
            out += other->permits;
            in_the_way |= past->model != OPLOG_RWLOCK || !other->shared || !a.shared;
        }
        if (past->model == OPLOG_SEMAPHORE) in_the_way = out + a.permits > past->bound;
        free_from[client] = after;
        if (in_the_way) {
            a.way = WAY_BUSY;
            if (below(rng, 3)) continue;
        } else if (below(rng, 10) == 0) {
            a.way = WAY_UNKNOWN; /* it came to nothing */
        } else {
            if (tokens && past->model != OPLOG_SEMAPHORE && !a.shared) a.token = ++token;
            holding[client] = past->count;
        }
        past->all[past->count++] = a;
    }
    for (int i = 0; i < CLIENTS; i++) {
        if (holding[i] >= 0) past->all[holding[i]].way = WAY_OPEN;
    }
    for (int i = 0; i < past->count && past->model == OPLOG_REENTRANT && past->count < WHILES_MAX;
         i++) {
        struct attempt inner = past->all[i];
        if (inner.way != WAY_PLAIN || inner.to - inner.from < 8) continue;
        int quarter = (inner.to - inner.from) / 4;
        inner.way = WAY_INNER;
        inner.token = 0;
        inner.called = inner.from + 1;
        inner.from += quarter;
        inner.released = inner.to - 1;
        inner.to -= quarter;
        past->all[past->count++] = inner;
        break;
    }
}

/* Each client's clock moved, and tokens mixed: mostly bad, not always. */
static void spoil(struct past *past, struct lb_rng *rng, int most) {
    int shift[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        shift[i] = below(rng, 3) == 0 ? 0 : below(rng, 2 * most) - most;
    for (int i = 0; i < past->count; i++) {
        struct attempt *a = &past->all[i];
        a->called += shift[a->client];
        a->from += shift[a->client];
        a->to += shift[a->client];
        a->released += shift[a->client];
        if (a->token && below(rng, 6) == 0) a->token = 1 + below(rng, WHILES_MAX);
    }
}

/* Few moments, so that many things happen at the same one. */
static void coarsen(struct past *past, int grain) {
    for (int i = 0; i < past->count; i++) {
        struct attempt *a = &past->all[i];
        a->called = a->called / grain;
        a->from = a->from / grain;
        a->to = a->to / grain;
        a->released = a->released / grain;
    }
}

static void lease(struct past *past, struct lb_rng *rng) {
    for (int i = 0; i < past->count; i++) {
        struct attempt *a = &past->all[i];
        if (a->way != WAY_INNER && a->way != WAY_UNKNOWN && below(rng, 2)) {
            a->lease_end = a->called + below(rng, 500);
            a->lost = a->way == WAY_PLAIN && below(rng, 2);
            if (a->lost) a->token = 0; /* when it was granted is not known */
        }
    }
    for (int i = 0; i < past->count; i++) { /* the inner one has the outer one's */
        for (int k = 0; k < past->count; k++) {
            struct attempt *a = &past->all[i], *outer = &past->all[k];
            if (a->way != WAY_INNER || outer == a || outer->client != a->client) continue;
            if (outer->called <= a->called && a->released <= outer->released)
                a->lease_end = outer->lease_end, a->lost = outer->lost;
        }
    }
}

static void show(const struct past *past) {
    for (int i = 0; i < past->count; i++) {
        const struct attempt *a = &past->all[i];
        print_message("  client %d way %d permits %d %s token %d lease end %d: %d..%d .. %d..%d\n",
                      a->client, a->way, a->permits, a->shared ? "shared" : "", a->token,
                      a->lease_end, a->called, a->from, a->to, a->released);
    }
}

/* Whether holds of two clients overlap, or tokens may be out of order: if not, the history is good. */
static bool may_be_bad(const struct past *past) {
    for (int i = 0; i < past->count; i++) {
        const struct attempt *one = &past->all[i];
        if (one->token) return true;
        for (int k = 0; k < i; k++) {
            const struct attempt *other = &past->all[k];
            if (one->client != other->client && (one->way == WAY_OPEN || one->to > other->from) &&
                (other->way == WAY_OPEN || other->to > one->from))
                return true;
        }
    }
    return false;
}

struct tally {
    int good, bad, expired;
};

static void compare(const struct past *past, struct tally *tally) {
    struct judgement judgement = judged(past);
    bool leases = false; /* with leases it is not known when the server freed the key */
    for (int i = 0; i < past->count; i++) leases |= past->all[i].lease_end != INF;
    bool certain = explained(past, false);
    bool inside = leases ? explained(past, true) : certain;
    enum verdict truth = !inside ? VERDICT_VIOLATED : !certain ? VERDICT_EXPIRED : VERDICT_CLEAN;
    if (judgement.verdict != truth) {
        print_message("the search says '%s': %s, bound %d; the judge says %s\n",
                      verdict_name(truth), oplog_model_name(past->model), past->bound,
                      verdict_name(judgement.verdict));
        show(past);
        fail();
    }
    tally->good += truth == VERDICT_CLEAN;
    tally->bad += truth == VERDICT_VIOLATED;
    tally->expired += truth == VERDICT_EXPIRED;
}

static void compare_many(enum oplog_model model) {
    const char *asked = getenv("LOCKBENCH_HISTORIES");
    int wanted = asked ? atoi(asked) : 30000;
    struct tally tally = {0};
    for (int seed = 0; seed < SEEDS; seed++) {
        struct lb_rng rng;
        rng_seed(&rng, (uint64_t)seed, (uint64_t)model);
        int64_t share = (int64_t)wanted * (seed + 1) / SEEDS;
        while (tally.good < share || tally.bad < share) {
            struct past past = {.model = model};
            bool leases = below(&rng, 3) == 0;
            make_good(&past, &rng, !leases);
            if (tally.good >= share) {
                spoil(&past, &rng, 900);
            } else if (tally.bad < share && below(&rng, 2)) {
                spoil(&past, &rng, 300);
            }
            /* Not with re-entry, where a grant lies inside another: their order would be lost. */
            if (model != OPLOG_REENTRANT && below(&rng, 4) == 0) coarsen(&past, 100);
            if (leases) lease(&past, &rng);
            if (tally.good >= share && !may_be_bad(&past)) continue; /* there are enough of them */
            compare(&past, &tally);
        }
    }
    print_message("%s: %d good, %d bad, %d expired\n", oplog_model_name(model), tally.good,
                  tally.bad, tally.expired);
    assert_true(tally.expired > wanted / 100);
}

TEST(the_judge_says_what_an_exhaustive_search_says) {
    static const enum oplog_model models[] = {OPLOG_MUTEX, OPLOG_REENTRANT, OPLOG_RWLOCK,
                                              OPLOG_SEMAPHORE};
    for (int i = 0; i < 4; i++) compare_many(models[i]);
}

TEST_MAIN(NULL, NULL)
