/* stunnel: TLS for ZooKeeper's C client as Debian builds it, which has none: a stunnel process that this
 * program starts for itself, with one port of 127.0.0.1 for each server. It ends with this program, also when
 * that is killed.
 *
 * While it runs, whoever can reach the loopback address of this host can use its ports, and is then for the
 * server the owner of the client certificate; an account's password it does not give away. */
#ifndef DRIVERS_ZOOKEEPER_STUNNEL_H
#define DRIVERS_ZOOKEEPER_STUNNEL_H

#include <stdbool.h>
#include <sys/types.h>

#include "bench/base/err.h"
#include "drivers/tls.h"

#define STUNNEL_PORTS_MAX 8

struct stunnel {
    pid_t pid, owner; /* the process, and who started it; 0 = none */
    int log;          /* a file without a name */
    int count;
    struct {
        const char *host; /* as in the certificate; borrowed */
        int port, local_port;
    } to[STUNNEL_PORTS_MAX];
};

/* Starts it for to[0 .. count-1], and fills in their local_port. Blocks. 0, or -1 with err; stunnel_stop
 * cleans up either way. */
int stunnel_start(struct stunnel *stunnel, const struct lb_tls *tls, struct lb_err *err);
/* May be called on a zeroed one, and by a forked process, where it only closes the log. */
void stunnel_stop(struct stunnel *stunnel);

/* How much it has said so far. */
off_t stunnel_mark(const struct stunnel *stunnel);
/* Whether it has said since then that a server can't be reached, or not by this certificate; in ret_why what
 * and what to do. */
bool stunnel_trouble(const struct stunnel *stunnel, off_t since, char *ret_why, size_t size);

struct lb_facts;
void stunnel_facts(const struct stunnel *stunnel, const struct lb_tls *tls, struct lb_facts *facts);

#endif
