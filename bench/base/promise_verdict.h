/* promise_verdict: what samples say of a promise, as one word. Result files carry the word. */
#ifndef BENCH_BASE_PROMISE_VERDICT_H
#define BENCH_BASE_PROMISE_VERDICT_H

enum promise_verdict {
    PROMISE_KEPT,   /* the promise was kept, with confidence */
    PROMISE_BROKEN, /* it was not */
    PROMISE_UNSURE, /* too few or too noisy samples to say, or the generator was the limit */
    PROMISE_VERDICTS
};

/* All words, in the order of the enum. */
#define PROMISE_WORDS "kept broken unsure"

/* "kept", ... */
const char *promise_verdict_name(enum promise_verdict verdict);

/* PROMISE_VERDICTS for NULL and for any other word. */
enum promise_verdict promise_verdict_from(const char *name);

#endif
