/* liar: a relay between clients and a real server, which makes a lock on this server exclude no longer: it rewrites
 * words in requests. It has a process for each connection. */
#ifndef BENCH_TESTS_LIAR_H
#define BENCH_TESTS_LIAR_H

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "bench/tests/loopback.h"
#include "bench/tests/unit.h"

#define LIAR_WORDS 3
#define LIAR_BYTES 65536

struct liar {
    int server; /* its port on 127.0.0.1 */
    struct liar_word {
        const char *from, *to; /* NULL = no more */
    } words[LIAR_WORDS];
    pid_t pid;
    int port;
};

/* Replaces the first occurrence of each word in a request. Returns the new length. */
static inline size_t liar_rewrite(const struct liar *liar, char *text, size_t len) {
    for (int i = 0; i < LIAR_WORDS && liar->words[i].from; i++) {
        size_t from = strlen(liar->words[i].from), to = strlen(liar->words[i].to);
        char *at = memmem(text, len, liar->words[i].from, from);
        if (!at) continue;
        memmove(at + to, at + from, len - (size_t)(at - text) - from);
        memcpy(at, liar->words[i].to, to);
        len = len - from + to;
    }
    return len;
}

static inline _Noreturn void liar_relay(const struct liar *liar, int client, int server) {
    char bytes[LIAR_BYTES + 256];
    struct pollfd both[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    for (;;) {
        poll(both, 2, -1);
        for (int i = 0; i < 2; i++) {
            if (!both[i].revents) continue;
            ssize_t got = recv(both[i].fd, bytes, LIAR_BYTES, 0);
            if (got <= 0) _exit(0);
            size_t len = i == 0 ? liar_rewrite(liar, bytes, (size_t)got) : (size_t)got;
            if (send(both[1 - i].fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len) _exit(0);
        }
    }
}

static inline _Noreturn void liar_serve(const struct liar *liar, int listener) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int client = accept(listener, NULL, NULL);
        if (client >= 0 && fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            int server = loopback_connect(liar->server, 0);
            if (server < 0) _exit(1);
            liar_relay(liar, client, server);
        }
        close(client);
    }
}

/* Begins to serve on liar->port. */
static inline void liar_start(struct liar *liar) {
    int listener = loopback_listen(&liar->port);
    liar->pid = fork();
    assert_true(liar->pid >= 0);
    if (liar->pid == 0) liar_serve(liar, listener);
    close(listener);
}

static inline void liar_stop(struct liar *liar) {
    kill(liar->pid, SIGKILL);
    waitpid(liar->pid, NULL, 0);
}

#endif
