/* conform_suite: all checks of one lock on one server, one after the other. On a server of the user a check that
 * has to kill or inspect the server is left out, with the reason. This file prints nothing and decides nothing. */
#ifndef BENCH_CONFORM_CONFORM_SUITE_H
#define BENCH_CONFORM_CONFORM_SUITE_H

#include <signal.h>

#include "bench/conform/conform_trial.h"

#define CONFORM_SUITE_SETS_MAX 24

enum conform_end { CONFORM_PASSED, CONFORM_FAILED, CONFORM_LEFT_OUT };

/* The result of one check; valid only during the call of `tell`. */
struct conform_told {
    const char *check;
    enum conform_end end;
    const char *why;   /* why the check failed or was left out; else "" */
    const char *first; /* why the check was tried twice, or "" */
    enum trial_shown shown;
    bool overlap;
    int64_t took_ns;
};

struct conform_ask {
    const struct lb_lock *lock;
    const char *url; /* a server that runs already; NULL = lockbench starts one */
    /* "name=value" for options of the lock and its backend, NULL at the end, at most CONFORM_SUITE_SETS_MAX;
     * NULL = all by default */
    const char *const *sets;
    void (*tell)(void *arg, const struct conform_told *told);
    void *arg;
    const volatile sig_atomic_t *interrupts; /* looked at between two checks */
};

/* Runs and reports each check of the lock. A call of a driver that neither returns nor waits ends
 * the process, with a message. To be called on the main thread, while there is no other. Returns 0
 * when all were tried, or -1 with err: no server, or interrupted (LB_EXIT_INTERRUPTED). */
int conform_suite(const struct conform_ask *ask, struct lb_err *err);

#endif
