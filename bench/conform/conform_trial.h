/* conform_trial: one check of one lock: a script that orders calls of clients and compares their
 * outcomes with what must come.
 *
 * The script is straight-line code on a fiber of its own. Each client runs on its own fiber of the
 * same loop, or, if the lock blocks threads, on a thread with a loop of its own; the script is the
 * same in both cases. A failed expectation ends the script, not the program, and the trial cleans
 * up. This file knows no cmocka: the caller of a trial reads trial->failure. */
#ifndef BENCH_CONFORM_CONFORM_TRIAL_H
#define BENCH_CONFORM_CONFORM_TRIAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "bench/place/place.h"
#include "bench/workload/plan.h"
#include "drivers/driver.h"
#include "drivers/wait.h"

#define TRIAL_TRY INT64_C(0) /* a deadline in the past: try once without waiting */

/* How long a check waits for something that normally takes milliseconds: 30 s, which is enough for the
 * slowest machine; less for locks that are broken on purpose. */
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

/* What a failed check shows about a lock. */
enum trial_shown {
    TRIAL_WRONG, /* another mistake than those below */
    /* the lock said yes where it must say no: a client was told that it holds a key that it does not hold */
    TRIAL_GRANTED,
    TRIAL_REFUSED, /* the lock said no, or did not answer in time, where it must say yes */
    TRIAL_OVERLAP, /* two clients held at once, which no slow machine explains */
};

struct trial {
    const struct plan_lock *lock;
    struct place *place;
    /* The same server through a wire (bench/servers/wire.h), with little patience for its answers; NULL if the
     * check does not ask for it. */
    struct place *far;
    int wire_fault;                        /* what the script makes the wire do */
    struct conform_child *holder, *waiter; /* processes of clients, if the check asks for them */
    /* for clients that are opened from now on; a script may set these. bound: 0 = 1 */
    int64_t session_lease_ns, lease_ns, connect_ns;
    uint32_t bound;
    /* like the run's cut-off; LB_NEVER until a script moves it */
    _Atomic int64_t cutoff_ns;

    char failure[1024];     /* the first failure; "" = none. To be read after trial_run */
    enum trial_shown shown; /* what the first failure shows */
    bool threads;
    struct actor *clients;
    struct lb_fiber *director;
    int client_count;
    struct trial_key *armed; /* the keys that have to be disarmed in the end */
    int armed_count;
    pthread_mutex_t mutex;
    void (*script)(struct trial *trial);
};

/* Runs a script with its clients and cleans up. The caller sets lock and place (and far),
 * the rest is zero. To be called on the main thread. */
void trial_run(struct trial *trial, void (*script)(struct trial *trial));

/* Notes a failure with what it shows, unless there was one before; an overlap also after another failure. Any thread of
 * the trial may call it. */
