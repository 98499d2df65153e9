/* bad_lock: see bad_lock.h. */
#include "drivers/tests/bad_lock.h"

#include <string.h>
#include <strings.h>

#include "drivers/key_names.h"
#include "drivers/wait.h"

#define SLOTS 4096
#define POLL_NS LB_MS_NS

struct slot {
    char name[LB_KEY_MAX + 1]; /* the last that used it, and its number */
    uint64_t number;
    uint64_t token; /* of the last grant */
    bool held;      /* by the grant with that token, until */
    int64_t lease_end_ns;
    uint32_t client;
    int ghosts; /* waiters that gave up and are still queued */
};

struct bad_shared {
    struct slot slot[SLOTS];
    uint64_t acquires, releases, grants;
};

struct bad_options {
    int64_t fault;
};

struct bad_session {
    bool connected;
    struct lb_session *session;
};

struct bad_grant {
    uint64_t token;
};

static enum bad_fault fault_of(const struct lb_session *session) {
    const struct bad_options *options = session->options;
    return (enum bad_fault)options->fault;
}

static struct slot *slot_of(const struct lb_session *session, const struct lb_request *request) {
    struct bad_shared *shared = session->server->shared;
    enum bad_fault fault = fault_of(session);
    const uint64_t bit = UINT64_C(1) << 40;
    for (int i = 0; i < SLOTS; i++) {
        struct slot *at = &shared->slot[i];
        if (at->held &&
            ((fault == BAD_CUTS_NAME && request->key_len >= 64 &&
              strncmp(at->name, request->key, 64) == 0) ||
             (fault == BAD_FOLDS_CASE && strcasecmp(at->name, request->key) == 0) ||
             (fault == BAD_CUTS_NUMBER && (at->number | bit) == (request->key_number | bit))))
            return at;
    }
    struct slot *slot = &shared->slot[fault == BAD_ONE_KEY ? 0 : request->key_index % SLOTS];
    memcpy(slot->name, request->key, request->key_len + 1);
    slot->number = request->key_number;
    return slot;
}

static bool is_free(const struct lb_session *session, const struct slot *slot) {
    if (!slot->held) return true;
    if (fault_of(session) == BAD_LEASE_NEVER_ENDS) return false;
    /* of 300 ms: a busy machine may stand still for a while before the waiter looks again */
    int64_t early_ns = fault_of(session) == BAD_LEASE_ENDS_EARLY ? 250 * LB_MS_NS : 0;
    return lb_now() >= slot->lease_end_ns - early_ns;
}

static enum lb_outcome grant_it(struct lb_session *session, const struct lb_request *request,
                                struct slot *slot, struct lb_grant *grant) {
    struct bad_shared *shared = session->server->shared;
    struct bad_grant *mine = grant->data;
    slot->token = ++shared->grants;
    slot->held = true;
    slot->client = session->client;
    slot->lease_end_ns = lb_after(lb_now(), request->lease_ns);
    mine->token = grant->token = slot->token;
    grant->lease_end_ns = slot->lease_end_ns;
    if (fault_of(session) == BAD_TOKEN_REPEATS && slot->token % 5 == 0) grant->token--;
    if (fault_of(session) == BAD_TOKEN_ZERO) grant->token = 0;
    return LB_OK;
}

static enum lb_outcome bad_acquire(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    struct bad_shared *shared = session->server->shared;
    struct slot *slot = slot_of(session, request);
    enum bad_fault fault = fault_of(session);
    int64_t now_ns = lb_now(), deadline_ns = request->deadline_ns;
    bool once = deadline_ns <= now_ns;
    if (fault == BAD_TRY_POLLS && once && !is_free(session, slot))
        lb_sleep_until(now_ns + 60 * LB_MS_NS);
    if (fault == BAD_WAITS_ON && !once) deadline_ns += 700 * LB_MS_NS;
    if (fault == BAD_NAME_BREAKS && memchr(request->key, ' ', request->key_len)) return LB_BROKEN;
    if (fault == BAD_NAME_SILENT && request->key_len > 200) return LB_REFUSED;
    if (fault == BAD_TIMES_OUT_EARLY && !once) deadline_ns = now_ns + (deadline_ns - now_ns) / 2;
    shared->acquires++;
    if (fault == BAD_GRANTS_TWICE && shared->acquires % 5 == 0)
        return grant_it(session, request, slot, grant);
    if (fault == BAD_WAITER_GETS_IT && !once) return grant_it(session, request, slot, grant);
    if (fault == BAD_TRY_GETS_NOTHING && once) return LB_BUSY;
    bool slept = false;
    int64_t deaf_ns = LB_NEVER; /* until when the cut-off is not heard */
    for (;;) {
        if (is_free(session, slot) && slot->ghosts > 0) {
            /* It is the turn of a waiter that gave up, which will never release the lock. */
            slot->ghosts--;
            slot->held = true;
            slot->token = ++shared->grants;
            slot->lease_end_ns = LB_NEVER;
        }
        if (is_free(session, slot) && !(fault == BAD_WAITER_SLEEPS && slept))
            return grant_it(session, request, slot, grant);
        if (once) return fault == BAD_TRY_TIMES_OUT ? LB_TIMEOUT : LB_BUSY;
        now_ns = lb_now();
        if (now_ns >= deadline_ns) break;
        /* Even the deaf lock's wait ends after some time, so that the program ends. */
        if (lb_stopping() && deaf_ns == LB_NEVER)
            deaf_ns = now_ns + (fault == BAD_DEAF ? 3 * LB_S_NS : 0);
        if (now_ns >= deaf_ns) break;
        lb_sleep_until(now_ns + POLL_NS);
        slept = true;
    }
    if (fault == BAD_LEAVES_TRACE) slot->ghosts++;
    return LB_TIMEOUT;
}

