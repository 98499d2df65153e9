/* conform_actor: an actor, a client of a trial: one session, told what to do by the script, call by
 * call.
 *
 * All functions but those for jobs: from the script's fiber. A call that does not return is
 * reported as a failure after a long time, and cut off. */
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
    struct trial_key key;               /* the request's; borrowed by it */
    struct trial_key many[LB_KEYS_MAX]; /* actor_use_keys's ... */
    struct lb_key keys[LB_KEYS_MAX];    /* ... as the driver sees them */
    bool connected;
    int failed;                 /* connect, describe: 0 or -1 ... */
    struct lb_err err;          /* ... and why */
    enum lb_outcome outcome;    /* of the last call ... */
    int64_t began_ns, ended_ns; /* ... and when it was made and returned */
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

/* Ends the session; opens another. The grant's data stays, as in a run. actor_open: whether it
 * worked. */
void actor_close(struct actor *client);
bool actor_open(struct actor *client);
/* The same, tried again for as long as trial_patience_ns times three: a server may be starting. */
bool actor_open_again(struct actor *client);

/* One call each, and its outcome. After acquire, the others use the same key. A key that can't be
 * armed gives LB_REFUSED. */
enum lb_outcome actor_acquire(struct actor *client, const struct trial_key *key,
                              int64_t deadline_ns);
enum lb_outcome actor_release(struct actor *client);
enum lb_outcome actor_renew(struct actor *client, int64_t lease_ns);
enum lb_outcome actor_settle(struct actor *client);
enum lb_outcome actor_ping(struct actor *client);

/* acquire in two halves: the script goes on meanwhile. actor_end waits for it. */
void actor_begin_acquire(struct actor *client, const struct trial_key *key, int64_t deadline_ns);
enum lb_outcome actor_end(struct actor *client);
bool actor_is_busy(const struct actor *client);

/* Any code on the client's own fiber; it may use session, request, grant. actor_end waits for
 * it. */
void actor_begin(struct actor *client, void (*job)(struct actor *client));
void actor_do(struct actor *client, void (*job)(struct actor *client));

/* For jobs, after LB_UNKNOWN: a new session, and settled, as the run does it. False if it can't be,
 * in the time. */
bool actor_mend(struct actor *client);

/* For MUST_GIVE. */
bool actor_gave(struct actor *client, enum lb_outcome got, enum lb_outcome wanted, const char *call,
                const char *file, int line);

/* The key's numbers into the client's request; for jobs. Arms the key, the first time that the
 * trial uses it, with the client's request.bound. False after trial_fail. */
bool actor_use_key(struct actor *client, const struct trial_key *key);
/* Several at once (LB_CAP_MULTI), the first of them as the key. Undone by actor_use_key. */
bool actor_use_keys(struct actor *client, const struct trial_key *keys, int count);
/* An acquire or release of what was last used, as it is in the request. */
enum lb_outcome actor_take(struct actor *client, int64_t deadline_ns);
void actor_begin_take(struct actor *client, int64_t deadline_ns);
/* Arms (again) or disarms the key in use: 0, or -1 with client->err. */
int actor_arm(struct actor *client);
int actor_disarm(struct actor *client);
/* Disarms all that the trial has armed, on a session of its own; nobody else has one any more. */
void actors_disarm(struct trial *trial);

/* What the trial does with them. */
void actor_run(void *client);          /* the fiber's body */
void actor_stop(struct actor *client); /* tells it to disconnect and end */
void actor_free(struct actor *client);
bool actor_idle_by(struct actor *client, int64_t deadline_ns);

#endif
