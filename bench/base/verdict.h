/* verdict: the words that result files carry: what was seen of a lock in a stage or a run, in a cell of a check, what samples
 * say of a promise, where the truth about a lock lives, and what its state survives.
 *
 * Sentences that explain the words to people are in report/run/words.c; nothing is read out of those. X_WORDS has the words in
 * the order of their enum. A function X_from returns the number of words, or the member for "unknown", for NULL and for
 * any other word. */
#ifndef BENCH_BASE_VERDICT_H
#define BENCH_BASE_VERDICT_H

#include <stdbool.h>

#include "bench/base/clock.h"

/* What was seen of a lock: in a stage, in a run, in a record of operations. */
enum verdict {
    /* Verdicts on exclusion in a stage, from good to bad. */
    VERDICT_UNCHECKED, /* no grant in the window */
    VERDICT_CLEAN,
    /* clients waited for longer than any slow server explains, for the whole window or until the drain
     * limit ended their waits, though no fault was planned */
    VERDICT_STARVED,
    VERDICT_EXPIRED, /* a holder outlived its lease or session, as a lease permits */
    /* a free key that no client got any more: no lease or fault explains this, but the guarded data
     * stayed correct */
    VERDICT_STUCK,
    /* two clients at once inside their leases, a lost update, or a fencing token that did not grow */
    VERDICT_VIOLATED,

    VERDICT_UNTESTED,        /* nothing wrong, but no client had to wait for another holder */
    VERDICT_BASELINE,        /* of a stage without a lock */
    VERDICT_NOTHING_GRANTED, /* of a run: no stage of it had a grant in its window */
    VERDICT_CONTROL_MISSED,  /* of a run: no check noticed a broken lock, so none can be trusted */
    VERDICTS
};

/* The words of a stage's verdict and of a run's, for the tables of results. */
#define VERDICT_WORDS_STAGE "clean violated stuck expired starved unchecked untested baseline"
#define VERDICT_WORDS_RUN                                                                          \
    "clean violated expired control-missed stuck starved nothing-granted untested"

/* What the line of error of a run with VERDICT_NOTHING_GRANTED begins with, before the reason. The tests look for it. */
#define VERDICT_NOTHING_GRANTED_WORDS "no request of a measured window was granted"

/* A lock is called stuck only if it takes so long more than its theory says: longer than a slow
 * server, an election or a busy machine takes. */
#define VERDICT_STUCK_PATIENCE_NS (5 * LB_S_NS)

/* "clean", "control-missed", ... */
const char *verdict_name(enum verdict verdict);
/* True if the word is the name of that verdict; false for NULL. */
bool verdict_is(const char *word, enum verdict verdict);
/* The exit code of a run that ends with this verdict: enum lb_exit. */
int verdict_exit(enum verdict verdict);

/* What a check says of a lock in one scenario. The tables of drivers state which one they expect. */
enum check_verdict {
    CHECK_SAFE,
    CHECK_EXPIRED,
    CHECK_STUCK,
    CHECK_VIOLATED,
    CHECK_INCONCLUSIVE, /* no fault acted, or nothing was granted before or after it */
    CHECK_FAILED,       /* the run failed */
    CHECK_VERDICTS
};

#define CHECK_VERDICT_WORDS "safe expired stuck violated inconclusive failed"
const char *check_verdict_name(enum check_verdict verdict);
enum check_verdict check_verdict_from(const char *name);

/* What samples say of a promise. */
enum promise_verdict {
    PROMISE_KEPT,   /* the promise was kept, with confidence */
    PROMISE_BROKEN, /* it was not */
    PROMISE_UNSURE, /* too few or too noisy samples to say, or the generator was the limit */
    PROMISE_VERDICTS
};

#define PROMISE_WORDS "kept broken unsure"
const char *promise_verdict_name(enum promise_verdict verdict);
enum promise_verdict promise_verdict_from(const char *name);

/* Where the truth about a lock lives. That decides which failures can make two parties disagree about the lock. */
enum lb_guarantee {
    LB_ON_ONE_HOST,      /* memory or files of one machine */
    LB_ON_ONE_NODE,      /* one server; as durable as its disk */
    LB_ON_ASYNC_REPLICA, /* a primary; writes that no replica has are lost with it */
    LB_ON_MAJORITY,      /* a majority of several servers has agreed */
    LB_NO_GUARANTEE,     /* controls, baselines */
    LB_GUARANTEES
};

#define GUARANTEE_WORDS "host node async-replica majority none"
const char *lb_guarantee_name(enum lb_guarantee guarantee);
enum lb_guarantee lb_guarantee_from(const char *name);
/* "one host", ...: in people's words; "not stated" for LB_GUARANTEES. */
const char *lb_guarantee_text(enum lb_guarantee guarantee);

/* What a lock's state survives, from the weakest to the strongest; then "not stated". Topology scripts have these words,
 * too. */
enum durability {
    DURABILITY_NONE,   /* no server: nothing outlives this machine */
    DURABILITY_MEMORY, /* a server's memory: gone when its process ends */
    DURABILITY_LOG, /* a log that is not flushed before each answer: may be lost with the machine */
    DURABILITY_DISK, /* on disk before each answer: survives a restart */
    DURABILITY_UNKNOWN,
    DURABILITIES
};

/* NULL for DURABILITY_UNKNOWN. */
const char *durability_name(enum durability durability);
enum durability durability_from(const char *name);

#endif
