/* toy_help: mutexes in shared memory, right or wrong as a test says, so that each check of a stage is seen to pass and
 * to fail; toy_primitives.h has the other primitives. Header only, since each test is one program. No model of a real
 * server. */
#ifndef BENCH_TESTS_TOY_HELP_H
#define BENCH_TESTS_TOY_HELP_H

#include <signal.h>
#include <stdatomic.h>

#include "bench/tests/stage_help.h"
#include "drivers/wait.h"

#define TOY_KEYS 4096
#define TOY_CLIENTS 64
#define TOY_POLL_NS (100 * LB_US_NS)

/* What is wrong with a toy; set before the stage, so that its processes inherit it. */
struct toy_faults {
    bool writers_ignore_readers, readers_ignore_writers; /* reader-writer */
    uint32_t extra_permits;                              /* semaphore: above the bound */
    bool first_unlock_frees;                             /* re-entry */
    bool last_writer_wins;                               /* optimistic: no condition */
    bool nothing_is_locked;                              /* any holder: granted at once */
    /* from this release on, releases do nothing */
    int64_t stuck_after;
    /* at each n-th renewal the server has taken the grant away; nobody else gets the key before the client knows */
    int64_t evict_every;
    int64_t session_lost_every; /* each n-th acquire: its session is lost 2 ms later */
    bool silent;                /* ... and nobody is told */
    int64_t unknown_every;      /* each n-th acquire's answer is lost */
    bool settling_loses;        /* ... and its session is lost while that is settled */
    uint64_t residue;           /* what is left on the server */
    bool deaf;                  /* a release says that all is well, whatever the server said */
    int64_t connect_ns;         /* additional time for opening a session */
    int64_t shut_after;         /* from this session on the server lets nobody in */
    int64_t interrupt_at;       /* this acquire is the user's Ctrl-C */
    uint64_t tokens_restart;    /* a key's tokens begin at 1 again, once, after so many */
    bool shuts_out_second;      /* the second client is never granted anything */
    bool dies_closed;           /* the first client's process, when all sessions are closed */
};

static struct toy_faults toy;

#define RIGHT ((struct toy_faults){0})
#define PLAIN ((struct stage_case){0})

struct toy_key {
    _Alignas(64) _Atomic uint64_t owner; /* toy_word; 0 = free */
    _Atomic uint64_t depth, token, version;
    _Atomic int64_t lease_end_ns, readers, writer, out, count;
};

struct toy_shared {
    struct toy_key key[TOY_KEYS];
    _Atomic uint32_t takes;
    _Atomic int64_t acquires, releases, renewals, connects, open, armed;
    _Atomic int64_t granted[TOY_CLIENTS];  /* to each client, by the mutex */
    _Atomic int64_t most_inside;           /* driver calls of one session at a time */
    _Atomic int64_t opening, most_opening; /* sessions at a time */
    _Atomic int64_t closed_inside;         /* disconnects while a call was under way */
    _Atomic int64_t unopened;              /* calls through a session that is not open */
    _Atomic uint64_t drawn; /* the first number that the last client's session would draw */
};

/* Of a session. */
struct toy_session {
    bool open;
    int inside;
    struct lb_fiber *helper;
    bool ends;
    uint32_t victim_key;
    uint64_t victim;
    bool evicted; /* its client was told, and the key is free from its next acquire on */
};

static pid_t toy_supervisor;       /* the process that runs the stage */
static struct toy_shared *toy_at;  /* the last stage's: valid until the next one's */
static struct toy_shared toy_kept; /* its counts, for after the stage */

static inline bool toy_each(int64_t every, int64_t number) {
    return every > 0 && number % every == 0;
}

static inline int toy_open(struct lb_server *server, struct lb_err *err) {
    (void)err;
    toy_at = server->shared;
    toy_supervisor = getpid();
    return 0;
}

static inline void toy_close(struct lb_server *server) {
    if (server->shared) memcpy(&toy_kept, server->shared, sizeof toy_kept);
    toy_at = NULL;
}

