/* words: see session.h. */
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/facts.h"
#include "drivers/tls.h"
#include "drivers/wait.h"
#include "drivers/zookeeper/session.h"

ssize_t zk_ask(const struct sockaddr_storage *host, socklen_t host_len, const char *word, char *out,
               size_t size, int64_t deadline_ns) {
    size_t used = 0;
    ssize_t result = -1;
    int fd = socket(host->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, (const struct sockaddr *)host, host_len) != 0 && errno != EINPROGRESS) goto out;
    if (lb_wait_fd(fd, LB_WRITABLE, deadline_ns) <= 0) goto out;
    if (send(fd, word, strlen(word), MSG_NOSIGNAL) != (ssize_t)strlen(word)) goto out;
    for (;;) {
        if (used == size - 1) {
            out[used] = '\0';
            result = (ssize_t)used;
            goto out;
        }
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
static void add_fact(struct lb_facts *facts, const char *answer, const char *label,
                     const char *ends, const char *name) {
    const char *at = strstr(answer, label);
    if (!at) return;
    at += strlen(label);
    lb_fact(facts, name, "%.*s", (int)strcspn(at, ends), at);
}

/* The number of servers in the ensemble, as "conf" lists them ("server.1=..."); 1 if it lists
 * none. */
static int count_servers(const char *conf) {
    int count = 0;
    for (const char *at = strstr(conf, "membership:"); at && (at = strstr(at, "\nserver.")); at++)
        count++;
    return count ? count : 1;
}

void zk_read_srvr(const char *answer, struct lb_facts *facts) {
    add_fact(facts, answer, "Zookeeper version: ", "-, \r\n", "version");
    add_fact(facts, answer, "Mode: ", "\r\n", "mode");
    facts->alone = strstr(answer, "Mode: standalone") != NULL;
}

void zk_read_conf(const char *answer, struct lb_facts *facts) {
    if (!strstr(answer, "tickTime=")) return;
    add_fact(facts, answer, "tickTime=", "\r\n", "tick_ms");
    add_fact(facts, answer, "minSessionTimeout=", "\r\n", "session_timeout_min_ms");
    add_fact(facts, answer, "maxSessionTimeout=", "\r\n", "session_timeout_max_ms");
    lb_fact(facts, "ensemble", "%d", count_servers(answer));
}

/* facts: facts about a ZooKeeper server. They are asked of the server that the session is connected
 * to, over a connection of their own. */

int zk_facts(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    struct zk_session *z = zk_session_of(session);
    if (!zk_session_connected(z)) return err_set(err, LB_EXIT_MACHINE, "zookeeper: not connected");
    const struct zk_options *options = session->server->options;
    int64_t deadline_ns = lb_after(lb_now(), options->command_timeout_ns);
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    char answer[8192], address[NI_MAXHOST], port[NI_MAXSERV];
    if (getpeername(z->fd, (struct sockaddr *)&peer, &len) != 0)
        return err_set(err, LB_EXIT_MACHINE, "zookeeper: the connection broke");
    if (getnameinfo((struct sockaddr *)&peer, len, address, sizeof address, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        lb_fact(facts, "connected_to", "%s:%s", address, port);
    if (zk_ask(&peer, len, "srvr", answer, sizeof answer, deadline_ns) > 0)
        zk_read_srvr(answer, facts);
    if (zk_ask(&peer, len, "conf", answer, sizeof answer, deadline_ns) > 0)
        zk_read_conf(answer, facts);
    lb_facts_encryption(facts, NULL, NULL, NULL);
    lb_facts_durability(
        facts, NULL,
        "not told: ZooKeeper does not say whether it flushes its log before each answer, its default");
    lb_fact(facts, "session_timeout_ms", "%d (asked for %lld)", z->timeout_ms,
            (long long)(session->lease_ns / LB_MS_NS));
    return 0;
}
