/* judge: whether a history is one of a lock, in n log n; what it shows that does not, as few
 * operations.
 *
 * It takes each acquire at its return and each release at its call, which are inside of what the
 * client believes: if two such holds that exclude each other overlap, no order of the operations
 * explains them, and if none do, that very order does. So grants need no search. A try that was
 * busy without anybody who may have held it, and a grant that somebody who asked later got before,
 * are counted and accuse nobody. */
#ifndef BENCH_OPLOG_JUDGE_H
#define BENCH_OPLOG_JUDGE_H

#include "bench/oplog/book.h"

enum oplog_verdict {
    OPLOG_CLEAN,
    OPLOG_EXPIRED, /* holders met, but not both inside their leases or sessions */
    OPLOG_VIOLATED
};

#define OPLOG_WITNESSES 16

/* What contradicts what. */
enum oplog_clash { CLASH_NONE, CLASH_OVERLAP, CLASH_TOKEN };

struct judgement {
    enum oplog_verdict verdict;
    uint64_t violations, expired; /* grants that came in while others were there */
    uint64_t token_errors;        /* grants whose token is not greater than one's before them */
    uint64_t spurious_busy, inversions;
    bool busy_judged; /* spurious_busy is known */
    /* The earliest: the grant that came in last, behind those that it met. Indices of the book's
     * holds. */
    enum oplog_clash clash;
    uint32_t witness[OPLOG_WITNESSES];
    int witness_count;
    int64_t clash_ns; /* when it came in */
};

/* Judges a book that has ended. ret_order: the holds by key and begin (order.h), to be freed; may
 * be NULL. 0, or -1 with err when out of memory. */
int oplog_judge(struct book *book, struct judgement *ret, uint32_t **ret_order, struct lb_err *err);

/* ---- its parts ---- */

/* Tokens of grants that were called after others had returned. */
int judge_tokens(struct book *book, const uint32_t *from_order, struct judgement *judgement,
                 struct lb_err *err);
/* Tries that found it busy. */
int judge_busy(const struct book *book, struct judgement *judgement, struct lb_err *err);
/* Keeps a clash if it is the earliest of the gravest. */
bool judge_is_first(const struct judgement *judgement, enum oplog_verdict gravity, int64_t at_ns);

const char *oplog_verdict_name(enum oplog_verdict verdict);

#endif
