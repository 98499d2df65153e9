/* verdict: what was seen of a lock, as one word: in a stage, in a run, in a record of operations.
 *
 * Result files carry the word. Sentences that explain it to people are in report/run/words.c; the cells of a check
 * have words of their own (check_verdict.h). */
#ifndef BENCH_BASE_VERDICT_H
#define BENCH_BASE_VERDICT_H

#include <stdbool.h>

#include "bench/base/clock.h"

enum verdict {
    /* Verdicts on exclusion in a stage, from good to bad. */
    VERDICT_UNCHECKED, /* no grant in the window */
    VERDICT_CLEAN,
    /* clients waited for longer than any slow server explains, until the drain limit ended their waits,
     * though no fault was planned */
    VERDICT_STARVED,
    VERDICT_EXPIRED, /* a holder outlived its lease or session, as a lease permits */
    /* a free key that no client got any more: no lease or fault explains this, but the guarded data
     * stayed correct */
    VERDICT_STUCK,
    /* two clients at once inside their leases, a lost update, a fencing token that did not grow, a latch
     * that opened early, or goods that were sold twice */
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

#endif
