/* conform_script: runs the script of a trial on a loop of its own, with its clients, and cleans up. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/conform/conform_actor.h"
#include "bench/engine/loop.h"

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
