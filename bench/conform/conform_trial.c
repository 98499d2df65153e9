/* conform_trial: the trial of a check: its script on a loop of its own with its clients, and the client in a process
 * of its own, which the script can kill; see conform_trial.h. */
#define _GNU_SOURCE
#include "bench/conform/conform_trial.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/rng.h"
#include "bench/engine/loop.h"

int64_t trial_patience_ns = 30 * LB_S_NS;

void trial_fail_as(struct trial *trial, enum trial_shown shown, const char *format, ...) {
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&trial->mutex);
    if (!trial->failure[0] || (shown == TRIAL_OVERLAP && trial->shown != TRIAL_OVERLAP)) {
        trial->shown = shown;
        vsnprintf(trial->failure, sizeof trial->failure, format, args);
    }
    pthread_mutex_unlock(&trial->mutex);
    va_end(args);
}

bool trial_failed(struct trial *trial) {
    pthread_mutex_lock(&trial->mutex);
    bool failed = trial->failure[0] != '\0';
    pthread_mutex_unlock(&trial->mutex);
    return failed;
}

void trial_sleep_until(int64_t when_ns) {
    while (lb_now() < when_ns) lb_sleep_until(when_ns);
}

void trial_short_leases(struct trial *trial) {
    if (trial->lock->lock->caps & LB_CAP_LEASE) trial->session_lease_ns = 2 * LB_S_NS;
}

int64_t trial_soon(void) {
    return lb_now() + trial_patience_ns;
}

int64_t trial_settled(void) {
    int64_t settle_ns = 10 * LB_S_NS;
    return lb_now() + (trial_patience_ns < settle_ns ? trial_patience_ns : settle_ns);
}

/* Other programs and earlier runs may use the same server, so the name must be unique. */
static uint64_t our_salt(void) {
    static uint64_t salt;
    struct lb_rng rng;
    rng_seed_unique(&rng);
    while (salt == 0) salt = rng_u64(&rng) >> 2;
    return salt;
}

struct trial_key trial_key_named(const char *name, size_t len) {
    static uint32_t made;
    struct trial_key key = {.len = len, .number = our_salt() + made, .index = made};
    memcpy(key.name, name, len);
    made++;
    return key;
}

struct trial_key trial_key(void) {
    static unsigned made;
    char name[40];
    int len = snprintf(name, sizeof name, "lockbench-%08x-%u-", (unsigned)our_salt(), made++);
    return trial_key_named(name, (size_t)len);
}

/* ---- runs the script of a trial on a loop of its own, with its clients, and cleans up ---- */

#define CUT_NS (60 * LB_S_NS) /* how long a call that was cut off may take to end */

/* The script is over: calls in progress are cut off, and all clients end. */
static void wind_up(struct trial *trial) {
    for (struct actor *client = trial->clients; client; client = client->next) {
        if (!actor_is_busy(client)) continue;
        if (!trial_failed(trial))
            trial_fail(trial, "client %u is still in a call at the end of the script",
                       client->session.client);
        atomic_store(&trial->cutoff_ns, lb_now());
        if (actor_idle_by(client, lb_now() + CUT_NS)) continue;
        fprintf(stderr,
                "%s: a call does not return although the run was cut off; before that: %s\n",
                trial->lock->lock->name, trial->failure);
        abort(); /* the stack and the thread of a hanging client can't be freed */
    }
    atomic_store(&trial->cutoff_ns, LB_NEVER);
    for (struct actor *client = trial->clients; client; client = client->next) actor_close(client);
    actors_disarm(trial);
    for (struct actor *client = trial->clients; client; client = client->next) actor_stop(client);
}

static void direct(void *arg) {
    struct trial *trial = arg;
    loop_shield(true);
    trial->director = lb_self();
    trial->script(trial);
    wind_up(trial);
}

