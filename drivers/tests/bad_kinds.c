/* bad_kinds: see bad_kinds.h. Each key has a part of the shared memory; a waiter polls. */
#include "drivers/tests/bad_kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/wait.h"

#define PARTS 4096
#define QUEUE 128
#define SHARES 72
#define POLL_NS LB_MS_NS

struct party {
    uint32_t client; /* + 1; 0 = nobody */
    pid_t pid;
};

/* A reader's or writer's part of a lock. */
struct share {
    uint64_t id; /* 0 = none */
    uint32_t client;
    bool reads;
    int64_t end_ns;
};

struct part {
    char name[64]; /* of the key, once used */
    bool armed;
    uint32_t bound, out; /* permits */
    uint32_t depth;
    struct share share[SHARES];
    struct party holder, queue[QUEUE];
    int queued;
    uint64_t version;
};

struct kinds_shared {
    uint64_t ids;
    struct part part[PARTS];
};

struct kinds_options {
    int64_t fault;
};

struct kinds_grant {
    uint64_t came; /* the last share that there was when its attempt began */
    bool held;
    uint32_t permits;
    uint64_t share;
};

static bool has(const struct lb_session *session, enum kind_fault fault) {
    return ((const struct kinds_options *)session->options)->fault == (int64_t)fault;
}

static struct part *part_at(const struct lb_session *session, uint32_t index, const char *name) {
    struct kinds_shared *shared = session->server->shared;
    struct part *part = &shared->part[has(session, KIND_ONE_KEY) ? 0 : index % PARTS];
    if (!part->name[0]) snprintf(part->name, sizeof part->name, "%.60s", name);
    return part;
}

static struct part *part_of(const struct lb_session *session, const struct lb_request *request) {
    return part_at(session, request->key_index, request->key);
}

static struct party me(const struct lb_session *session, const struct lb_request *request) {
    bool by_session = has(session, KIND_OWNER_IS_SESSION);
    return (struct party){(by_session ? session->client : request->client) + 1, getpid()};
}

static bool is_dead(struct party party) {
    return party.client != 0 && party.pid != getpid() && kill(party.pid, 0) != 0 && errno == ESRCH;
}

#define ANY __attribute__((unused))
#define ENTER(kind)                                                                                \
    static bool enter_##kind(struct lb_session *session ANY, const struct lb_request *request ANY, \
                             struct part *part, struct lb_grant *grant ANY)
#define RELEASE(kind)                                                                              \
    static enum lb_outcome release_##kind(struct lb_session *session ANY,                          \
                                          const struct lb_request *request ANY,                    \
                                          struct lb_grant *grant ANY)

/* --- who may have it now, by primitive: takes it --- */

ENTER(mutex) {
    struct party mine = me(session, request);
    if (is_dead(part->holder) && !has(session, KIND_FORGETS_DEAD)) {
        part->holder.client = 0;
        part->depth = 0;
    }
    bool again = part->holder.client == mine.client &&
                 (request->held > 0 || has(session, KIND_OWNER_IS_SESSION));
    if (part->holder.client != 0 && (!again || has(session, KIND_NOT_TWICE))) return false;
    part->holder = mine;
    part->depth++;
    return true;
}

/* Forgets a share that has ended by itself. */
static void end_share(const struct lb_session *session, struct part *part, struct share *share) {
    if (has(session, KIND_READER_STAYS) && share->reads) return;
    if (has(session, KIND_ENDS_ALL) && share->reads) memset(part->share, 0, sizeof part->share);
    share->id = 0;
}

static void sweep(const struct lb_session *session, struct part *part) {
    for (int i = 0; i < SHARES; i++) {
        if (part->share[i].id && lb_now() >= part->share[i].end_ns)
            end_share(session, part, &part->share[i]);
    }
}

ENTER(rwlock) {
    struct kinds_shared *shared = session->server->shared;
    const struct kinds_grant *mine = grant->data;
    bool reads_along = request->shared && !has(session, KIND_READS_ALONE);
    struct share *place = NULL;
    sweep(session, part);
    for (int i = 0; i < SHARES; i++) {
        const struct share *at = &part->share[i];
        if (!at->id) place = &part->share[i];
        bool along =
            at->reads && (reads_along || (has(session, KIND_WRITES_AMONG) && !request->shared) ||
                          (has(session, KIND_FORGETS_LATE) && at->id > mine->came));
        if (at->id && !along) return false;
    }
    if (!place) return false;
    *place = (struct share){++shared->ids, request->client, request->shared,
                            lb_after(lb_now(), request->lease_ns)};
    ((struct kinds_grant *)grant->data)->share = place->id;
    grant->lease_end_ns = place->end_ns;
    return true;
}

ENTER(semaphore) {
    struct kinds_grant *mine = grant->data;
    uint32_t bound = part->bound + (has(session, KIND_ONE_MORE) ? 1 : 0);
    if (part->out + request->permits > bound) {
        if (has(session, KIND_TAKES_PART) && part->out < bound) part->out++;
        return false;
    }
    part->out += request->permits;
    mine->permits = request->permits;
    return true;
}

