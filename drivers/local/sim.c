/* sim: a lock in shared memory whose faults are scripted, so that the measuring and checking code
 * can be compared with known answers. It is no model of a real server.
 *
 * Each acquire and release takes `service`, and `drift` more with each second. Waiters poll.
 * `stall_after`/`stall` freezes every call that begins in that window until its end; `lose_every`
 * forgets each n-th release, so that the lock stays taken until its lease ends; `double_every`
 * grants each n-th acquire although it is held; `unknown_every` loses each n-th answer. */
#include <stdatomic.h>

#include "drivers/backends.h"
#include "drivers/wait.h"

#define SIM_SLOTS 4096
#define SIM_POLL_NS (20 * LB_US_NS)

struct sim_shared {
    _Atomic int64_t began_ns; /* when the first call of all was made */
    struct {
        /* 0 = free; else when the lease ends, in us (44 bits), and the holder's client (20 bits):
         * one word, so that no client sees a new holder with an old lease. */
        _Alignas(64) _Atomic uint64_t held;
        _Atomic uint64_t grants, releases, asked; /* grants is also the last token given */
    } slot[SIM_SLOTS];
};

struct sim_options {
    int64_t service_ns, drift_ns, stall_after_ns, stall_ns;
    int64_t lose_every, double_every, unknown_every;
};

static bool each(int64_t every, uint64_t number) {
    return every > 0 && number % (uint64_t)every == 0;
}

/* Passes the time that a call takes. False when the run was cut off. */
static bool pass_service_time(struct sim_shared *shared, const struct sim_options *options) {
    int64_t now_ns = lb_now(), service_ns = options->service_ns, none = 0;
    if (options->stall_ns > 0 || options->drift_ns > 0)
        atomic_compare_exchange_strong(&shared->began_ns, &none, now_ns);
    int64_t passed_ns = now_ns - atomic_load(&shared->began_ns);
    if (options->drift_ns > 0)
        service_ns += (int64_t)((double)options->drift_ns * (double)passed_ns / LB_S_NS);
    if (service_ns > 0) lb_sleep_until(now_ns + service_ns);
    if (options->stall_ns > 0) {
        int64_t from_ns = atomic_load(&shared->began_ns) + options->stall_after_ns;
        if (now_ns >= from_ns && now_ns < from_ns + options->stall_ns)
            lb_sleep_until(from_ns + options->stall_ns);
    }
    return !lb_stopping();
}

/* The end is rounded up, because the lease must not end here before it ends for its holder. */
static uint64_t held_word(const struct lb_session *session, int64_t lease_end_ns) {
    return ((uint64_t)((lease_end_ns + LB_US_NS - 1) / LB_US_NS) << 20) |
           (session->client & 0xfffff);
}

static bool is_over(uint64_t held, int64_t now_ns) {
    return (int64_t)(held >> 20) * LB_US_NS <= now_ns;
}

static enum lb_outcome sim_acquire(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    struct sim_shared *shared = session->server->shared;
    const struct sim_options *options = session->options;
    uint32_t place = request->key_index % SIM_SLOTS;
    bool once = request->deadline_ns <= lb_now();
    session->commands++;
    uint64_t asked = 1 + atomic_fetch_add(&shared->slot[place].asked, 1);
    int64_t sent_ns = lb_now();
    if (!pass_service_time(shared, options)) return LB_TIMEOUT;
    for (;;) {
        uint64_t held = atomic_load(&shared->slot[place].held);
        uint64_t mine = held_word(session, sent_ns + request->lease_ns);
        bool granted = false;
        if (each(options->double_every, asked)) {
            atomic_store(&shared->slot[place].held, mine);
            granted = true;
        } else if (held == 0 || is_over(held, lb_now())) {
            granted = atomic_compare_exchange_strong(&shared->slot[place].held, &held, mine);
        }
        if (granted) {
            *(uint64_t *)grant->data = mine;
            grant->token = 1 + atomic_fetch_add(&shared->slot[place].grants, 1);
            grant->lease_end_ns = sent_ns + request->lease_ns;
            if (each(options->unknown_every, asked))
                return lb_fail(session, LB_UNKNOWN, "sim: answer lost");
            return LB_OK;
        }
        if (once) return LB_BUSY;
        int64_t now_ns = lb_now();
        if (now_ns >= request->deadline_ns || lb_stopping()) return LB_TIMEOUT;
        lb_sleep_until(now_ns + SIM_POLL_NS);
        sent_ns = lb_now();
    }
}