static bool is_mine(const struct slot *slot, const struct lb_grant *grant) {
    const struct bad_grant *mine = grant->data;
    return slot->held && mine->token != 0 && mine->token == slot->token;
}

/* A word of the client that holds, whose grants are numbered. */
static bool is_old_word(const struct lb_session *session, const struct slot *slot,
                        const struct lb_grant *grant) {
    const struct bad_grant *mine = grant->data;
    return fault_of(session) == BAD_OLD_WORD && slot->held && mine->token != 0 &&
           slot->client == session->client;
}

static enum lb_outcome bad_release(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    struct bad_shared *shared = session->server->shared;
    struct slot *slot = slot_of(session, request);
    enum bad_fault fault = fault_of(session);
    shared->releases++;
    if (fault == BAD_FORGETS_RELEASE && shared->releases % 7 == 0) return LB_OK;
    bool mine = is_mine(slot, grant) || is_old_word(session, slot, grant);
    bool over = mine && is_free(session, slot);
    if (mine || (fault == BAD_FREES_ANYBODYS && slot->held)) {
        slot->held = false;
        return over && fault != BAD_LEASE_UNKNOWN ? LB_LOST : LB_OK;
    }
    return fault == BAD_RELEASE_IS_OK ? LB_OK : LB_LOST;
}

static enum lb_outcome bad_renew(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    struct slot *slot = slot_of(session, request);
    enum bad_fault fault = fault_of(session);
    if (!is_mine(slot, grant) || is_free(session, slot))
        return fault == BAD_RENEWS_ANYBODYS ? LB_OK : LB_LOST;
    grant->lease_end_ns = lb_after(lb_now(), request->lease_ns);
    if (fault != BAD_RENEWS_NOTHING) slot->lease_end_ns = grant->lease_end_ns;
    return LB_OK;
}

static int bad_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct bad_session *state = session->state;
    (void)deadline_ns;
    (void)err;
    state->connected = true;
    return 0;
}

static void bad_disconnect(struct lb_session *session) {
    struct bad_session *state = session->state;
    struct bad_shared *shared = session->server->shared;
    if (!state->connected) return;
    state->connected = false;
    for (int i = 0; i < SLOTS && fault_of(session) != BAD_SESSION_STAYS; i++) {
        if (shared->slot[i].held && shared->slot[i].client == session->client)
            shared->slot[i].held = false;
    }
}

static int bad_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    (void)err;
    lb_fact(facts, fault_of(session) == BAD_NO_VERSION ? "nothing" : "version", "1");
    return 0;
}

static const struct lb_option bad_options[] = {
    {"fault", LB_OPT_INT, offsetof(struct bad_options, fault), "0", 0, BAD_FAULTS - 1, NULL,
     "which"},
    {0},
};

static const struct lb_connector connector = {
    .shared_bytes = sizeof(struct bad_shared),
    .session_bytes = sizeof(struct bad_session),
    .connect = bad_connect,
    .disconnect = bad_disconnect,
    .describe = bad_describe,
};

static const struct lb_backend backend_bad = {
    .name = "bad",
    .summary = "wrong on purpose",
    .connector = &connector,
};

static void bad_names(const struct lb_session *session, const struct lb_request *request,
                      struct lb_names *names) {
    (void)session;
    lb_names_add(names, "number", "%llu", (unsigned long long)request->key_number);
}

static const struct lb_algorithm algorithm = {
    .options = bad_options,
    .names = bad_names,
    .options_bytes = sizeof(struct bad_options),
    .grant_bytes = sizeof(struct bad_grant),
    .acquire = bad_acquire,
    .release = bad_release,
    .renew = bad_renew,
};

const struct lb_lock lock_bad = {
    .name = "bad-lock",
    .summary = "wrong on purpose",
    .backend = &backend_bad,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_FENCE | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .about = {.crash = LB_CRASH_LEASE},
    .algorithm = &algorithm,
};
