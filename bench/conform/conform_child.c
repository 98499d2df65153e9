/* conform_child: see conform_child.h. */
#define _GNU_SOURCE
#include "bench/conform/conform_child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/conform/conform_actor.h"

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
