/* conform_basic: one client at a time, and two that acquire without waiting. */
#include <dirent.h>
#include <string.h>

#include "bench/conform/conform.h"
#include "drivers/facts.h"

#define CYCLES 40
#define LOOP_FILES 2 /* the stack of a thread with a loop of its own */

static void cycle_often(struct actor *client, const struct trial_key *key) {
    struct trial *trial = client->trial;
    for (int i = 0; i < CYCLES && !trial_failed(trial); i++) {
        const char *what = "acquire";
        enum lb_outcome outcome = actor_acquire(client, key, trial_soon());
        if (outcome == LB_OK) {
            what = "release";
            outcome = actor_release(client);
        }
        MUST(trial, outcome == LB_OK, "%s %d of %d of a free lock gave %s: %s", what, i + 1, CYCLES,
             lb_outcome_name(outcome), client->session.err.text);
    }
}

void conform_again(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *one = actor_new(trial), *other = actor_new(trial);
    if (!one || !other) return;
    cycle_often(one, &key);
    cycle_often(other, &key);
    /* A session may be closed several times, and another may follow. */
    actor_close(one);
    actor_close(one);
    MUST(trial, actor_open(one), "can't connect again: %s", one->err.text);
    cycle_often(one, &key);
}

static void describe(struct actor *client) {
    struct lb_facts facts = {0};
    const struct lb_backend *backend = client->server->backend;
    client->err = (struct lb_err){0};
    client->failed = backend->connector->describe(&client->session, &facts, &client->err);
    for (int i = 0; i < facts.count; i++) {
        if (strcmp(facts.item[i].name, "version") == 0 && facts.item[i].value[0]) return;
    }
    if (!client->failed) trial_fail(client->trial, "describe names no version");
}

void conform_describe(struct trial *trial) {
    const struct lb_backend *backend = trial->lock->lock->backend;
    struct actor *client = actor_new(trial);
    if (!client) return;
    MUST(trial, backend->connector->describe, "the backend has no describe");
    actor_do(client, describe);
    MUST(trial, !client->failed, "describe: %s", client->err.text);
    if (backend->connector->ping) MUST_GIVE(client, actor_ping(client), LB_OK);
    MUST(trial, backend->connector->ping || !backend->topologies,
         "a backend with a server has no ping");
}

void conform_commands(struct trial *trial) {
    const struct lb_lock *lock = trial->lock->lock;
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial);
    if (!client) return;
    uint64_t taking[3], freeing[3];
    /* The first cycle may create scripts and parent nodes. */
    if (!actor_use_key(client, &key)) return;
    /* A latch is opened first, so that acquire waits for nothing. */
    if (lock->primitive == LB_LATCH) MUST_GIVE(client, actor_release(client), LB_OK);
    for (int i = -1; i < 3; i++) {
        uint64_t before = client->session.commands;
        MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
        uint64_t between = client->session.commands;
        MUST_GIVE(client, actor_release(client), LB_OK);
        if (i < 0) continue;
        taking[i] = between - before;
        freeing[i] = client->session.commands - between;
        MUST(trial, taking[i] == taking[0] && freeing[i] == freeing[0],
             "cycle %d counts %d + %d commands, the first one %d + %d", i + 1, (int)taking[i],
             (int)freeing[i], (int)taking[0], (int)freeing[0]);
    }
    int acquire = lock->about.acquire_requests, release = lock->about.release_requests;
    MUST(trial, (int)taking[0] == acquire && (int)freeing[0] == release,
         "counts %d + %d requests a cycle, its table says %d + %d", (int)taking[0], (int)freeing[0],
         acquire, release);
    if (lb_topologies(lock))
        MUST(trial, acquire > 0 && (release > 0 || (lock->caps & LB_CAP_ATOMIC)),
             "a server that is never asked");
}

/* The number of files that this process has open; below 0 if it can't be read. */
static int open_files(void) {
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;
    if (!dir) return -1;
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

/* One more client opens no more files than its driver states. The client waits, too, because some
 * drivers listen on a connection of their own. */
void conform_descriptors(struct trial *trial) {
    const struct lb_lock *lock = trial->lock->lock;
    lb_descriptors_fn *descriptors = lock->backend->connector->descriptors;
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial);
    if (!holder) return;
    bool waits = (lock->caps & LB_CAP_WAIT) && lock->primitive != LB_LATCH &&
                 lock->primitive != LB_OPTIMISTIC;
    if (waits) MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    int before = open_files();
    struct actor *client = actor_new(trial);
    if (!client) return;
    int loop = trial->threads ? LOOP_FILES : 0;
    int stated = descriptors ? descriptors(&client->session, 1) : 1;
    actor_begin_acquire(client, &key, waits ? trial_soon() : TRIAL_TRY);
    if (waits) {
        trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    } else {
        actor_end(client);
    }
    int taken = open_files() - before - loop;
    if (waits) MUST_GIVE(holder, actor_release(holder), LB_OK);
    if ((waits ? actor_end(client) : client->outcome) == LB_OK) actor_release(client);
    MUST(trial, taken <= stated, "a client opens %d files, its driver states %d", taken, stated);
}

void conform_busy(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    if (!holder || !other) return;
    for (int i = 0; i < 3; i++) {
        MUST_GIVE(holder, actor_acquire(holder, &key, TRIAL_TRY), LB_OK);
        MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY, "where another holds");
        MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY, "where another holds");
        MUST_GIVE(holder, actor_release(holder), LB_OK);
        struct actor *swap = holder;
        holder = other;
        other = swap;
    }
}

void conform_past(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *other = actor_new(trial);
    if (!holder || !other) return;
    const int64_t pasts[] = {INT64_MIN, -1, 0, 1, lb_now() - LB_S_NS, lb_now()};
    for (size_t i = 0; i < sizeof pasts / sizeof *pasts; i++) {
        MUST_GIVE(holder, actor_acquire(holder, &key, pasts[i]), LB_OK);
        MUST_GIVE(other, actor_acquire(other, &key, pasts[i]), LB_BUSY,
                  "with a deadline in the past where another holds");
        MUST_GIVE(holder, actor_release(holder), LB_OK);
    }
}

void conform_keys(struct trial *trial) {
    struct trial_key one = trial_key(), two = trial_key();
    struct actor *a = actor_new(trial), *b = actor_new(trial);
    if (!a || !b) return;
    MUST_GIVE(a, actor_acquire(a, &one, TRIAL_TRY), LB_OK);
    MUST_GIVE(b, actor_acquire(b, &two, TRIAL_TRY), LB_OK, "where another holds another key");
    MUST_GIVE(b, actor_release(b), LB_OK);
    /* The release of the second lock has not freed the first. */
    MUST_GIVE(b, actor_acquire(b, &one, TRIAL_TRY), LB_BUSY,
              "where another holds, after a release of another key,");
    MUST_GIVE(a, actor_release(a), LB_OK);
    MUST_GIVE(b, actor_acquire(b, &one, TRIAL_TRY), LB_OK);
    MUST_GIVE(a, actor_acquire(a, &two, TRIAL_TRY), LB_OK);
    MUST_GIVE(b, actor_release(b), LB_OK);
    MUST_GIVE(a, actor_release(a), LB_OK);
}