static inline int toy_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    (void)deadline_ns;
    struct toy_shared *shared = session->server->shared;
    if (toy.shut_after > 0 && atomic_load(&shared->connects) >= toy.shut_after)
        return err_set(err, LB_EXIT_MACHINE, "the toy lets nobody in");
    struct lb_rng rng = session->rng;
    if (session->core) atomic_store(&shared->drawn, rng_u64(&rng));
    atomic_fetch_add(&shared->connects, 1);
    atomic_fetch_add(&shared->open, 1);
    int64_t opening = atomic_fetch_add(&shared->opening, 1) + 1;
    if (opening > atomic_load(&shared->most_opening)) atomic_store(&shared->most_opening, opening);
    lb_sleep_until(lb_now() + 50 * LB_US_NS + toy.connect_ns);
    atomic_fetch_sub(&shared->opening, 1);
    struct toy_session *mine = session->state;
    mine->open = true;
    return 0;
}

static inline void toy_dies(void *arg) {
    (void)arg;
    lb_sleep_until(lb_now() + 300 * LB_MS_NS);
    kill(getpid(), SIGKILL);
}

static inline void toy_disconnect(struct lb_session *session) {
    struct toy_shared *shared = session->server->shared;
    struct toy_session *mine = session->state;
    if (mine->inside > 0) atomic_fetch_add(&shared->closed_inside, 1);
    mine->ends = true;
    if (mine->helper) {
        lb_wake(mine->helper);
        lb_join(mine->helper);
    }
    mine->helper = NULL;
    atomic_fetch_sub(&shared->open, 1);
    bool dies = toy.dies_closed && session->client == 0 && getpid() != toy_supervisor;
    if (dies) lb_start_fiber("toy", toy_dies, NULL);
}

static inline int toy_describe(struct lb_session *session, struct lb_facts *facts,
                               struct lb_err *err) {
    (void)session;
    (void)err;
    lb_fact(facts, "version", "a toy");
    return 0;
}

static inline void toy_in(struct lb_session *session) {
    struct toy_shared *shared = session->server->shared;
    struct toy_session *mine = session->state;
    mine->inside++;
    session->commands++;
    if (!mine->open) atomic_fetch_add(&shared->unopened, 1);
    if (mine->inside > atomic_load(&shared->most_inside))
        atomic_store(&shared->most_inside, mine->inside);
}

static inline enum lb_outcome toy_out(struct lb_session *session, enum lb_outcome outcome) {
    struct toy_session *mine = session->state;
    mine->inside--;
    return outcome;
}

/* A function of a lock, with session, request and grant. */
#define TOY_CALL(name)                                                                             \
    static inline enum lb_outcome name(struct lb_session *session __attribute__((unused)),         \
                                       const struct lb_request *request __attribute__((unused)),   \
                                       struct lb_grant *grant __attribute__((unused)))

/* Waits a little. LB_OK to look again. */
static inline enum lb_outcome toy_wait(struct lb_session *session,
                                       const struct lb_request *request) {
    int64_t now_ns = lb_now();
    if (request->deadline_ns == 0) return LB_BUSY;
    if (now_ns >= request->deadline_ns || lb_stopping()) return LB_TIMEOUT;
    session->wakeups++;
    lb_sleep_until(now_ns + TOY_POLL_NS);
    return LB_OK;
}

/* ---- mutex: leases, renewal, re-entry, shared sessions ---- */

/* The owner word of a key: the client + 1, and a number that is new for each grant. Without the number a client that
 * was delayed while it took over an ended lease could take the key from a holder that has released it and got it
 * again. */
static inline uint64_t toy_word(struct toy_shared *shared, uint64_t owner) {
    return (uint64_t)(1 + atomic_fetch_add(&shared->takes, 1)) << 32 | owner;
}

static inline bool toy_owns(struct toy_shared *shared, uint32_t key, uint64_t owner) {
    return (uint32_t)atomic_load(&shared->key[key].owner) == owner;
}

/* lease_end_ns is 0 or LB_NEVER while there is no lease that could end. A client that takes a key
 * sets it last, and only one client at a time can take the key from a holder whose lease is
 * over. */
static inline bool toy_take(struct toy_shared *shared, uint32_t key, uint64_t owner,
                            int64_t lease_ns) {
    int64_t now_ns = lb_now();
    uint64_t holder = atomic_load(&shared->key[key].owner);
    int64_t end_ns = atomic_load(&shared->key[key].lease_end_ns);
    if (toy.nothing_is_locked) return true;
    if (holder != 0) {
        if (end_ns == 0 || now_ns < end_ns) return false;
        if (!atomic_compare_exchange_strong(&shared->key[key].lease_end_ns, &end_ns, LB_NEVER))
            return false;
    }
    if (!atomic_compare_exchange_strong(&shared->key[key].owner, &holder, toy_word(shared, owner)))
        return false;
    atomic_store(&shared->key[key].lease_end_ns, lb_after(now_ns, lease_ns));
    return true;
}