void trial_run(struct trial *trial, void (*script)(struct trial *trial)) {
    struct lb_err err = {0};
    struct loop_config config = {.cutoff_ns = &trial->cutoff_ns};
    trial->connect_ns = 20 * LB_S_NS;
    trial->threads = trial->lock->lock->caps & LB_CAP_BLOCKS_THREAD;
    if (trial->session_lease_ns == 0) trial->session_lease_ns = 10 * LB_S_NS;
    if (trial->lease_ns == 0) trial->lease_ns = 60 * LB_S_NS;
    trial->script = script;
    atomic_store(&trial->cutoff_ns, LB_NEVER);
    pthread_mutex_init(&trial->mutex, NULL);
    struct loop *loop = loop_new(&config, &err);
    if (loop && loop_start_fiber(loop, "script", direct, trial)) {
        loop_run(loop);
    } else {
        trial_fail(trial, "no loop: %s", err.text);
    }
    loop_free(loop);
    while (trial->clients) {
        struct actor *client = trial->clients;
        trial->clients = client->next;
        actor_free(client);
    }
    free(trial->armed);
    pthread_mutex_destroy(&trial->mutex);
}

#define FIRST_CLIENT 1000 /* its clients are not those of the parent */

/* --- in the child --- */

static struct conform_child *me;

static void take_and_hold(struct trial *trial) {
    struct actor *client = actor_new(trial);
    if (!trial_failed(trial)) atomic_store(&me->state, CHILD_ACQUIRES);
    enum lb_outcome outcome = actor_acquire(client, &me->key, LB_NEVER);
    if (outcome != LB_OK)
        trial_fail(trial, "acquire gave %s", actor_said(&client->session, outcome));
    me->token = client->grant.token;
    snprintf(me->failure, sizeof me->failure, "%s", trial->failure);
    atomic_store(&me->state, outcome == LB_OK ? CHILD_HOLDS : CHILD_FAILED);
    /* other fibers of the session go on meanwhile */
    for (;;) trial_sleep_until(lb_now() + LB_S_NS);
}

static _Noreturn void be_client(const struct trial *like) {
    static struct trial trial;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (atomic_load(&me->state) == CHILD_WAITS) lb_nap(LB_MS_NS);
    trial = (struct trial){.lock = like->lock,
                           .place = like->place,
                           .session_lease_ns = CHILD_LEASE_NS,
                           .lease_ns = CHILD_LEASE_NS,
                           .client_count = FIRST_CLIENT + (int)(getpid() % FIRST_CLIENT)};
    /* The parent has armed the key. */
    trial.armed = malloc(sizeof *trial.armed);
    trial.armed[trial.armed_count++] = me->key;
    trial_run(&trial, take_and_hold);
    _exit(1);
}

/* --- in the parent --- */

struct conform_child *child_start(struct trial *trial, const struct trial_key *key) {
    struct conform_child *child =
        mmap(NULL, sizeof *child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (child == MAP_FAILED) abort();
    child->key = *key;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) abort();
    me = child;
    if (pid == 0) be_client(trial);
    child->pid = pid;
    return child;
}

void child_kill(struct conform_child *child) {
    if (child->pid == 0) return;
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    child->pid = 0;
}

void child_free(struct conform_child *child) {
    if (!child) return;
    child_kill(child);
    munmap(child, sizeof *child);
}

void child_begin(struct trial *trial, struct conform_child *child, enum child_state until) {
    int64_t deadline_ns = lb_now() + 2 * trial_patience_ns;
    atomic_store(&child->state, CHILD_CONNECTS);
    while (atomic_load(&child->state) < until && lb_now() < deadline_ns)
        trial_sleep_until(lb_now() + 2 * LB_MS_NS);
    if (atomic_load(&child->state) == CHILD_FAILED) {
        trial_fail(trial, "a client's process says: %s", child->failure);
    } else if (atomic_load(&child->state) < until) {
        trial_fail(trial, "a client's process has not come so far in %d s",
                   (int)(2 * trial_patience_ns / LB_S_NS));
    }
}
