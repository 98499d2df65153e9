/* judge: the one law of exclusion. Decides in n log n whether an oplog can come from a lock that excludes; if not, it
 * shows a few operations that contradict each other. The oplog has all operations of a stage, or the grants that failed a
 * check while it ran: fewer of them, and the same kinds.
 *
 * It places each acquire at its return and each release at its call; both lie inside the time for
 * which the client believes that it holds. If two such holds that exclude each other overlap, no
 * order of the operations explains them; if none overlap, this very order explains all of them. So
 * no search over orders is needed. */
#ifndef BENCH_OPLOG_JUDGE_H
#define BENCH_OPLOG_JUDGE_H

#include "bench/base/verdict.h"
#include "bench/oplog/book.h"

#define OPLOG_WITNESSES 16

/* The kind of contradiction. */
enum oplog_clash { CLASH_NONE, CLASH_OVERLAP, CLASH_TOKEN };

struct judgement {
    /* VERDICT_CLEAN; VERDICT_EXPIRED: holders overlapped, but not both inside their leases or sessions; VERDICT_VIOLATED */
    enum verdict verdict;
    uint64_t violations, expired; /* grants that began while other holders were inside */
    uint64_t token_errors;        /* grants whose token is not greater than an earlier one's */
    /* Grants that were gone while their lease and session lasted by all that is known; sessions that the server ended
     * under their holder, who was told or met by another one. A planned fault explains both. */
    uint64_t revoked, ended;
    uint64_t refused; /* grants that lasted, and whose token the guarded store refused */
    /* The earliest contradiction: first the grants that were already there, last the grant that
     * began while they were. Indices into the book's holds. */
    enum oplog_clash clash;
    uint32_t witness[OPLOG_WITNESSES];
    int witness_count;
    int64_t clash_ns; /* when the last one began */
};

/* Judges a book after book_end. ret_order: the holds by key and begin (order_holds), to be freed by the
 * caller; may be NULL. Returns 0, or -1 with err when out of memory. */
int oplog_judge(struct book *book, struct judgement *ret, uint32_t **ret_order, struct lb_err *err);

/* The counter-example of a judgement: the few operations that contradict each other, for
 * people and for JSON. */

#define EXPLAIN_LINES (2 * OPLOG_WITNESSES)

struct oplog_line {
    uint32_t client, key;
    const char *op; /* "acquire", "renew", "release", "told" */
    int64_t begin_ns, end_ns;
    const char *outcome;
    uint64_t token;
    int64_t lease_end_ns; /* LB_NEVER = none */
    bool shared;
    char note[96]; /* its part in the contradiction; "" = none */
};

/* Writes the acquires from first to last, then the ends of all holds but the last one. witness: the
 * judgement's witnesses, witness_count of them. Returns the number of lines. */
int oplog_explain(const struct oplog_rules *rules, const struct judgement *judgement,
                  const struct hold *witness, struct oplog_line lines[EXPLAIN_LINES]);

#endif