/* Gives the holder's grant a new end; LB_NEVER: before a release. Whoever changes the end first has the key: the
 * holder, or the client that takes over an ended lease. */
static inline bool toy_extend(struct toy_shared *shared, uint32_t key, uint64_t owner,
                              int64_t new_end_ns) {
    int64_t end_ns = atomic_load(&shared->key[key].lease_end_ns);
    bool is_taken_over = end_ns == LB_NEVER && new_end_ns != LB_NEVER;
    return !is_taken_over && toy_owns(shared, key, owner) &&
           atomic_compare_exchange_strong(&shared->key[key].lease_end_ns, &end_ns, new_end_ns);
}

static inline void toy_drop(struct toy_shared *shared, uint32_t key, uint64_t owner) {
    uint64_t word = atomic_load(&shared->key[key].owner);
    if ((uint32_t)word != owner || !toy_extend(shared, key, owner, LB_NEVER)) return;
    atomic_compare_exchange_strong(&shared->key[key].owner, &word, 0);
}

static inline void toy_loses_session(void *arg) {
    struct lb_session *session = arg;
    struct toy_session *mine = session->state;
    lb_sleep_until(lb_now() + 2 * LB_MS_NS);
    if (mine->ends) return;
    if (!toy.silent) lb_session_lost(session); /* before anybody else can get the key */
    toy_drop(session->server->shared, mine->victim_key, mine->victim);
}

/* The others poll meanwhile, so that one of them may get the key. */
static inline void toy_leave_evicted(struct lb_session *session) {
    struct toy_session *mine = session->state;
    if (!mine->evicted) return;
    mine->evicted = false;
    toy_drop(session->server->shared, mine->victim_key, mine->victim);
    lb_sleep_until(lb_now() + LB_MS_NS);
}

TOY_CALL(toy_acquire) {
    struct toy_shared *shared = session->server->shared;
    struct toy_session *mine = session->state;
    uint64_t owner = request->client + 1;
    uint32_t key = request->key_index % TOY_KEYS;
    if (request->held > 0) {
        atomic_fetch_add(&shared->key[key].depth, 1);
        return LB_OK;
    }
    toy_in(session);
    toy_leave_evicted(session);
    int64_t sent_ns = lb_now();
    while ((toy.shuts_out_second && request->client == 1) ||
           !toy_take(shared, key, owner, request->lease_ns)) {
        enum lb_outcome outcome = toy_wait(session, request);
        if (outcome != LB_OK) return toy_out(session, outcome);
        sent_ns = lb_now();
    }
    int64_t number = 1 + atomic_fetch_add(&shared->acquires, 1);
    if (number == toy.interrupt_at) __atomic_store_n(&no_interrupts, 1, __ATOMIC_RELAXED);
    grant->token = 1 + atomic_fetch_add(&shared->key[key].token, 1);
    if (toy.tokens_restart && grant->token > toy.tokens_restart) grant->token -= toy.tokens_restart;
    atomic_fetch_add(&shared->granted[request->client % TOY_CLIENTS], 1);
    bool ends = session->lock->caps & LB_CAP_LEASE;
    grant->lease_end_ns = ends ? lb_after(sent_ns, request->lease_ns) : LB_NEVER;
    if (toy_each(toy.session_lost_every, number) && !mine->helper) {
        mine->victim = owner;
        mine->victim_key = key;
        mine->helper = lb_start_fiber("toy", toy_loses_session, session);
    }
    if (toy_each(toy.unknown_every, number)) {
        return toy_out(session, lb_fail(session, LB_UNKNOWN, "toy: answer lost"));
    }
    return toy_out(session, LB_OK);
}

TOY_CALL(toy_release) {
    struct toy_shared *shared = session->server->shared;
    uint64_t owner = request->client + 1;
    uint32_t key = request->key_index % TOY_KEYS;
    toy_in(session);
    int64_t number = 1 + atomic_fetch_add(&shared->releases, 1);
    if (toy.stuck_after > 0 && number >= toy.stuck_after) {
        atomic_store(&shared->key[key].lease_end_ns, LB_NEVER);
        return toy_out(session, LB_OK);
    }
    if (request->held > 1) {
        atomic_fetch_sub(&shared->key[key].depth, 1);
        if (toy.first_unlock_frees) toy_drop(shared, key, owner);
        return toy_out(session, LB_OK);
    }
    bool ours = toy_owns(shared, key, owner);
    bool over = lb_now() >= atomic_load(&shared->key[key].lease_end_ns);
    toy_drop(shared, key, owner);
    bool excused = toy.nothing_is_locked || toy.first_unlock_frees || toy.deaf;
    return toy_out(session, (ours && !over) || excused ? LB_OK : LB_LOST);
}

