/* words: facts about the server that a session is connected to, by ZooKeeper's four-letter word srvr, over a connection of
 * its own. The server may forbid the word; then the facts are missing, which is no error. */
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "drivers/facts.h"
#include "drivers/stream.h"
#include "drivers/zookeeper/session.h"

/* The text after `label`, if the line begins with it, up to any of `ends`, as a fact. */
static void add_fact(struct lb_facts *facts, const char *line, const char *label, const char *ends,
                     const char *name) {
    size_t len = strlen(label);
    if (strncmp(line, label, len) == 0)
        lb_fact(facts, name, "%.*s", (int)strcspn(line + len, ends), line + len);
}

static void ask_srvr(struct lb_session *session, const char *address, int port,
                     struct lb_facts *facts) {
    const struct zk_options *options = session->server->options;
    int64_t deadline_ns = lb_after(lb_now(), options->command_timeout_ns);
    struct stream stream = {0};
    struct lb_err ignored = {0};
    char *line;
    if (stream_connect(&stream, session->server, address, port, deadline_ns, &ignored) == 0)
        stream_send(&stream, session, "srvr", 4, deadline_ns);
    while (stream.open && stream_line(&stream, session, deadline_ns, &line) == LB_OK) {
        add_fact(facts, line, "Zookeeper version: ", "-, ", "version");
        add_fact(facts, line, "Mode: ", "", "mode");
    }
    stream_close(&stream);
    session->err.code = 0;
}

int zk_facts(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    struct zk_session *z = zk_session_of(session);
    if (!zk_session_connected(z)) return err_set(err, LB_EXIT_MACHINE, "zookeeper: not connected");
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    char address[NI_MAXHOST], port[NI_MAXSERV];
    if (getpeername(z->fd, (struct sockaddr *)&peer, &len) != 0 ||
        getnameinfo((struct sockaddr *)&peer, len, address, sizeof address, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return err_set(err, LB_EXIT_MACHINE, "zookeeper: the connection broke");
    lb_fact(facts, "connected_to", "%s:%s", address, port);
    ask_srvr(session, address, atoi(port), facts);
    const char *mode = lb_facts_value(facts, "mode");
    facts->alone = mode && strcmp(mode, "standalone") == 0;
    lb_facts_encryption(facts, NULL, NULL);
    lb_facts_durability(
        facts, NULL,
        "not told: ZooKeeper does not say whether it flushes its log before each answer, its default");
    lb_fact(facts, "session_timeout_ms", "%d (asked for %lld)", z->timeout_ms,
            (long long)(session->lease_ns / LB_MS_NS));
    return 0;
}
