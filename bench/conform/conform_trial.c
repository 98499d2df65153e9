/* conform_trial: the trial of a check: its script on a loop of its own with its clients, and the client in a process
 * of its own, which the script can kill; see conform_trial.h. */
#define _GNU_SOURCE
#include "bench/conform/conform_trial.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/rng.h"
#include "bench/engine/loop.h"

int64_t trial_patience_ns = 30 * LB_S_NS;

static void note_first(struct trial *trial, enum trial_shown shown, const char *format,
                       va_list args) {
    pthread_mutex_lock(&trial->mutex);
    if (!trial->failure[0]) {
        trial->shown = shown;
        vsnprintf(trial->failure, sizeof trial->failure, format, args);
    }
    pthread_mutex_unlock(&trial->mutex);
}

void trial_fail(struct trial *trial, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note_first(trial, TRIAL_WRONG, format, args);
    va_end(args);
}

void trial_fail_as(struct trial *trial, enum trial_shown shown, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note_first(trial, shown, format, args);
    va_end(args);
}

void trial_overlap(struct trial *trial, const char *format, ...) {
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&trial->mutex);
    if (!trial->overlap) vsnprintf(trial->failure, sizeof trial->failure, format, args);
    trial->overlap = true;
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

int64_t trial_soon(void) {
    return lb_now() + trial_patience_ns;
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

struct conform_child {
    pid_t pid;
    int to, from; /* pipes */
    struct trial_key key;
};

struct message {
    char word; /* 'c', 'h'; 'x' = failed, with the reason in text */
    uint64_t token;
    char text[200];
};

/* --- in the child --- */

static const struct conform_child *me;

static void tell_parent(char word, uint64_t token, const char *text) {
    struct message message = {.word = word, .token = token};
    snprintf(message.text, sizeof message.text, "%s", text);
    if (write(me->from, &message, sizeof message) != sizeof message) _exit(1);
}

static void take_and_hold(struct trial *trial) {
    struct actor *client = actor_new(trial);
    if (client) {
        tell_parent('c', 0, "");
        enum lb_outcome outcome = actor_acquire(client, &me->key, LB_NEVER);
        if (outcome == LB_OK)
            tell_parent('h', client->grant.token, "");
        else
            trial_fail(trial, "acquire gave %s: %s", lb_outcome_name(outcome),
                       client->session.err.text);
    }
    if (trial_failed(trial)) tell_parent('x', 0, trial->failure);
    /* other fibers of the session go on meanwhile */
    for (;;) trial_sleep_until(lb_now() + LB_S_NS);
}

static void be_client(const struct trial *like) {
    static struct trial trial;
    char go;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(me->to, &go, 1) != 1) _exit(0);
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
    int to[2], from[2];
    struct conform_child *child = calloc(1, sizeof *child);
    if (!child || pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) abort();
    child->key = *key;
    fflush(NULL);
    child->pid = fork();
    if (child->pid < 0) abort();
    if (child->pid == 0) {
        close(to[1]);
        close(from[0]);
        child->to = to[0];
        child->from = from[1];
        me = child;
        be_client(trial);
    }
    close(to[0]);
    close(from[1]);
    child->to = to[1];
    child->from = from[0];
    fcntl(child->from, F_SETFL, O_NONBLOCK);
    return child;
}

const struct trial_key *child_key(const struct conform_child *child) {
    return &child->key;
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
    close(child->to);
    close(child->from);
    free(child);
}

void child_go(struct conform_child *child) {
    if (write(child->to, "g", 1) != 1) abort();
}

bool child_says(struct trial *trial, struct conform_child *child, char word, uint64_t *ret_token) {
    struct message message = {.word = '\0'};
    int64_t deadline_ns = lb_now() + 2 * trial_patience_ns;
    while (read(child->from, &message, sizeof message) != sizeof message) {
        if (lb_now() >= deadline_ns) {
            trial_fail(trial, "a client's process has not come so far in %d s",
                       (int)(2 * trial_patience_ns / LB_S_NS));
            return false;
        }
        trial_sleep_until(lb_now() + 2 * LB_MS_NS);
    }
    if (message.word != word) {
        trial_fail(trial, "a client's process says: %s",
                   message.word == 'x' ? message.text : "something else");
        return false;
    }
    *ret_token = message.token;
    return true;
}
