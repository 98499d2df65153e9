/* conform_prompt: a try asks and does not wait; a timed wait ends by its deadline. A busy machine makes some calls slow,
 * a lock that sleeps or polls makes all of them slow. So the fastest of several calls decides. */
#include "bench/conform/conform.h"

#define CALLS 7
#define ROUND_TRIPS 3            /* so many uncontended acquires may a call take ... */
#define FLOOR_NS (30 * LB_MS_NS) /* ... and so much more */

/* The fastest of some uncontended acquires. */
static void measure(struct actor *client, int64_t *ret_least_ns) {
    struct trial_key key = trial_key();
    actor_use_key(client, &key);
    *ret_least_ns = INT64_MAX;
    for (int i = 0; i < CALLS; i++) {
        MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
        int64_t took_ns = client->ended_ns - client->began_ns;
        if (took_ns < *ret_least_ns) *ret_least_ns = took_ns;
        MUST_GIVE(client, actor_release(client), LB_OK);
    }
}

/* The client asks for what it can't have: each call must end within limit_ns, or so much after its deadline. */
static void ask_in_vain(struct actor *client, int64_t limit_ns, const char *when) {
    struct trial *trial = client->trial;
    for (int timed = 0; timed < 2; timed++) {
        int64_t least_ns = INT64_MAX;
        for (int i = 0; i < CALLS && least_ns > limit_ns; i++) {
            /* a whole second, because MySQL counts in seconds */
            int64_t due_ns = lb_now() + (timed ? LB_S_NS : 0);
            enum lb_outcome taken = actor_take(client, timed ? due_ns : TRIAL_TRY);
            MUST_GIVE(client, taken, timed ? LB_TIMEOUT : LB_BUSY, when);
            if (client->ended_ns - due_ns < least_ns) least_ns = client->ended_ns - due_ns;
        }
        MUST(trial, least_ns <= limit_ns,
             "%s %s is at least %lld ms late, %d times; %lld ms are enough for three round trips",
             timed ? "a timed wait" : "a try", when, (long long)(least_ns / LB_MS_NS), CALLS,
             (long long)(limit_ns / LB_MS_NS));
    }
}

void conform_prompt(struct trial *trial) {
    const struct lb_lock *lock = trial->lock->lock;
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    int64_t least_ns;
    measure(holder, &least_ns);
    if (trial_failed(trial)) return;
    int64_t limit_ns = ROUND_TRIPS * least_ns + FLOOR_NS;
    actor_use_key(other, &key);
    static const char *const whens[] = {"where another holds", "where another reads",
                                        "to read where another writes"};
    for (int mode = 0; mode < ((lock->caps & LB_CAP_SHARED) ? 3 : 1); mode++) {
        holder->request.shared = mode == 1;
        other->request.shared = mode == 2;
        MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
        ask_in_vain(other, limit_ns, whens[mode]);
        MUST_GIVE(holder, actor_release(holder), LB_OK);
    }
}
