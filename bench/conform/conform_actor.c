/* conform_actor: see conform_trial.h. */
#include "bench/conform/conform_trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engine/loop.h"

int64_t trial_next_look_ns(int64_t since_ns) {
    int64_t now_ns = lb_now(), pause_ns = (now_ns - since_ns) / 4;
    if (pause_ns < 300 * LB_US_NS) return now_ns + 300 * LB_US_NS;
    return now_ns + (pause_ns < 5 * LB_MS_NS ? pause_ns : 5 * LB_MS_NS);
}

/* --- the client's side --- */

static void disconnect(struct actor *client) {
    const struct lb_backend *backend = client->server->backend;
    if (backend->connector->disconnect) backend->connector->disconnect(&client->session);
    client->connected = false;
    client->session.traffic_fd = -1;
    memset(client->memory, 0, client->memory_bytes);
}

static void connect_session(struct actor *client) {
    const struct lb_backend *backend = client->server->backend;
    client->err = (struct lb_err){0};
    client->failed = backend->connector->connect
                         ? backend->connector->connect(
                               &client->session, lb_now() + client->trial->connect_ns, &client->err)
                         : 0;
    if (client->failed) disconnect(client);
    client->connected = !client->failed;
    client->session.err.code = 0;
}

/* Jobs that end with an error or none. */
#define ERR_JOB(name, ...)                                                                         \
    static void name(struct actor *client) {                                                       \
        client->err = (struct lb_err){0};                                                          \
        client->failed =                                                                           \
            client->session.lock->algorithm->name(&client->session, __VA_ARGS__, &client->err);    \
    }
ERR_JOB(arm, &client->request)
ERR_JOB(disarm, &client->request)

static void set_up(struct actor *client) {
    lb_setup_fn *setup = client->session.lock->algorithm->setup;
    client->failed = setup ? setup(&client->session, &client->err) : 0;
}

static void note_loss(struct lb_session *session) {
    struct actor *client = session->core;
    atomic_fetch_add(&client->losses, 1);
}

/* Jobs that end with an outcome. */
#define OUTCOME_JOB(name, call)                                                                    \
    void name(struct actor *client) {                                                              \
        client->outcome = client->session.lock->algorithm->call(&client->session,                  \
                                                                &client->request, &client->grant); \
    }
OUTCOME_JOB(actor_job_acquire, acquire)
OUTCOME_JOB(actor_job_release, release)
OUTCOME_JOB(actor_job_renew, renew)
static OUTCOME_JOB(settle, settle)

    bool actor_mend(struct actor *client) {
    int64_t deadline_ns = lb_now() + 2 * trial_patience_ns; /* a connection and a request */
    while (lb_now() < deadline_ns && !lb_stopping()) {
        disconnect(client);
        connect_session(client);
        bool settles = client->session.lock->algorithm->settle;
        if (client->connected && settles) settle(client);
        if (client->connected && (!settles || client->outcome == LB_OK)) return true;
        lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    }
    return false;
}

void actor_job_mend(struct actor *client) {
    if (!actor_mend(client))
        trial_fail(client->trial, "can't connect and settle: %s",
                   client->connected ? client->session.err.text : client->err.text);
}

static void ping(struct actor *client) {
    client->outcome = client->server->backend->connector->ping(&client->session, trial_soon());
}

/* The fiber's body. */
static void run_actor(void *arg) {
    struct actor *client = arg;
    struct trial *trial = client->trial;
    int64_t idle_ns = lb_now(); /* since then */
    loop_shield(true);
    while (!atomic_load(&client->quit)) {
        void (*job)(struct actor *) = atomic_load(&client->job);
        if (!job) {
            lb_sleep_until(trial->threads ? trial_next_look_ns(idle_ns) : LB_NEVER);
            continue;
        }
        loop_shield(false);
        client->session.err.code = 0;
        client->began_ns = lb_now();
        job(client);
        idle_ns = client->ended_ns = lb_now();
        loop_shield(true);
        atomic_store(&client->job, NULL);
        if (!trial->threads) lb_wake(trial->director);
    }
    loop_shield(false);
    disconnect(client);
}

