/* conform_trial: one check of one lock: a script that tells clients what to do and looks at what
 * comes back.
 *
 * The script is straight-line code on a fiber of its own; each client does as it is told, on its
 * own fiber of the same loop, or on a thread with a loop of its own where the lock blocks threads.
 * So the same script runs on both. A failed expectation ends the script, not the program: what is
 * left is cleaned up here. It knows no cmocka: whoever runs a trial asks trial->failure. */
#ifndef BENCH_CONFORM_CONFORM_TRIAL_H
#define BENCH_CONFORM_CONFORM_TRIAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "bench/conform/proxy.h"
#include "bench/run/place.h"
#include "bench/workload/plan.h"
#include "drivers/driver.h"
#include "drivers/wait.h"

#define TRIAL_TRY INT64_C(0) /* a deadline in the past: ask once */

/* For what should take moments: 30 s, since no machine is that slow. Less where locks are wrong on
 * purpose. */
extern int64_t trial_patience_ns;

struct actor;
struct conform_child;

/* A name of a lock that no other trial uses, and its numbers. */
struct trial_key {
    char name[LB_KEY_MAX + 1];
    size_t len;
    uint64_t number;
    uint32_t index;
};

/* What a failed check shows of a lock. */
enum trial_shown {
    TRIAL_WRONG, /* neither of these */
    TRIAL_GRANTED, /* a yes where it must say no: two held at once, or somebody was told that he does */
    TRIAL_REFUSED, /* a no, or no answer in time, where it must say yes */
};

struct trial {
    const struct plan_lock *lock;
    struct place *place;
    /* the same server through the proxy, and with little patience for its answers ... */
    struct place *far;
    struct proxy *proxy;                   /* ... both NULL where a check does not ask for them */
    struct conform_child *holder, *waiter; /* processes, where a check asks for them */
    int64_t session_lease_ns, lease_ns;    /* of further clients; a script may set them ... */
    uint32_t bound;                        /* ... and this; 0 = 1 */
    /* as the run's cut-off; LB_NEVER until a script moves it */
    _Atomic int64_t cutoff_ns;

    char failure[1024];     /* the first one; "" = none. Read it after trial_run */
    enum trial_shown shown; /* by the call that ended the script */
    bool overlap;           /* two held at once: no slowness of a machine explains that */
    bool threads;
    struct actor *clients;
    struct lb_fiber *director;
    int client_count;
    struct trial_key *armed; /* what has to be disarmed in the end */
    int armed_count;
    pthread_mutex_t mutex;
    void (*script)(struct trial *trial);
};

/* Runs a script with its clients and cleans up. lock, place (far, proxy) are set, the rest zero.
 * Main thread. */
void trial_run(struct trial *trial, void (*script)(struct trial *trial));

/* Notes what went wrong, unless something did before. From any of the trial's threads. */
void trial_fail(struct trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for two that held at once, also where something else failed before. */
void trial_overlap(struct trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool trial_failed(struct trial *trial);

/* For scripts: sleeps. */
void trial_sleep_until(int64_t when_ns);

/* Now and that patience: a deadline for what must happen. */
int64_t trial_soon(void);

/* Ends the script, with a failure, unless the condition holds. */
#define MUST(trial, condition, ...)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            trial_fail((trial), __VA_ARGS__);                                                      \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* Ends the script unless a call on the client gave this outcome. */
#define MUST_GIVE(client, call, wanted)                                                            \
    do {                                                                                           \
        if (!actor_gave((client), (call), (wanted), #call, __FILE__, __LINE__)) return;            \
    } while (0)

/* "lockbench-<8 hexadecimal digits>-<n>-", as a run's keys are named, so that `clean` knows them, or the given bytes. */
struct trial_key trial_key(void);
struct trial_key trial_key_named(const char *name, size_t len);

#endif
