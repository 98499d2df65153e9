/* check_verdict: what a check says of a lock in one scenario, as one word. The tables of drivers
 * state which one they expect, and result files carry the word. */
#ifndef BENCH_BASE_CHECK_VERDICT_H
#define BENCH_BASE_CHECK_VERDICT_H

enum check_verdict {
    CHECK_SAFE,
    CHECK_EXPIRED,
    CHECK_STUCK,
    CHECK_VIOLATED,
    CHECK_INCONCLUSIVE, /* no fault acted, or nothing was granted before or after it */
    CHECK_FAILED,       /* the run failed */
    CHECK_VERDICTS
};

/* All words, in the order of the enum. */
#define CHECK_VERDICT_WORDS "safe expired stuck violated inconclusive failed"

/* "safe", ... */
const char *check_verdict_name(enum check_verdict verdict);

/* CHECK_VERDICTS for NULL and for any other word. */
enum check_verdict check_verdict_from(const char *name);

#endif