static void *actor_thread(void *arg) {
    struct actor *client = arg;
    struct trial *trial = client->trial;
    struct lb_err err = {0};
    struct loop *loop =
        loop_new(&(struct loop_config){.cutoff_ns = &trial->cutoff_ns, .blocking = true}, &err);
    if (loop && loop_start_fiber(loop, "client", run_actor, client)) {
        loop_run(loop);
    } else {
        fprintf(stderr, "no loop: %s\n", err.text);
        abort();
    }
    loop_free(loop);
    return NULL;
}

/* --- the script's side --- */

bool actor_is_busy(const struct actor *client) {
    return atomic_load(&client->job) != NULL;
}

bool actor_idle_by(struct actor *client, int64_t deadline_ns) {
    for (int64_t begin_ns = lb_now(); actor_is_busy(client);) {
        int64_t look_ns = client->trial->threads ? trial_next_look_ns(begin_ns) : deadline_ns;
        if (lb_now() >= deadline_ns) return false;
        lb_sleep_until(look_ns < deadline_ns ? look_ns : deadline_ns);
    }
    return true;
}

/* Gives the client's fiber a job, whatever has failed. */
static void order(struct actor *client, void (*job)(struct actor *client)) {
    client->ordered_ns = client->request.deadline_ns;
    atomic_store(&client->job, job);
    if (!client->trial->threads) lb_wake(client->fiber);
}

void actor_begin(struct actor *client, void (*job)(struct actor *client)) {
    client->outcome = LB_OUTCOMES;
    if (!trial_failed(client->trial)) order(client, job);
}

/* A wait may take until its deadline, however little the patience. */
static bool finish(struct actor *client) {
    struct trial *trial = client->trial;
    int64_t now_ns = lb_now(), limit_ns = now_ns + 3 * trial_patience_ns;
    int64_t deadline_ns = client->ordered_ns;
    if (deadline_ns != LB_NEVER && limit_ns < deadline_ns + trial_patience_ns)
        limit_ns = deadline_ns + trial_patience_ns;
    if (actor_idle_by(client, limit_ns)) return true;
    trial_fail(trial, "client %u's call has not returned after %d s", client->session.client,
               (int)((limit_ns - now_ns) / LB_S_NS));
    return false;
}

static void do_anyway(struct actor *client, void (*job)(struct actor *client)) {
    order(client, job);
    finish(client);
}

void actor_do(struct actor *client, void (*job)(struct actor *client)) {
    actor_begin(client, job);
    finish(client);
}

void actors_do(struct actor *const *clients, int count, void (*job)(struct actor *client)) {
    for (int i = 0; i < count; i++) actor_begin(clients[i], job);
    for (int i = 0; i < count; i++) finish(clients[i]);
}

void actor_stop(struct actor *client) {
    atomic_store(&client->quit, true);
    if (!client->trial->threads) lb_wake(client->fiber);
}

void actor_free(struct actor *client) {
    if (client->trial->threads) pthread_join(client->thread, NULL);
    free(client->memory);
    free(client);
}

static struct actor *start(struct trial *trial, struct place *place) {
    const struct lb_lock *lock = trial->lock->lock;
    size_t session_bytes = (lock->backend->connector->session_bytes + 63) & ~(size_t)63;
    size_t lock_bytes = (lock->algorithm->session_bytes + 63) & ~(size_t)63;
    size_t grant_bytes = (lock->algorithm->grant_bytes + 64) & ~(size_t)63;
    struct actor *client = calloc(1, sizeof *client);
    client->trial = trial;
    client->server = &place->server;
    client->memory_bytes = session_bytes + lock_bytes;
    client->memory = calloc(1, client->memory_bytes + 2 * grant_bytes);
    client->session = (struct lb_session){
        .server = client->server,
        .lock = lock,
        .options = trial->lock->options,
        .client = (uint32_t)trial->client_count++,
        .lease_ns = trial->session_lease_ns,
        .traffic_fd = -1,
        .state = client->memory,
        .lock_state = (char *)client->memory + session_bytes,
        .on_lost = note_loss,
        .core = client,
    };
    client->grant.data = (char *)client->memory + client->memory_bytes;
    client->kept.data = (char *)client->grant.data + grant_bytes;
    client->request.key = client->key.name;
    client->request.lease_ns = trial->lease_ns;
    client->request.client = client->session.client;
    client->request.permits = 1;
    client->request.bound = trial->bound ? trial->bound : 1;
    rng_seed_unique(&client->session.rng);
    client->next = trial->clients;
    trial->clients = client;
    int failed = 0;
    if (trial->threads) {
        failed = pthread_create(&client->thread, NULL, actor_thread, client);
    } else {
        client->fiber = loop_start_fiber(loop_self(), "client", run_actor, client);
        failed = !client->fiber;
    }
    if (failed) {
        fprintf(stderr, "no thread or fiber for a client\n");
        abort();
    }
    return client;
}

