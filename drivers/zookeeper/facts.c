/* facts: facts about a ZooKeeper server. They are asked of the server that the session is connected
 * to, over a connection of their own. */
#include "drivers/zookeeper/session.h"

#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "drivers/facts.h"
#include "drivers/zookeeper/words.h"

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
    const struct zk_server *server = session->server->state;
    stunnel_facts(&server->stunnel, &server->tls, facts);
    lb_facts_durability(
        facts, NULL,
        "not told: ZooKeeper does not say whether it flushes its log before each answer, its default");
    lb_fact(facts, "session_timeout_ms", "%d (asked for %lld)", z->timeout_ms,
            (long long)(session->lease_ns / LB_MS_NS));
    return 0;
}