void trial_fail_as(struct trial *trial, enum trial_shown shown, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define trial_fail(trial, ...) trial_fail_as(trial, TRIAL_WRONG, __VA_ARGS__)
#define trial_overlap(trial, ...) trial_fail_as(trial, TRIAL_OVERLAP, __VA_ARGS__)
bool trial_failed(struct trial *trial);

/* For scripts: sleeps. */
void trial_sleep_until(int64_t when_ns);
/* When to look again for what others do: the less often the longer it has been waited for. */
int64_t trial_next_look_ns(int64_t since_ns);

/* For scripts whose grants have short leases: where all grants of a session have one lease, it shall be short, too. */
void trial_short_leases(struct trial *trial);

/* The deadline for something that must happen: now plus trial_patience_ns. */
int64_t trial_soon(void);
/* Until when what sessions left must be gone, since a server may take a moment to see that they ended: at most 10 s, for
 * what goes by itself after a time, such as a latch of Redisson after 18 s, was left. */
int64_t trial_settled(void);

/* Ends the script, with a failure that shows something, unless the condition holds. */
#define MUST_AS(trial, show, condition, ...)                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            trial_fail_as((trial), (show), __VA_ARGS__);                                           \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define MUST(trial, condition, ...) MUST_AS(trial, TRIAL_WRONG, condition, __VA_ARGS__)
/* The same for a condition that fails if the lock says yes where it must say no. */
#define MUST_REFUSE(trial, condition, ...) MUST_AS(trial, TRIAL_GRANTED, condition, __VA_ARGS__)
/* The same for an outcome that must not be a yes, and may be wrong in other ways. */
#define MUST_SAY_NO(trial, outcome, condition, ...)                                                \
    MUST_AS(trial, (outcome) == LB_OK ? TRIAL_GRANTED : TRIAL_WRONG, condition, __VA_ARGS__)

/* Ends the script unless a call on the client gave an outcome: MUST_GIVE(holder, actor_release(holder), LB_LOST) or
 * MUST_GIVE(holder, actor_release(holder), LB_LOST, "after its lease had ended"). The failure has the client's name
 * and the kind of call, which are taken from the script, and these words. */
#define NOT_OK LB_OUTCOMES /* wanted: any outcome but LB_OK */
#define MUST_GIVE(client, call, ...)                                                               \
    MUST_GIVE_WHEN(client, call, #client, #call, __VA_ARGS__, "", 0)
#define MUST_GIVE_WHEN(client, call, name, text, wanted, when, ...)                                \
    do {                                                                                           \
        const struct actor_source must_source = {name, text, when, __FILE__, __LINE__};            \
        if (!actor_gave((client), (call), (wanted), &must_source)) return;                         \
    } while (0)

/* Ends the script unless the client is in its call, also after so many ms: it must wait, "while another holds". */
#define MUST_WAIT(client, for_ms, when)                                                            \
    do {                                                                                           \
        trial_sleep_until(lb_now() + (for_ms)*LB_MS_NS);                                           \
        if (!actor_waits((client), #client, (when))) return;                                       \
    } while (0)
/* Ends the script unless the client gets the key, and frees it. */
#define MUST_USE(client, key, deadline_ns)                                                         \
    do {                                                                                           \
        MUST_GIVE(client, actor_acquire(client, key, deadline_ns), LB_OK);                         \
        MUST_GIVE(client, actor_release(client), LB_OK);                                           \
    } while (0)

/* Makes a name like those of a run's keys, which `clean` knows, "lockbench-<8 hexadecimal
 * digits>-<n>-", or of the given bytes. */
struct trial_key trial_key(void);
struct trial_key trial_key_named(const char *name, size_t len);

/* ---- a client in a process of its own, which the script can kill. It is forked before the trial makes loops and
 * threads, and waits until the script lets it begin. ---- */

#define CHILD_LEASE_NS (2 * LB_S_NS) /* the lease of its session and grants */

enum child_state { CHILD_WAITS, CHILD_CONNECTS, CHILD_ACQUIRES, CHILD_HOLDS, CHILD_FAILED };

struct conform_child { /* in memory that both processes share */
    pid_t pid;
    struct trial_key key;
    _Atomic enum child_state state;
    uint64_t token; /* of CHILD_HOLDS */
    char failure[1024];
};

/* Forks a client that will take the key, on the trial's place, and hold it. Main thread, while there is no other. */
struct conform_child *child_start(struct trial *trial, const struct trial_key *key);
/* Kills the child if it lives, and frees it. NULL is allowed. */
void child_free(struct conform_child *child);

/* For scripts: lets the child begin, and waits until it is about to acquire, or holds. */
void child_begin(struct trial *trial, struct conform_child *child, enum child_state until);
/* For scripts: kills the child, and returns when it is dead. */
void child_kill(struct conform_child *child);

/* conform_actor: an actor is a client of a trial, with one session. The script orders each of its
 * calls.
 *
 * All functions are called from the script's fiber, except those for jobs. A call that does not
 * return is cut off after a long time and reported as a failure. */

struct actor {
    struct trial *trial;
    struct actor *next;
    struct lb_server *server;
    struct lb_session session;
    struct lb_request request;
    struct lb_grant grant;
    struct trial_key key; /* used by the request, which borrows it */
    bool connected;
    int failed; /* result of connect and describe: 0, or -1 with err */
    struct lb_err err;
    void *arg;                  /* for jobs */
    enum lb_outcome outcome;    /* of the last call */
    int64_t began_ns, ended_ns; /* when the last call was made, and when it returned */
    int64_t ordered_ns; /* the request's deadline when the job was given; jobs may change that */
    _Atomic int losses; /* how often the driver said that the session is over */

    void (*_Atomic job)(struct actor *client); /* NULL = idle */
    _Atomic bool quit;
    struct lb_fiber *fiber;
    pthread_t thread;
    void *memory; /* session state, lock state, data of both grants */
    size_t memory_bytes;
    struct lb_grant kept; /* see actor_swap_grants */
};

/* A connected client. Through the wire: actor_far. The trial frees it. After a failure (that it can't connect, too) the
 * trial makes no calls any more: they give LB_OUTCOMES, and the next MUST_GIVE ends the script. */
struct actor *actor_new(struct trial *trial);
struct actor *actor_far(struct trial *trial);
/* Makes several clients as actor_new does. They use this key; NULL = no key yet. */
void actors_new(struct trial *trial, const struct trial_key *key, int count,
                struct actor **ret_clients);

/* actor_close ends the session, actor_open opens another and returns whether that worked. The
 * grant's data stays, as in a run. */
void actor_close(struct actor *client);
bool actor_open(struct actor *client);
/* Like actor_open, tried again for up to three times trial_patience_ns, since a server may be
 * starting. */
bool actor_open_again(struct actor *client);

/* Each makes one call and returns its outcome. After acquire, the others use the same key. A key
 * that can't be armed gives LB_REFUSED. */
enum lb_outcome actor_acquire(struct actor *client, const struct trial_key *key,
                              int64_t deadline_ns);
enum lb_outcome actor_release(struct actor *client);
enum lb_outcome actor_renew(struct actor *client, int64_t lease_ns);
enum lb_outcome actor_settle(struct actor *client);
enum lb_outcome actor_ping(struct actor *client);

/* From now on the client's calls are about another grant of its session, the next time about this one again. */
void actor_swap_grants(struct actor *client);

/* "timeout", or "timeout: why" where the driver gives a reason. The text lasts until the thread's next call of it. */
const char *actor_said(const struct lb_session *session, enum lb_outcome outcome);

/* Starts an acquire, during which the script goes on; actor_end waits for it. */
void actor_begin_acquire(struct actor *client, const struct trial_key *key, int64_t deadline_ns);
enum lb_outcome actor_end(struct actor *client);
bool actor_is_busy(const struct actor *client);

/* Runs a function (a job) on the client's own fiber; it may use session, request and grant.
 * actor_end waits for it. */
void actor_begin(struct actor *client, void (*job)(struct actor *client));
void actor_do(struct actor *client, void (*job)(struct actor *client));
/* Runs a job on all the clients at the same time, and waits until each has ended. */
void actors_do(struct actor *const *clients, int count, void (*job)(struct actor *client));

/* Jobs, which other jobs may call, too: each makes one call with the client's request as it is, and
 * sets client->outcome. */
void actor_job_acquire(struct actor *client);
void actor_job_release(struct actor *client);
void actor_job_renew(struct actor *client);

/* A contest: clients acquire and release again and again, until all together have had so many grants, each has had so
 * many turns, or the time is over. */
struct contest {
    int grants_most, turns_most;
    int64_t time_ns;
    int64_t hold_ns; /* long enough for an intruder */
    bool
        impatient; /* waits are of some microseconds or milliseconds, and a client may get nothing */
    void (*prepare)(struct actor *client, int turn); /* before each attempt; NULL = nothing */
};
/* Runs a contest of new clients on a key. A call that fails, an overlap, tokens that do not grow, or fewer grants than
 * clients fail the trial. */
void contest_run(struct trial *trial, const struct contest *contest, const struct trial_key *key,
                 int count, struct actor **ret_clients);

/* For jobs, after LB_UNKNOWN: opens a new session and settles, as a run does. False if that failed
 * within the time. */
bool actor_mend(struct actor *client);
void actor_job_mend(struct actor *client); /* the same; fails the trial if that failed */

/* For the macro MUST_WAIT. */
bool actor_waits(struct actor *client, const char *name, const char *when);

/* For the macro MUST_GIVE: where a call stands in a script. */
struct actor_source {
    const char *name, *call; /* "holder", "actor_release(holder)" */
    const char *when;        /* "after its lease had ended", or "" */
    const char *file;
    int line;
};
bool actor_gave(struct actor *client, enum lb_outcome got, enum lb_outcome wanted,
                const struct actor_source *source);

/* For jobs: fills the key's numbers into the client's request. Arms the key, the first time that
 * the trial uses it, with the client's request.bound. */
void actor_use_key(struct actor *client, const struct trial_key *key);
/* Arms (again) or disarms the key in use; the latter also if the lock needs none: 0, or -1 with client->err. */
int actor_arm(struct actor *client);
int actor_disarm(struct actor *client);
/* Disarms all keys that the trial has armed, in a session of its own, when all other sessions have
 * ended. */
void actors_disarm(struct trial *trial);

/* For the trial: the life of an actor. */
void actor_stop(struct actor *client); /* tells it to disconnect and end */
void actor_free(struct actor *client);
bool actor_idle_by(struct actor *client, int64_t deadline_ns);

#endif