ENTER(optimistic) {
    grant->token = part->version;
    return true;
}

ENTER(atomic) {
    grant->token = part->version + 1;
    bool writes = !has(session, KIND_WRITES_ANYWAY) && !has(session, KIND_SAME_VERSION);
    if (writes) part->version = grant->token;
    return true;
}

typedef bool enter_fn(struct lb_session *session, const struct lb_request *request,
                      struct part *part, struct lb_grant *grant);

/* --- the queue that they stand in --- */

static void drop(struct part *part, int place) {
    memmove(&part->queue[place], &part->queue[place + 1],
            (size_t)(--part->queued - place) * sizeof *part->queue);
}

/* Whether it is the client's turn. */
static bool first(struct lb_session *session, const struct lb_request *request, struct part *part) {
    for (int i = part->queued - 1; i >= 0; i--) {
        if (is_dead(part->queue[i]) && !has(session, KIND_TRUSTS_DEAD)) drop(part, i);
    }
    if (has(session, KIND_STARVES) && request->client == 20) return false;
    if (part->queued == 0) return true;
    int turn = has(session, KIND_OVERTAKES) ? part->queued - 1 : 0;
    return part->queue[turn].client == request->client + 1 && part->queue[turn].pid == getpid();
}

static void leave(const struct lb_request *request, struct part *part) {
    for (int i = part->queued - 1; i >= 0; i--) {
        if (part->queue[i].client == request->client + 1 && part->queue[i].pid == getpid())
            drop(part, i);
    }
}

static void hoard(void) {
    for (int i = 0; i < 2; i++) {
        if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) abort();
    }
}

static enum lb_outcome take(struct lb_session *session, const struct lb_request *request,
                            struct lb_grant *grant, enter_fn *enter, bool queues) {
    struct part *part = part_of(session, request);
    struct kinds_grant *mine = grant->data;
    if (has(session, KIND_HOARDS)) hoard();
    bool once = request->deadline_ns <= lb_now(), queued = false;
    grant->lease_end_ns = LB_NEVER;
    mine->came = ((struct kinds_shared *)session->server->shared)->ids;
    for (;;) {
        /* A client that holds the lock already does not queue for it. */
        bool turn = !queues || request->held > 0 || first(session, request, part);
        if (turn && enter(session, request, part, grant)) break;
        if (once && has(session, KIND_POLLS)) lb_sleep_until(lb_now() + 60 * LB_MS_NS);
        if (once) return LB_BUSY;
        while (has(session, KIND_SPINS)) continue;
        if (has(session, KIND_CRASHES)) *(volatile int *)NULL = 1;
        if (lb_now() >= request->deadline_ns || lb_stopping()) {
            if (queued && !has(session, KIND_LEAVES)) leave(request, part);
            return LB_TIMEOUT;
        }
        if (queues && !queued && part->queued < QUEUE) {
            part->queue[part->queued++] = (struct party){request->client + 1, getpid()};
            queued = true;
        }
        lb_sleep_until(lb_now() + POLL_NS);
    }
    if (queued) leave(request, part);
    mine->held = true;
    return LB_OK;
}