static struct actor *start_connected(struct trial *trial, struct place *place) {
    struct actor *client = start(trial, place);
    if (trial_failed(trial)) return client; /* each further try would wait as long as the first */
    if (!actor_open(client))
        trial_fail(trial, "client %u can't connect: %s", client->session.client, client->err.text);
    if (client->session.client > 0) return client;
    actor_do(client, set_up);
    if (client->failed) trial_fail(trial, "setup: %s", client->err.text);
    return client;
}

struct actor *actor_new(struct trial *trial) {
    return start_connected(trial, trial->place);
}

struct actor *actor_far(struct trial *trial) {
    return start_connected(trial, trial->far);
}

void actors_new(struct trial *trial, const struct trial_key *key, int count,
                struct actor **ret_clients) {
    for (int i = 0; i < count; i++) {
        ret_clients[i] = actor_new(trial);
        if (key) actor_use_key(ret_clients[i], key);
    }
}

void actor_close(struct actor *client) {
    do_anyway(client, disconnect);
}

bool actor_open(struct actor *client) {
    do_anyway(client, connect_session);
    return client->connected;
}

bool actor_open_again(struct actor *client) {
    int64_t deadline_ns = lb_now() + 3 * trial_patience_ns;
    while (!actor_open(client)) {
        if (lb_now() >= deadline_ns || trial_failed(client->trial)) return false;
        trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    }
    return true;
}

static void note_key(struct actor *client, const struct trial_key *key) {
    client->key = *key;
    client->request.key_len = key->len;
    client->request.key_number = key->number;
    client->request.key_index = key->index;
}

/* Arms the key in the request unless the trial has armed it already. */
static int arm_once(struct actor *client) {
    struct trial *trial = client->trial;
    if (!client->session.lock->algorithm->arm || !client->connected) return 0;
    for (int i = 0; i < trial->armed_count; i++) {
        if (trial->armed[i].index == client->key.index) return 0;
    }
    if (actor_arm(client) != 0) return -1;
    trial->armed = realloc(trial->armed, (size_t)(trial->armed_count + 1) * sizeof *trial->armed);
    trial->armed[trial->armed_count++] = client->key;
    return 0;
}

void actor_use_key(struct actor *client, const struct trial_key *key) {
    note_key(client, key);
    if (arm_once(client) != 0)
        trial_fail(client->trial, "'%s' can't be armed: %s", key->name, client->err.text);
}

int actor_arm(struct actor *client) {
    actor_do(client, arm);
    return client->failed;
}

int actor_disarm(struct actor *client) {
    if (!client->session.lock->algorithm->disarm) return 0;
    do_anyway(client, disarm);
    return client->failed;
}

void actors_disarm(struct trial *trial) {
    if (trial->armed_count == 0) return;
    struct actor *client = start(trial, trial->place);
    if (!actor_open(client))
        trial_fail(trial, "what was armed stays: no client can connect: %s", client->err.text);
    for (int i = 0; client->connected && i < trial->armed_count; i++) {
        note_key(client, &trial->armed[i]);
        if (actor_disarm(client) != 0)
            trial_fail(trial, "'%s' can't be disarmed: %s", client->key.name, client->err.text);
    }
}

void actor_begin_acquire(struct actor *client, const struct trial_key *key, int64_t deadline_ns) {
    note_key(client, key);
    client->request.deadline_ns = deadline_ns;
    if (arm_once(client) == 0) {
        actor_begin(client, actor_job_acquire);
    } else {
        client->session.err = client->err;
        client->outcome = LB_REFUSED;
    }
}