/* Frees the slot if it still has the grant's word. */
static bool free_mine(struct sim_shared *shared, const struct lb_request *request,
                      const struct lb_grant *grant) {
    uint64_t mine = *(const uint64_t *)grant->data;
    return atomic_compare_exchange_strong(&shared->slot[request->key_index % SIM_SLOTS].held, &mine,
                                          0);
}

static enum lb_outcome sim_release(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    struct sim_shared *shared = session->server->shared;
    const struct sim_options *options = session->options;
    session->commands++;
    pass_service_time(shared, options);
    uint64_t number =
        1 + atomic_fetch_add(&shared->slot[request->key_index % SIM_SLOTS].releases, 1);
    if (each(options->lose_every, number)) return LB_OK;
    bool over = is_over(*(const uint64_t *)grant->data, lb_now());
    bool freed = free_mine(shared, request, grant);
    /* The script overwrote a doubled grant on purpose, so its release reports no loss. */
    return (freed && !over) || options->double_every > 0 ? LB_OK : LB_LOST;
}

static enum lb_outcome sim_settle(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    free_mine(session->server->shared, request, grant);
    return LB_OK;
}

static enum lb_outcome sim_ping(struct lb_session *session, int64_t deadline_ns) {
    (void)deadline_ns;
    session->commands++;
    pass_service_time(session->server->shared, session->options);
    return LB_OK;
}

static const struct lb_option sim_options[] = {
    {"service", LB_OPT_DURATION, offsetof(struct sim_options, service_ns), "100us", 0, 60e9, NULL,
     "how long each acquire, release and ping takes"},
    {"drift", LB_OPT_DURATION, offsetof(struct sim_options, drift_ns), "0", 0, 60e9, NULL,
     "how much longer each call takes with each second since the first one"},
    {"stall_after", LB_OPT_DURATION, offsetof(struct sim_options, stall_after_ns), "0", 0, 3600e9,
     NULL, "when the freeze begins, after the first call"},
    {"stall", LB_OPT_DURATION, offsetof(struct sim_options, stall_ns), "0", 0, 3600e9, NULL,
     "how long the freeze lasts; 0 = none"},
    {"lose_every", LB_OPT_INT, offsetof(struct sim_options, lose_every), "0", 0, 1e15, NULL,
     "each n-th release is forgotten; 0 = none"},
    {"double_every", LB_OPT_INT, offsetof(struct sim_options, double_every), "0", 0, 1e15, NULL,
     "each n-th acquire is granted although held; 0 = none"},
    {"unknown_every", LB_OPT_INT, offsetof(struct sim_options, unknown_every), "0", 0, 1e15, NULL,
     "each n-th acquire's answer is lost; 0 = none"},
    {0},
};

static const struct lb_connector connector = {
    .shared_bytes = sizeof(struct sim_shared),
    .describe = built_in_describe,
    .ping = sim_ping,
};

const struct lb_backend backend_sim = {
    .name = "sim",
    .summary = "scripted service times and faults, for known answers",
    .durability_class = "none",
    .connector = &connector,
};

static const struct lb_algorithm algorithm = {
    .options = sim_options,
    .options_bytes = sizeof(struct sim_options),
    .grant_bytes = sizeof(uint64_t),
    .acquire = sim_acquire,
    .release = sim_release,
    .settle = sim_settle,
};

const struct lb_lock lock_sim = {
    .name = "sim",
    .summary = "scripted: service time, stall, lost releases, double grants, lost answers",
    .backend = &backend_sim,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_FENCE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll, every 20 us",
    .about = {.order = "none",
              .token = "a counter",
              .hazards = "those that its options ask for; for tests of the tool, not a lock to "
                         "use",
              LB_TERMS(1, 1, LB_ON_ONE_HOST, LB_CRASH_LEASE)},
    .algorithm = &algorithm,
};
