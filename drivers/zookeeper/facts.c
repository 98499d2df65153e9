/* facts: what a ZooKeeper server says of itself, by its four-letter words. A server may forbid them (only
 * srvr is allowed by default): then the fact is missing, which is no error. */
#include "drivers/zookeeper/session.h"

#ifdef LB_HAVE_ZOOKEEPER
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/wait.h"

/* Asks one word of the server that the session is connected to. Its answer's length, or -1. */
static ssize_t ask(const struct zk_session *z, const char *word, char *out, size_t size,
                   int64_t deadline_ns) {
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    size_t used = 0;
    ssize_t result = -1;
    if (getpeername(z->fd, (struct sockaddr *)&peer, &len) != 0) return -1;
    int fd = socket(peer.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, (struct sockaddr *)&peer, len) != 0 && errno != EINPROGRESS) goto out;
    if (lb_wait_fd(fd, LB_WRITABLE, deadline_ns) <= 0) goto out;
    if (send(fd, word, strlen(word), MSG_NOSIGNAL) != (ssize_t)strlen(word)) goto out;
    while (used < size - 1) {
        ssize_t got = recv(fd, out + used, size - 1 - used, 0);
        if (got == 0) {
            out[used] = '\0';
            result = (ssize_t)used;
            goto out;
        }
        if (got > 0) {
            used += (size_t)got;
        } else if (errno != EAGAIN || lb_wait_fd(fd, LB_READABLE, deadline_ns) <= 0) {
            goto out;
        }
    }
out:
    lb_fd_forget(fd);
    close(fd);
    return result;
}

/* The text after `label`, up to any of `ends`, as a fact. */
static void take(struct lb_facts *facts, const char *answer, const char *label, const char *ends,
                 const char *name) {
    const char *at = strstr(answer, label);
    if (!at) return;
    at += strlen(label);
    lb_fact(facts, name, "%.*s", (int)strcspn(at, ends), at);
}

int zk_facts(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    struct zk_session *z = zk_session_of(session);
    if (!zk_session_connected(z)) return err_set(err, LB_EXIT_MACHINE, "zookeeper: not connected");
    const struct zk_options *options = session->server->options;
    int64_t deadline_ns = lb_after(lb_now(), options->command_timeout_ns);
    char answer[8192];
    if (ask(z, "srvr", answer, sizeof answer, deadline_ns) > 0) {
        take(facts, answer, "Zookeeper version: ", "-, \r\n", "version");
        take(facts, answer, "Mode: ", "\r\n", "mode");
    }
    if (ask(z, "conf", answer, sizeof answer, deadline_ns) > 0) {
        take(facts, answer, "tickTime=", "\r\n", "tick_ms");
        take(facts, answer, "minSessionTimeout=", "\r\n", "session_timeout_min_ms");
        take(facts, answer, "maxSessionTimeout=", "\r\n", "session_timeout_max_ms");
    }
    lb_fact(facts, "session_timeout_ms", "%d (asked for %lld)", z->timeout_ms,
            (long long)(session->lease_ns / LB_MS_NS));
    return 0;
}
#endif