enum lb_outcome actor_end(struct actor *client) {
    return finish(client) ? client->outcome : LB_OUTCOMES;
}

enum lb_outcome actor_acquire(struct actor *client, const struct trial_key *key,
                              int64_t deadline_ns) {
    actor_begin_acquire(client, key, deadline_ns);
    return actor_end(client);
}

static enum lb_outcome call(struct actor *client, void (*job)(struct actor *client)) {
    actor_begin(client, job);
    return actor_end(client);
}

enum lb_outcome actor_release(struct actor *client) {
    return call(client, actor_job_release);
}

enum lb_outcome actor_renew(struct actor *client, int64_t lease_ns) {
    client->request.lease_ns = lease_ns;
    return call(client, actor_job_renew);
}

enum lb_outcome actor_settle(struct actor *client) {
    return call(client, settle);
}

enum lb_outcome actor_ping(struct actor *client) {
    return call(client, ping);
}

void actor_swap_grants(struct actor *client) {
    struct lb_grant now = client->grant;
    client->grant = client->kept;
    client->kept = now;
}

const char *actor_said(const struct lb_session *session, enum lb_outcome outcome) {
    static _Thread_local char text[sizeof session->err.text + 32];
    bool told = session->err.code && session->err.text[0];
    snprintf(text, sizeof text, "%s%s%s", lb_outcome_name(outcome), told ? ": " : "",
             told ? session->err.text : "");
    return text;
}

/* The kind of a call, by the script's text. */
static const char *kind_of_call(const char *call) {
    static const struct {
        const char *part, *kind;
    } kinds[] = {{"actor_release(", "a release"},
                 {"actor_renew(", "a renewal"},
                 {"actor_settle(", "settling"},
                 {"actor_ping(", "a ping"},
                 {"TRIAL_TRY", "a try that does not wait"},
                 {"actor_acquire(", "an acquire"},
                 {"actor_end(", "an acquire"},
                 {"take", "an acquire"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strstr(call, kinds[i].part)) return kinds[i].kind;
    }
    return "a call";
}

/* "client 2 (waiter)": the number, and the name in the script without what follows it: "waiters[i]". */
static void name_client(const struct actor *client, const char *name, char *text, size_t size) {
    size_t len = strcspn(name, "[ -");
    if (name[len] == '[' && len > 1 && name[len - 1] == 's') len--; /* one of the waiters */
    if (name[len] == ' ' || name[len] == '-') len = 0;              /* an expression */
    int used = snprintf(text, size, "client %u", client->session.client);
    if (len > 1) snprintf(text + used, size - (size_t)used, " (%.*s)", (int)len, name);
}

bool actor_waits(struct actor *client, const char *name, const char *when) {
    char who[80];
    if (actor_is_busy(client)) return true;
    name_client(client, name, who, sizeof who);
    trial_fail_as(client->trial, client->outcome == LB_OK ? TRIAL_GRANTED : TRIAL_WRONG,
                  "the call of %s gave %s %s", who, lb_outcome_name(client->outcome), when);
    return false;
}

bool actor_gave(struct actor *client, enum lb_outcome got, enum lb_outcome wanted,
                const struct actor_source *source) {
    if (trial_failed(client->trial)) return false;
    if (wanted == NOT_OK ? got != LB_OK : got == wanted) return true;
    bool refused = wanted == LB_OK && (got == LB_BUSY || got == LB_TIMEOUT);
    enum trial_shown shown = got == LB_OK ? TRIAL_GRANTED : refused ? TRIAL_REFUSED : TRIAL_WRONG;
    const char *slash = strrchr(source->file, '/');
    const char *reason = client->session.err.code ? client->session.err.text : "";
    char who[80];
    name_client(client, source->name, who, sizeof who);
    trial_fail_as(client->trial, shown, "%s by %s%s%s gave %s; it must give %s%s%s (%s:%d)",
                  kind_of_call(source->call), who, *source->when ? " " : "", source->when,
                  lb_outcome_name(got), wanted == NOT_OK ? "no ok" : lb_outcome_name(wanted),
                  *reason ? ": " : "", reason, slash ? slash + 1 : source->file, source->line);
    return false;
}
