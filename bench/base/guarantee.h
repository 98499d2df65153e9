/* guarantee: where the truth about a lock lives, as one word. The place decides which failures can
 * make two parties disagree about the lock.
 *
 * Drivers' tables and result files carry the word. */
#ifndef BENCH_BASE_GUARANTEE_H
#define BENCH_BASE_GUARANTEE_H

enum lb_guarantee {
    LB_ON_ONE_HOST,      /* memory or files of one machine */
    LB_ON_ONE_NODE,      /* one server; as durable as its disk */
    LB_ON_ASYNC_REPLICA, /* a primary; writes that no replica has are lost with it */
    LB_ON_MAJORITY,      /* a majority of several servers has agreed */
    LB_NO_GUARANTEE,     /* controls, baselines */
    LB_GUARANTEES
};

/* All words, in the order of the enum. */
#define GUARANTEE_WORDS "host node async-replica majority none"

/* "host", ... */
const char *lb_guarantee_name(enum lb_guarantee guarantee);

/* "one host", ...: in people's words; "not stated" for LB_GUARANTEES. */
const char *lb_guarantee_text(enum lb_guarantee guarantee);

/* LB_GUARANTEES for NULL and for any other word. */
enum lb_guarantee lb_guarantee_from(const char *name);

#endif
