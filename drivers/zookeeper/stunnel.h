/* stunnel: TLS for ZooKeeper's C client, which Debian builds without TLS: this program starts a
 * stunnel process of its own, with one port of 127.0.0.1 for each server. stunnel ends with this
 * program, also when the program is killed.
 *
 * While it runs, everybody who can reach the loopback address of this host can use its ports,
 * and acts on the server as the owner of the client certificate. The ports give away no
 * account's password. */
#ifndef DRIVERS_ZOOKEEPER_STUNNEL_H
#define DRIVERS_ZOOKEEPER_STUNNEL_H

#include <stdbool.h>
#include <sys/types.h>

#include "bench/base/err.h"
#include "drivers/tls.h"

#define STUNNEL_PORTS_MAX 8

struct stunnel {
    pid_t pid, owner; /* the process, and its parent; 0 = none */
    int log;          /* a file without a name */
    int count;
    struct {
        const char *host; /* the name in the certificate; borrowed */
        int port, local_port;
    } to[STUNNEL_PORTS_MAX];
};

/* Starts it for to[0 .. count-1], and fills in their local_port. Blocks. 0, or -1 with err; stunnel_stop
 * cleans up either way. */
int stunnel_start(struct stunnel *stunnel, const struct lb_tls *tls, struct lb_err *err);
/* Stops the process. It accepts a zeroed struct. In a forked process it only closes the log. */
void stunnel_stop(struct stunnel *stunnel);

/* The length of the log so far, in bytes. */
off_t stunnel_mark(const struct stunnel *stunnel);
/* True if the log says, after that offset, that a server can't be reached or that its certificate
 * does not fit. tls: as it was started. ret_why: what happened, and what to do. */
bool stunnel_trouble(const struct stunnel *stunnel, const struct lb_tls *tls, off_t since,
                     char *ret_why, size_t size);

struct lb_facts;
void stunnel_facts(const struct stunnel *stunnel, const struct lb_tls *tls, struct lb_facts *facts);

#endif