TOY_CALL(toy_renew) {
    struct toy_shared *shared = session->server->shared;
    struct toy_session *mine = session->state;
    uint32_t key = request->key_index % TOY_KEYS;
    uint64_t owner = request->client + 1;
    toy_in(session);
    lb_sleep_until(lb_now() + 100 * LB_US_NS); /* a round trip: a release may come meanwhile */
    int64_t number = 1 + atomic_fetch_add(&shared->renewals, 1);
    int64_t end_ns = lb_after(lb_now(), request->lease_ns);
    if (toy_each(toy.evict_every, number)) {
        mine->evicted = true;
        mine->victim_key = key;
        mine->victim = owner;
        return toy_out(session, LB_LOST);
    }
    if (!toy_extend(shared, key, owner, end_ns)) return toy_out(session, LB_LOST);
    grant->lease_end_ns = end_ns;
    return toy_out(session, LB_OK);
}

TOY_CALL(toy_settle) {
    toy_in(session);
    toy_drop(session->server->shared, request->key_index % TOY_KEYS, request->client + 1);
    if (toy.settling_loses) lb_session_lost(session);
    return toy_out(session, LB_OK);
}

static inline int toy_residue(struct lb_session *session, const char *prefix,
                              struct lb_residue *ret_residue, struct lb_err *err) {
    (void)session;
    (void)err;
    ret_residue->count = toy.residue;
    snprintf(ret_residue->example, sizeof ret_residue->example, "%s0", prefix);
    return 0;
}

static inline int toy_arm(struct lb_session *session, const struct lb_request *request,
                          struct lb_err *err) {
    (void)err;
    struct toy_shared *shared = session->server->shared;
    atomic_store(&shared->key[request->key_index % TOY_KEYS].count, request->bound);
    atomic_fetch_add(&shared->armed, 1);
    return 0;
}

static inline int toy_disarm(struct lb_session *session, const struct lb_request *request,
                             struct lb_err *err) {
    (void)request;
    (void)err;
    struct toy_shared *shared = session->server->shared;
    atomic_fetch_sub(&shared->armed, 1);
    return 0;
}

static const struct lb_connector toy_connector = {
    .shared_bytes = sizeof(struct toy_shared),
    .session_bytes = sizeof(struct toy_session),
    .open = toy_open,
    .close = toy_close,
    .connect = toy_connect,
    .disconnect = toy_disconnect,
    .describe = toy_describe,
};

static const struct lb_backend toy_backend = {
    .name = "toy",
    .summary = "for tests",
    .connector = &toy_connector,
};

#define TOY_LOCK(lock_, primitive_, caps_, acquire_, release_, ...)                                \
    static const struct lb_algorithm lock_##_algorithm = {.arm = toy_arm,                          \
                                                          .disarm = toy_disarm,                    \
                                                          .residue = toy_residue,                  \
                                                          .acquire = acquire_,                     \
                                                          .release = release_,                     \
                                                          __VA_ARGS__};                            \
    static const struct lb_lock lock_ __attribute__((unused)) = {.name = #lock_,                   \
                                                                 .summary = "for tests",           \
                                                                 .backend = &toy_backend,          \
                                                                 .waits = "poll, every 100 us",    \
                                                                 .primitive = primitive_,          \
                                                                 .caps = caps_,                    \
                                                                 .algorithm = &lock_##_algorithm}

TOY_LOCK(toy_mutex, LB_MUTEX,
         LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_REENTRANT | LB_CAP_SHARE |
             LB_CAP_FAIR | LB_CAP_FENCE,
         toy_acquire, toy_release, .renew = toy_renew, .settle = toy_settle);

/* Grants end with the session; the lease's end is not known to the client. */
TOY_LOCK(toy_session, LB_MUTEX, LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SESSION, toy_acquire, toy_release,
         .settle = toy_settle);

/* Runs a toy with these faults: see run_stage_as. */
static inline struct stage *run_toy(const struct lb_lock *lock, struct toy_faults faults,
                                    struct stage_case wanted, const char *const *sets) {
    toy = faults;
    wanted.instead = lock;
    return run_stage_as("sim", &wanted, sets);
}

#endif
