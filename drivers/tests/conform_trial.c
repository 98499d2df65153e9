/* conform_trial: see conform_trial.h. */
#include "drivers/tests/conform_trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engine/loop.h"
#include "drivers/tests/conform_actor.h"

#define CUT_NS (60 * LB_S_NS) /* for a call to end that was cut off */

int64_t trial_patience_ns = 30 * LB_S_NS;

void trial_fail(struct trial *trial, const char *format, ...) {
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&trial->mutex);
    if (!trial->failure[0]) vsnprintf(trial->failure, sizeof trial->failure, format, args);
    pthread_mutex_unlock(&trial->mutex);
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

struct trial_key trial_key_named(const char *name, size_t len) {
    static uint32_t made;
    struct trial_key key = {
        .len = len, .number = UINT64_C(0x636f6e0000000000) + made, .index = made};
    memcpy(key.name, name, len);
    made++;
    return key;
}

struct trial_key trial_key(void) {
    static unsigned made;
    char name[32];
    int len = snprintf(name, sizeof name, "conform-%u-", made++);
    return trial_key_named(name, (size_t)len);
}

/* Nothing of the script is left to wait for: whoever still is in a call is cut off, and all go. */
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
        abort(); /* its stack and thread can't be taken back */
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
    if (loop && loop_spawn(loop, "script", direct, trial)) {
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
