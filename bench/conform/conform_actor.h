/* conform_actor: an actor is a client of a trial, with one session. The script orders each of its
 * calls.
 *
 * All functions are called from the script's fiber, except those for jobs. A call that does not
 * return is cut off after a long time and reported as a failure. */
#ifndef BENCH_CONFORM_CONFORM_ACTOR_H
#define BENCH_CONFORM_CONFORM_ACTOR_H

#include "bench/conform/conform_trial.h"

struct actor {
    struct trial *trial;
    struct actor *next;
    struct lb_server *server;
    struct lb_session session;
    struct lb_request request;
    struct lb_grant grant;
    struct trial_key key; /* used by the request, which borrows it */
    /* the keys of actor_use_keys, and the same keys in the driver's form */
    struct trial_key many[LB_KEYS_MAX];
    struct lb_key keys[LB_KEYS_MAX];
    bool connected;
    int failed; /* result of connect and describe: 0, or -1 with err */
    struct lb_err err;
    enum lb_outcome outcome;    /* of the last call */
    int64_t began_ns, ended_ns; /* when the last call was made, and when it returned */
    void *arg;                  /* for jobs */
    _Atomic int losses;         /* how often the driver said that the session is over */

    void (*_Atomic job)(struct actor *client); /* NULL = idle */
    _Atomic bool quit;
    struct lb_fiber *fiber;
    pthread_t thread;
    void *memory; /* session state, lock state, grant data */
    size_t memory_bytes;
};

/* A connected client; NULL after trial_fail. Through the proxy: actor_far. The trial frees it. */
struct actor *actor_new(struct trial *trial);
struct actor *actor_far(struct trial *trial);
/* Makes several clients as actor_new does. They use this key; NULL = no key yet. Each has arg for its
 * jobs. False after trial_fail. */
bool actors_new(struct trial *trial, const struct trial_key *key, void *arg, int count,
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

/* For jobs, after LB_UNKNOWN: opens a new session and settles, as a run does. False if that failed
 * within the time. */
bool actor_mend(struct actor *client);

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
 * the trial uses it, with the client's request.bound. False after trial_fail. */
bool actor_use_key(struct actor *client, const struct trial_key *key);
/* Uses several keys at once (LB_CAP_MULTI), the first of them as the key, until actor_use_key. */
bool actor_use_keys(struct actor *client, const struct trial_key *keys, int count);
/* Acquires or releases what the request names: the key or keys that were used last. */
enum lb_outcome actor_take(struct actor *client, int64_t deadline_ns);
void actor_begin_take(struct actor *client, int64_t deadline_ns);
/* Arms (again) or disarms the key in use: 0, or -1 with client->err. */
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