#define ACQUIRE(kind, queues)                                                                      \
    static enum lb_outcome acquire_##kind(                                                         \
        struct lb_session *session, const struct lb_request *request, struct lb_grant *grant) {    \
        return take(session, request, grant, enter_##kind, queues);                                \
    }
ACQUIRE(mutex, true)
ACQUIRE(rwlock, false)
ACQUIRE(semaphore, false)
ACQUIRE(optimistic, false)
ACQUIRE(atomic, false)

/* --- releases --- */

RELEASE(mutex) {
    struct part *part = part_of(session, request);
    if (part->holder.client != me(session, request).client) return LB_LOST;
    if (--part->depth == 0 || has(session, KIND_FREES_AT_ONCE)) {
        part->holder.client = 0;
        part->depth = 0;
    }
    return LB_OK;
}

/* Whether the grant held; it does no longer. */
static bool give_up(struct lb_grant *grant) {
    struct kinds_grant *mine = grant->data;
    bool held = mine->held;
    mine->held = false;
    return held;
}

RELEASE(rwlock) {
    struct part *part = part_of(session, request);
    uint64_t id = ((struct kinds_grant *)grant->data)->share;
    sweep(session, part);
    for (int i = 0; id && i < SHARES; i++) {
        if (part->share[i].id != id) continue;
        if (has(session, KIND_READER_FREES) && part->share[i].reads)
            memset(part->share, 0, sizeof part->share);
        part->share[i].id = 0;
        return LB_OK;
    }
    return LB_LOST;
}

RELEASE(semaphore) {
    struct part *part = part_of(session, request);
    if (!give_up(grant)) return LB_LOST;
    uint32_t permits =
        ((struct kinds_grant *)grant->data)->permits + (has(session, KIND_GIVES_TWO) ? 1 : 0);
    part->out = part->out > permits ? part->out - permits : 0;
    return LB_OK;
}

RELEASE(optimistic) {
    struct part *part = part_of(session, request);
    if (part->version != grant->token && !has(session, KIND_WRITES_ANYWAY)) return LB_BUSY;
    part->version = grant->token + (has(session, KIND_SAME_VERSION) ? 0 : 1);
    grant->token = part->version;
    return LB_OK;
}

/* With KIND_WRITES_ANYWAY it writes the version that its acquire read long ago. */
RELEASE(atomic) {
    if (has(session, KIND_WRITES_ANYWAY)) part_of(session, request)->version = grant->token;
    return LB_OK;
}

/* --- what stays --- */

static int arm(struct lb_session *session, const struct lb_request *request, struct lb_err *err) {
    (void)err;
    struct part *part = part_of(session, request);
    if (part->armed && !has(session, KIND_ARMS_ANEW)) return 0;
    part->armed = true;
    part->bound = request->bound;
    part->out = 0;
    return 0;
}

static int disarm(struct lb_session *session, const struct lb_request *request,
                  struct lb_err *err) {
    (void)err;
    if (!has(session, KIND_KEEPS_ARMED)) part_of(session, request)->armed = false;
    return 0;
}

static int residue(struct lb_session *session, const char *prefix, struct lb_residue *ret_residue,
                   struct lb_err *err) {
    (void)err;
    struct kinds_shared *shared = session->server->shared;
    *ret_residue = (struct lb_residue){0};
    for (int i = 0; i < PARTS && !has(session, KIND_BLIND); i++) {
        const struct part *part = &shared->part[i];
        if (strncmp(part->name, prefix, strlen(prefix)) != 0) continue;
        ret_residue->count += (uint64_t)part->queued + part->armed + (part->holder.client != 0);
        snprintf(ret_residue->example, sizeof ret_residue->example, "part %d", i);
    }
    return 0;
}

static void disconnect(struct lb_session *session) {
    struct kinds_shared *shared = session->server->shared;
    for (int i = 0; i < PARTS; i++) {
        for (int j = 0; j < SHARES && shared->part[i].name[0]; j++) {
            struct share *share = &shared->part[i].share[j];
            if (share->id && share->client == session->client)
                end_share(session, &shared->part[i], share);
        }
    }
}

static int describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    (void)session;
    (void)err;
    lb_fact(facts, "version", "1");
    return 0;
}

static const struct lb_option kinds_options[] = {
    {"fault", LB_OPT_INT, offsetof(struct kinds_options, fault), "0", 0, KIND_FAULTS - 1, NULL,
     "which"},
    {0},
};

static const struct lb_connector connector = {
    .shared_bytes = sizeof(struct kinds_shared),
    .disconnect = disconnect,
    .describe = describe,
};

static const struct lb_backend backend_kinds = {
    .name = "kinds",
    .summary = "wrong on purpose",
    .connector = &connector,
};

#define KIND(kind, functions, ...)                                                                 \
    static const struct lb_algorithm kind##_algorithm = {                                          \
        .options = kinds_options,                                                                  \
        .options_bytes = sizeof(struct kinds_options),                                             \
        .grant_bytes = sizeof(struct kinds_grant),                                                 \
        .acquire = acquire_##kind,                                                                 \
        .release = release_##kind,                                                                 \
        functions};                                                                                \
    const struct lb_lock bad_##kind = {                                                            \
        .name = "bad-" #kind,                                                                      \
        .summary = "wrong on purpose",                                                             \
        .backend = &backend_kinds,                                                                 \
        .waits = "poll",                                                                           \
        .algorithm = &kind##_algorithm,                                                            \
        __VA_ARGS__,                                                                               \
    }
#define BOTH (LB_CAP_TRY | LB_CAP_WAIT)
#define ARMED .arm = arm, .disarm = disarm, .residue = residue

KIND(mutex, .residue = residue, .primitive = LB_MUTEX,
     .caps = BOTH | LB_CAP_FAIR | LB_CAP_REENTRANT | LB_CAP_SHARE,
     .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE, .about = {.crash = LB_CRASH_AT_ONCE});
KIND(rwlock, , .primitive = LB_RWLOCK, .caps = BOTH | LB_CAP_SHARED | LB_CAP_LEASE | LB_CAP_SESSION,
     .claims = LB_CLAIM_EXCLUDES);
KIND(semaphore, ARMED, .primitive = LB_SEMAPHORE, .caps = BOTH | LB_CAP_PERMITS,
     .claims = LB_CLAIM_EXCLUDES);
KIND(optimistic, ARMED, .primitive = LB_OPTIMISTIC, .caps = BOTH, .claims = LB_CLAIM_EXCLUDES);
KIND(atomic, , .primitive = LB_OPTIMISTIC, .caps = BOTH | LB_CAP_ATOMIC,
     .claims = LB_CLAIM_EXCLUDES);
